// SPDX-License-Identifier: GPL-2.0-or-later
// MTP in genuine TCP segments (RFC 9293), one connection, as firewalls and NATs see it. The slots
// go from the server to the client; the client's stream contains only its hello.
//
//   Sequence: slot n is the bytes from ISN + 1 + n * slot_bytes on; counted in 64 bits.
//   Windows: ours is constant and large, and its right edge never moves back; we send nothing
//   beyond the peer's. Acknowledgements and SACK blocks never exceed the highest byte received.
//   Stateful firewalls check this; they do not check for holes. PSH on every data segment, so that
//   receiving machines do not merge them (GRO). Timestamps (RFC 7323): milliseconds from a keyed
//   offset. We always echo the newest one, where RFC 7323, 4.3 would echo an old one as long as a
//   hole lasts. Keep-alives (RFC 9293, 3.8.4) after 20 s of silence refresh the tables of
//   firewalls. RFC 5961: a reset is accepted with one of two exact sequence numbers, a SYN never;
//   both trigger a challenge ACK, whose rate is limited. With timestamps, every segment must echo
//   one of ours. A FIN is accepted at the exact end of the received data, or with a tag.
//
//   ECN (RFC 3168): the SYN offers it, unless it is repeated; a box may drop such SYNs (6.1.1.1).
//   Acknowledgements carry ECE as mtp_ack says. Only data that mtp_tcp_send was told so is sent as
//   ECT(0): new slots, neither handshake, acknowledgements nor what looks like a retransmission.
//
// Segments go in and out as structs. After each input, the caller pulls until there is nothing.
#ifndef WEIR_MTP_MTP_TCP_H
#define WEIR_MTP_MTP_TCP_H

#include "common/base/decls.h"
#include "common/mtp/mtp_ack.h"
#include "common/mtp/mtp_reassembly.h"
#include "common/mtp/mtp_tcp_listener.h"

DECLS_BEGIN

enum {
    MTP_TCP_DATA = MTP_TCP_MSS - 12, // data of a segment with timestamps; a good slot_bytes
    MTP_TCP_CHALLENGES = 10,         // max challenge ACKs per second
    MTP_TCP_MAX_SLOTS = 1 << 14,     // max window in slots
};

enum mtp_tcp_state {
    MTP_TCP_SYN_SENT, // client: waits for the SYN-ACK
    MTP_TCP_GREETING, // client: waits for the hello's acknowledgement
    MTP_TCP_OPEN,     // until closed, including while a FIN is outstanding
    MTP_TCP_CLOSED,
};

enum mtp_tcp_end {
    MTP_TCP_ENDED,     // by FINs in both directions, or by mtp_tcp_abort()
    MTP_TCP_REFUSED,   // by a reset in answer to the SYN
    MTP_TCP_RESET,     // by a reset after the handshake
    MTP_TCP_NO_ANSWER, // no answer to the SYN or the hello
    MTP_TCP_LOST,      // no segment for longer than keep-alives allow
};

struct mtp_tcp_config {
    struct siphash_key secret; // the host's own secret
    uint64_t token;            // the token of the RTSP session
    uint16_t
        slot_bytes;  // size with the tag; at most MTP_MAX_SLOT_BYTES. Server: taken from the hello
    int64_t window;  // slots that the client accepts; at most MTP_TCP_MAX_SLOTS
    usec_t patience; // time limit of the handshake; 0: 10 s
};

struct mtp_tcp_counts {
    uint64_t strangers;  // segments that cannot come from the peer: out of window, wrong echo ...
    uint64_t forged;     // slots with a wrong tag
    uint64_t challenges; // challenge ACKs sent
    uint64_t repeats;    // SYNs, hellos and FINs retransmitted
    uint64_t keepalives; // keep-alives sent
};

// The effects of a segment; a set.
enum mtp_tcp_news {
    MTP_TCP_IS_OPEN = 1,  // client: the connection opened
    MTP_TCP_ACKED = 2,    // server: *ack holds an acknowledgement for the sender
    MTP_TCP_SLOTS = 4,    // client: mtp_tcp_next() may return slots
    MTP_TCP_FINISHED = 8, // the peer sends no more
};

