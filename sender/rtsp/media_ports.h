// SPDX-License-Identifier: GPL-2.0-or-later
// The server's two UDP ports of a viewer's track, and the viewer's addresses behind them: validates
// these (path_validation.h), hands on their datagrams, and sends packet pairs. Loop thread
// only.
#ifndef WEIR_SENDER_RTSP_MEDIA_PORTS_H
#define WEIR_SENDER_RTSP_MEDIA_PORTS_H

#include <sys/socket.h>
#include <uv.h>

#include "common/transport/path_validation.h"
#include "common/transport/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_ports; // opaque

struct media_ports_ops {
    // The viewer's address of port `which` (0: RTP, 1: RTCP) is another one now.
    void (*on_validated)(void *ctx, int which, const struct sockaddr *address, usec_t now);
    // A datagram came to the port for RTP, from anywhere. NULL: it has no meaning.
    void (*on_media)(void *ctx, const uint8_t *data, size_t len, usec_t now);
    // A datagram came to the port for RTCP, from the viewer.
    void (*on_rtcp)(void *ctx, const uint8_t *data, size_t len, usec_t now);
};

struct media_ports_config {
    uv_loop_t *loop;                      // borrowed
    const struct sockaddr_storage *local; // where to open them; read once
    const struct sockaddr_storage *host;  // the viewer's; read once
    // The viewer's ports, which are valid at once. NULL: it responds with a token.
    const int *client_port;
    const struct media_ports_ops *ops; // static
    void *ctx;                         // borrowed
};

// NULL: no free ports, or no randomness (logged).
struct media_ports *media_ports_new(const struct media_ports_config *config);
void media_ports_free(struct media_ports *m);                   // NULL is fine; no callback follows
int media_ports_number(const struct media_ports *m, int which); // of the server's port
// The addresses, as they are validated; lives as long as the ports.
const struct path_validation *media_ports_validation(const struct media_ports *m);
// Sets where the track's datagrams leave and go; the channels stay.
void media_ports_fill(const struct media_ports *m, struct track_path *path);

struct media_pair {
    uint32_t ssrc;   // of the RTP stream
    uint32_t number; // as the viewer asked
    size_t bytes;    // of each packet
};
// Sends two packets back to back where the media goes: at once, or as soon as the address is
// validated. A pair that still waits is replaced.
void media_ports_send_pair(struct media_ports *m, const struct media_pair *pair);

#ifdef __cplusplus
}
#endif
#endif
