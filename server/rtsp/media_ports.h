// SPDX-License-Identifier: GPL-2.0-or-later
// The server's two UDP ports of a viewer's track, and the viewer's addresses. Validates these
// addresses (path_validation.h), passes their datagrams on, and sends packet pairs. Loop thread
// only.
#ifndef WEIR_SERVER_RTSP_MEDIA_PORTS_H
#define WEIR_SERVER_RTSP_MEDIA_PORTS_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/transport/path_validation.h"
#include "common/transport/transport.h"

DECLS_BEGIN

struct media_ports; // opaque
struct srtp_guard;

struct media_ports_ops {
    // The viewer's address of port `which` (0: RTP, 1: RTCP) is known now.
    void (*on_validated)(void *ctx, int which, const struct sockaddr *address, usec_t now);
    // Returns true if another address, which has responded to a challenge, may take its place now.
    bool (*may_change)(void *ctx, int which, usec_t now);
    // Returns true if the known address is to be challenged, too.
    bool (*is_doubted)(void *ctx, usec_t now);
    // The known address of the port for RTP has responded to a challenge; `before` is the one that
    // it has replaced, or itself.
    void (*on_answered)(void *ctx, const struct sockaddr *before, const struct sockaddr *address,
                        usec_t now);
    // A datagram arrived on the port for RTP, from any source. NULL: such datagrams are ignored.
    void (*on_media)(void *ctx, const uint8_t *data, size_t len, usec_t now);
    // A datagram of the viewer arrived on the port for RTCP.
    void (*on_rtcp)(void *ctx, const uint8_t *data, size_t len, usec_t now);
};

struct media_ports_config {
    uv_loop_t *loop;                      // borrowed
    const struct sockaddr_storage *local; // local address of the ports; read once
    const struct sockaddr_storage
        *host; // the viewer's; read once. NULL: path_validation_by_token's
    // The viewer's ports, which are valid at once. NULL: the viewer responds with a token.
    const int *client_port;
    const struct media_ports_ops *ops; // static
    void *ctx;                         // borrowed
    // Encrypts and decrypts tokens, pairs and RTCP; NULL: they are plain. Borrowed. What else
    // arrives on the port for RTP is passed on unchanged.
    struct srtp_guard *srtp;
};

// NULL: no free ports, or no randomness (logged).
struct media_ports *media_ports_new(const struct media_ports_config *config);
void media_ports_free(struct media_ports *m);                   // NULL is fine; no callback follows
int media_ports_number(const struct media_ports *m, int which); // of the server's port
// The viewer's addresses. They change as they are validated, and exist as long as the ports.
const struct path_validation *media_ports_validation(const struct media_ports *m);
// Sets the ports and addresses of the track's datagrams; the channels do not change.
void media_ports_fill(const struct media_ports *m, struct track_path *path);

struct media_pair {
    uint32_t ssrc;   // of the RTP stream
    uint32_t number; // the number that the viewer requested
    size_t bytes;    // of each packet
};
// Sends two packets back to back to the media's destination: at once, or when the address is
// validated. Replaces a pair that still waits.
void media_ports_send_pair(struct media_ports *m, const struct media_pair *pair);

DECLS_END
#endif
