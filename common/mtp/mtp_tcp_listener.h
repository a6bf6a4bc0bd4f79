// SPDX-License-Identifier: GPL-2.0-or-later
// The server's end of MTP's TCP handshake. It keeps no state whatever comes: SYN cookies (RFC 4987,
// 3.6) hold what the SYN said, and a connection begins with the client's hello, which carries a
// tag.
//
//   Cookie: 32 bits of a keyed hash over addresses, ports, the client's ISN, the minute and the
//   MSS's class. All of it looks random: which minute and class, the answer shows by trial.
//   Window scale and SACK stand in the low 6 bits of the SYN-ACK's timestamp, and come back as its
//   echo; without timestamps neither is agreed on. (Linux has them there, too.)
//   A SYN-ACK that got lost is sent again when the SYN comes again; one SYN, at most one segment.
#ifndef WEIR_MTP_MTP_TCP_LISTENER_H
#define WEIR_MTP_MTP_TCP_LISTENER_H

#include "common/mtp/mtp_tcp_keys.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MTP_TCP_MSS = 1360,            // at most, and what we tell the peer
    MTP_TCP_SERVER_WINDOW = 65535, // in bytes, not scaled: the hello is all that comes
};

// A client that answered the cookie and said hello.
struct mtp_tcp_accepted {
    struct tcp_path path; // as this end sends
    uint32_t isn, irs;    // initial sequence numbers: ours, the client's
    uint16_t mss;         // the client's, rounded down to a class
    int8_t scale;         // the client's, TCP_SEGMENT_NO_SCALE: none agreed on
    bool sack, times;
    uint32_t time_offset; // of our timestamps
    uint32_t time;        // the client's last one
    uint16_t window;      // the client's, not scaled yet
    uint64_t id, tag;     // see mtp_tcp_keys.h
    uint16_t slot_bytes;
};

enum mtp_tcp_heard {
    MTP_TCP_IGNORE,
    MTP_TCP_REPLY,  // *reply is to be sent
    MTP_TCP_ACCEPT, // *accepted; whoever knows the id's token checks the tag
};

// A segment of no connection that is known came.
enum mtp_tcp_heard mtp_tcp_listen(const struct siphash_key *secret, const struct tcp_segment *s,
                                  struct tcp_segment *reply, struct mtp_tcp_accepted *accepted,
                                  usec_t now);

#ifdef __cplusplus
}
#endif
#endif
