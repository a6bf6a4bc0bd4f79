// SPDX-License-Identifier: GPL-2.0-or-later
// The receiving end of a transport, at the viewer: takes what arrives on the transport's own path,
// hands RTP on, and reports or acknowledges it. A transport without one hands on what arrives.
// Loop thread only.
#ifndef WEIR_TRANSPORT_TRANSPORT_RECEIVER_H
#define WEIR_TRANSPORT_TRANSPORT_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/usec.h"
#include "common/wire/rtp.h"

#ifdef __cplusplus
extern "C" {
#endif

struct datagram;
struct mtp_raw_receiver;
struct sockaddr;
struct transport_receiver;
struct udp_socket;

struct transport_receiver_ops {
    // The server sent a datagram to the port for RTP. It is neither a path token nor one of a
    // packet pair. NULL: not a datagram transport.
    void (*on_datagram)(struct transport_receiver *r, const struct datagram *d, usec_t now);
    // The packets that a router marked (ECN CE) so far; -1: unknown. NULL: always unknown.
    int64_t (*marked)(const struct transport_receiver *r);
    void (*free)(struct transport_receiver *r); // no callback follows
};

struct transport_receiver { // embedded first
    const struct transport_receiver_ops *ops;
    // Media takes a connection that the receiver makes: on_open or on_end follows.
    bool connects;
};

// What the viewer lends a receiving end, after the server's answer to SETUP. Everything outlives
// it.
struct transport_receiver_path {
    void *loop;                    // uv_loop_t
    struct udp_socket *socket;     // the port for RTP; datagram transports
    const struct sockaddr *local;  // the viewer's end of the RTSP connection
    const struct sockaddr *server; // where the server sends RTP from; port 0: it did not say
    struct mtp_raw_receiver *raw;  // transports that need raw sockets; NULL: there are none
    struct rtp_ext_ids ext;        // under which the sender announced its extensions
    uint32_t ssrc;                 // the viewer's
    uint32_t media_ssrc;           // of the answer: reports of numbers in the flow name it
    bool reports;                  // the answer agreed to reports of each packet (RFC 8888)
    bool has_token;
    uint64_t token; // of the answer
    // A whole RTP packet. `arrived`: when the kernel received it, as far as that is known.
    void (*on_rtp)(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now);
    void (*send_rtcp)(void *ctx, const uint8_t *data, size_t len); // one compound, beside the media
    // Of a receiver that connects. The server's port answers:
    void (*on_open)(void *ctx, usec_t now);
    // The connection is over. `error`: why, for people; NULL: the server ended it.
    void (*on_end)(void *ctx, const char *error, usec_t now);
    void *ctx; // borrowed
};

#ifdef __cplusplus
}
#endif
#endif