struct mtp_tcp {
    struct mtp_tcp_config config;
    bool server;
    enum mtp_tcp_state state;
    enum mtp_tcp_end end; // valid once the state is MTP_TCP_CLOSED
    struct tcp_path path; // from this end to the peer
    struct siphash_key key;
    struct mtp_tcp_counts counts;

    // Sequence numbers as offsets: 0 is the SYN, 1 the first byte.
    uint32_t isn, irs;
    int64_t sent, acked;     // one past the highest sent; the first not acknowledged
    int64_t edge;            // right edge of the peer's window
    int64_t received, taken; // one past the highest received; what we acknowledge
    int8_t scale, peer_scale;
    uint32_t window;       // our window in bytes
    bool sack, times, ecn; // negotiated
    uint16_t mss;          // max data of a segment that we send
    uint32_t time_offset, peer_time;

    struct tcp_sack sacks[TCP_SEGMENT_SACKS]; // used by the client
    uint8_t sack_count;

    struct mtp_reassembly slots; // used by the client
    struct mtp_piece piece;      // data of the newest segment

    bool ece;     // acknowledgements carry ECE
    bool ect;     // the slot being sent is ECN-capable
    bool cwr;     // its first segment carries CWR
    uint8_t *out; // owned; the slot or the hello being sent
    int64_t out_at;
    size_t out_len, out_done;

    bool syn_due, ack_due, keepalive_due, fin_due, reset_due;
    bool finishing, fin_acked, peer_finished;
    int64_t fin_at; // offset at which the FIN's segment begins
    uint8_t fin_tag[MTP_TCP_TAG];
    size_t fin_tag_len; // 0: no tag is needed
    int tries;
    usec_t retry_at;          // when to retransmit the SYN, hello or FIN
    usec_t give_up_at;        // when the handshake or the closing times out
    usec_t sent_at, heard_at; // when any segment was last sent and received
    usec_t challenged_at;     // when the second that `challenges` counts began
    int challenges;
};

// Opens the client's end; the first pull returns the SYN. Returns 0; ERR_NO_MEMORY.
int mtp_tcp_connect(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                    const struct tcp_path *path, usec_t now);
// Opens the server's end. Returns 0; ERR_NO_MEMORY; ERR_MALFORMED: the hello's tag does not match
// this token, or its slots have an impossible size.
int mtp_tcp_accept(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                   const struct mtp_tcp_accepted *a, usec_t now);
void mtp_tcp_destroy(struct mtp_tcp *c);

// Processes a segment of this path. Returns a set of enum mtp_tcp_news; with MTP_TCP_ACKED *ack is
// set.
unsigned mtp_tcp_input(struct mtp_tcp *c, const struct tcp_segment *s, struct mtp_ack *ack,
                       usec_t now);
// Returns the next slot of the last segment: slot_bytes - MTP_TCP_TAG bytes at *record, valid until
// the next call; false: none.
bool mtp_tcp_next(struct mtp_tcp *c, int64_t *slot, const uint8_t **record);
// The client's receiver: requests that an acknowledgement be sent, one for each slot.
void mtp_tcp_acknowledge(struct mtp_tcp *c, const struct mtp_ack *ack);

// The server's sender: sends a slot's record, copied; slot -1 only requests an answer. All segments
// of the previous slot must have been pulled. Returns 0; ERR_TOO_BIG; ERR_RANGE (beyond the
// window); ERR_CLOSED.
int mtp_tcp_send(struct mtp_tcp *c, int64_t slot, const uint8_t *record, size_t len);
// Call it after mtp_tcp_send returned 0, if ECN was negotiated: the slot's segments are ECN-capable
// (`ect`), and the first carries CWR (`cwr`).
void mtp_tcp_mark(struct mtp_tcp *c, bool ect, bool cwr);
// Returns the next segment for the wire; its data is valid until the next call.
bool mtp_tcp_pull(struct mtp_tcp *c, struct tcp_segment *s, usec_t now);
usec_t mtp_tcp_next_timeout(const struct mtp_tcp *c);
void mtp_tcp_timeout(struct mtp_tcp *c, usec_t now);

// Ends sending; the FIN is retransmitted until acknowledged, for at most 10 s. Holes stay holes.
void mtp_tcp_close(struct mtp_tcp *c, usec_t now);
// Closes at once with a reset, which the next pull returns.
void mtp_tcp_abort(struct mtp_tcp *c);

DECLS_END
#endif
