// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a transport, at the viewer: receives packets on the transport's path, passes
// on RTP, and reports or acknowledges it. Without a receiving end, packets are passed on unchanged.
// Loop thread only.
#ifndef WEIR_TRANSPORT_TRANSPORT_RECEIVER_H
#define WEIR_TRANSPORT_TRANSPORT_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtp.h"

DECLS_BEGIN

struct datagram;
struct mtp_raw_receiver;
struct sockaddr;
struct srtp_guard;
struct transport_receiver;
struct udp_socket;

struct transport_receiver_ops {
    // A datagram of the server arrived on the port for RTP, neither a path token nor one of a
    // packet pair. SRTP is not decrypted yet. NULL: not a datagram transport.
    void (*on_datagram)(struct transport_receiver *r, const struct datagram *d, usec_t now);
    // Returns the number of packets that routers marked (ECN CE); -1: unknown. NULL: always
    // unknown.
    int64_t (*marked)(const struct transport_receiver *r);
    // Reports the next `packets` packets as marked (datagram_receiver.h). NULL: cannot.
    void (*mark)(struct transport_receiver *r, int packets);
    void (*free)(struct transport_receiver *r); // no callback is called afterwards
};

struct transport_receiver { // embedded first
    const struct transport_receiver_ops *ops;
    // Media uses a connection that the receiver opens: on_open or on_end is called later.
    bool connects;
};

// What the viewer passes to a receiving end, after the server's SETUP response. All pointers
// outlive it.
struct transport_receiver_path {
    void *loop;                   // uv_loop_t
    struct udp_socket *socket;    // the port for RTP; datagram transports
    const struct sockaddr *local; // the viewer's end of the RTSP connection
    const struct sockaddr
        *server; // address from which the server sends RTP; port 0: the server did not report it
    struct mtp_raw_receiver *raw; // for transports that require raw sockets; NULL: none
    struct srtp_guard *srtp;      // decrypts RTP; NULL: it is plain
    struct rtp_ext_ids ext;       // id of the sender's header extension
    uint32_t ssrc;                // the viewer's SSRC
    uint32_t media_ssrc; // SSRC of the SETUP response; reports that use flow numbers contain it
    bool reports;        // the response agreed to reports of each packet (RFC 8888)
    bool has_token;
    uint64_t token; // token of the SETUP response
    // A complete RTP packet. `arrived`: when the kernel received it, if known.
    void (*on_rtp)(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now);
    void (*send_rtcp)(void *ctx, const uint8_t *data, size_t len); // sends one RTCP compound
    // For a receiver that opens a connection: the server's port responded.
    void (*on_open)(void *ctx, usec_t now);
    // The connection ended. `error`: the reason, for people; NULL: the server closed it.
    void (*on_end)(void *ctx, const char *error, usec_t now);
    void *ctx; // borrowed
};

DECLS_END
#endif
