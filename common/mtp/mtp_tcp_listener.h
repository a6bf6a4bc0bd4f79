// SPDX-License-Identifier: GPL-2.0-or-later
// The server's end of MTP's TCP handshake. It keeps no state, whatever it receives: SYN cookies
// (RFC 4987, 3.6) encode the SYN, and a connection begins with the client's hello, which carries a
// tag.
//
//   Cookie: a keyed hash of 32 bits over addresses, ports, the client's ISN, the minute and the MSS
//   class. All its bits look random; the server finds minute and class by trial. Window scale,
//   SACK and ECN are encoded in the low 6 bits of the SYN-ACK's timestamp and return in its echo;
//   without timestamps none is negotiated. (Linux does the same.) A lost SYN-ACK is sent again when
//   the SYN is; each SYN causes at most one segment.
#ifndef WEIR_MTP_MTP_TCP_LISTENER_H
#define WEIR_MTP_MTP_TCP_LISTENER_H

#include "common/base/decls.h"
#include "common/mtp/mtp_tcp_keys.h"

DECLS_BEGIN

enum {
    MTP_TCP_MSS = 1360,            // our max, which we announce to the peer
    MTP_TCP_SERVER_WINDOW = 65535, // in bytes, not scaled: the client sends only the hello
};

// A client that returned the cookie and sent its hello.
struct mtp_tcp_accepted {
    struct tcp_path path; // from this end to the client
    uint32_t isn, irs;    // initial sequence numbers: ours and the client's
    uint16_t mss;         // the client's MSS, rounded down to a class
    int8_t scale;         // the client's scale; TCP_SEGMENT_NO_SCALE: not negotiated
    bool sack, times, ecn;
    uint32_t time_offset; // offset of our timestamps
    uint32_t time;        // the client's newest timestamp
    uint16_t window;      // the client's window, not scaled yet
    uint64_t id, tag;     // from the hello (mtp_tcp_keys.h)
    uint16_t slot_bytes;
};

enum mtp_tcp_heard {
    MTP_TCP_IGNORE,
    MTP_TCP_REPLY,  // the caller sends *reply
    MTP_TCP_ACCEPT, // *accepted is set; the caller, who finds the token by the id, checks the tag
};

// Processes a segment that belongs to no known connection.
enum mtp_tcp_heard mtp_tcp_listen(const struct siphash_key *secret, const struct tcp_segment *s,
                                  struct tcp_segment *reply, struct mtp_tcp_accepted *accepted,
                                  usec_t now);

DECLS_END
#endif
