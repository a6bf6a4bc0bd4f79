// SPDX-License-Identifier: GPL-2.0-or-later
// MTP in genuine TCP segments (RFC 9293), one connection: what firewalls and NATs see. The slots go
// from the server to the client; the client's stream is its hello, alone.
//
//   Sequence: slot n is the bytes from ISN + 1 + n * slot_bytes on; counted in 64 bits.
//   Windows: constant and large on our side, its right edge never moves back; nothing is sent
//   beyond the peer's. Acknowledgements and SACK blocks never go over the highest byte that came.
//   That is what stateful firewalls check, and holes are no matter to them. PSH on every data
//   segment, so that receiving machines do not join them (GRO). Timestamps (RFC 7323): milliseconds
//   from a keyed offset. The newest one is echoed always, where RFC 7323, 4.3 would echo an old one
//   as long as a hole lasts. Keep-alives (RFC 9293, 3.8.4) after 20 s of silence, for the sake of
//   firewalls' tables. RFC 5961: a reset counts with one of two exact sequence numbers, a SYN
//   never; both get a challenge ACK, of which there are few. With timestamps, every segment must
//   echo one of ours. A FIN counts at the exact end of what came, or with a tag.
//
// Segments go in and out as structs; one input, then pull until there is nothing.
#ifndef WEIR_MTP_MTP_TCP_H
#define WEIR_MTP_MTP_TCP_H

#include "common/mtp/mtp_ack.h"
#include "common/mtp/mtp_reassembly.h"
#include "common/mtp/mtp_tcp_listener.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_TCP_DATA = MTP_TCP_MSS - 12, // of a segment with timestamps; a good slot_bytes
    MTP_TCP_CHALLENGES = 10,         // a second
    MTP_TCP_MAX_SLOTS = 1 << 14,     // of the window
};

enum mtp_tcp_state {
    MTP_TCP_SYN_SENT, // client: waits for the SYN-ACK
    MTP_TCP_GREETING, // client: the hello is not acknowledged yet
    MTP_TCP_OPEN,     // until it is closed, with a FIN under way or not
    MTP_TCP_CLOSED,
};

enum mtp_tcp_end {
    MTP_TCP_ENDED,     // FINs both ways, or our wish
    MTP_TCP_REFUSED,   // a reset in answer to the SYN
    MTP_TCP_RESET,     // a reset later on
    MTP_TCP_NO_ANSWER, // to SYN or hello
    MTP_TCP_LOST,      // silence for longer than keep-alives allow
};

struct mtp_tcp_config {
    struct siphash_key secret; // the host's own
    uint64_t token;            // RTSP's
    uint16_t slot_bytes;       // with the tag; at most MTP_MAX_SLOT_BYTES. Server: the hello's
    int64_t window;            // slots that the client takes; at most MTP_TCP_MAX_SLOTS
    usec_t patience;           // for the handshake; 0: 10 s
};

struct mtp_tcp_counts {
    uint64_t strangers;  // segments that cannot be the peer's: out of window, wrong echo ...
    uint64_t forged;     // slots whose tag is wrong
    uint64_t challenges; // sent
    uint64_t repeats;    // SYNs, hellos and FINs sent again
    uint64_t keepalives; // sent
};

// What a segment brought; a set.
enum mtp_tcp_news {
    MTP_TCP_IS_OPEN = 1,  // client
    MTP_TCP_ACKED = 2,    // server: an acknowledgement for the sender
    MTP_TCP_SLOTS = 4,    // client: mtp_tcp_next
    MTP_TCP_FINISHED = 8, // the peer sends no more
};

struct mtp_tcp {
    struct mtp_tcp_config config;
    bool server;
    enum mtp_tcp_state state;
    enum mtp_tcp_end end; // once it is closed
    struct tcp_path path; // as this end sends
    struct siphash_key key;
    struct mtp_tcp_counts counts;

    // Sequence numbers as offsets: 0 is the SYN, 1 the first byte.
    uint32_t isn, irs;
    int64_t sent, acked;     // one past the highest sent; the first not acknowledged
    int64_t edge;            // of the peer's window
    int64_t received, taken; // one past the highest received; what we acknowledge
    int8_t scale, peer_scale;
    uint32_t window; // ours, in bytes
    bool sack, times;
    uint16_t mss; // of what we send
    uint32_t time_offset, peer_time;

    struct tcp_sack sacks[TCP_SEGMENT_SACKS]; // client
    uint8_t sack_count;

    struct mtp_reassembly slots; // client
    struct mtp_piece piece;      // of the segment that came last

    uint8_t *out; // owned; the slot or the hello to be sent
    int64_t out_at;
    size_t out_len, out_done;

    bool syn_due, ack_due, keepalive_due, fin_due, reset_due;
    bool finishing, fin_acked, peer_finished;
    int64_t fin_at; // where the FIN's segment begins
    uint8_t fin_tag[MTP_TCP_TAG];
    size_t fin_tag_len; // 0: none is needed
    int tries;
    usec_t retry_at;          // SYN, hello, FIN
    usec_t give_up_at;        // handshake, or the closing one
    usec_t sent_at, heard_at; // anything
    usec_t challenged_at;     // when the count below began
    int challenges;
};

// The client's end; the first pull gives the SYN. 0; ERR_NO_MEMORY.
int mtp_tcp_connect(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                    const struct tcp_path *path, usec_t now);
// The server's. 0; ERR_NO_MEMORY; ERR_MALFORMED: the hello's tag is not this token's, or its slots
// have an impossible size.
int mtp_tcp_accept(struct mtp_tcp *c, const struct mtp_tcp_config *config,
                   const struct mtp_tcp_accepted *a, usec_t now);
void mtp_tcp_destroy(struct mtp_tcp *c);

// A segment of this path came. With MTP_TCP_ACKED *ack is set. Returns enum mtp_tcp_news.
unsigned mtp_tcp_input(struct mtp_tcp *c, const struct tcp_segment *s, struct mtp_ack *ack,
                       usec_t now);
// The next slot of that segment: slot_bytes - MTP_TCP_TAG bytes at *record, until the next call.
bool mtp_tcp_next(struct mtp_tcp *c, int64_t *slot, const uint8_t **record);
// The client's receiver: an acknowledgement is to be sent, one for each slot.
void mtp_tcp_acknowledge(struct mtp_tcp *c, const struct mtp_ack *ack);

// The server's sender: a slot's record, copied, is to be sent; slot -1 asks for an answer, only.
// All segments of the last one must have been pulled. 0; ERR_TOO_BIG; ERR_RANGE (beyond the
// window); ERR_CLOSED.
int mtp_tcp_send(struct mtp_tcp *c, int64_t slot, const uint8_t *record, size_t len);
// The next segment for the wire; its data stays until the next call.
bool mtp_tcp_pull(struct mtp_tcp *c, struct tcp_segment *s, usec_t now);
usec_t mtp_tcp_next_timeout(const struct mtp_tcp *c);
void mtp_tcp_timeout(struct mtp_tcp *c, usec_t now);

// No more will be sent; the FIN repeats until it is acknowledged, 10 s at most. Holes stay holes.
void mtp_tcp_close(struct mtp_tcp *c, usec_t now);
// At once, with a reset; the next pull gives it.
void mtp_tcp_abort(struct mtp_tcp *c);

#ifdef __cplusplus
}
#endif
#endif
