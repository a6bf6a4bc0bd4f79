// SPDX-License-Identifier: GPL-2.0-or-later
// A second path of media in datagrams, over another network of the viewer's (RTSP_SECOND_HEADER):
// two UDP ports on that network, which respond to the server's path validation, the reports of the
// packets that come there, and its own keys. Which packets come is up to the server (two_paths.h);
// the receiver of the video drops copies by their numbers. Loop thread only.
#ifndef WEIR_CLIENT_RECEIVE_SECOND_PATH_H
#define WEIR_CLIENT_RECEIVE_SECOND_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtp.h"
#include "common/wire/text.h"

DECLS_BEGIN

struct second_path; // opaque

struct second_path_config {
    uv_loop_t *loop;                       // borrowed
    const char *network;                   // an interface's name, or a local address; read once
    const char *transport;                 // that carries the media; copied
    const struct sockaddr_storage *server; // of the connection; read once
    struct rtp_ext_ids ext;                // of the SDP
    bool reports;                          // the server reads reports (RFC 8888)
    bool encrypts;                         // all is SRTP
    uint32_t ssrc;                         // the viewer's
    void (*on_rtp)(void *ctx, const uint8_t *data, size_t len, usec_t arrived, usec_t now);
    void (*on_rtcp)(void *ctx, const uint8_t *data, size_t len, usec_t now); // the server's
    void (*on_open)(void *ctx, usec_t now); // datagrams pass both ways; once
    void *ctx;                              // borrowed
};

// NULL: there is no such network, or no free ports (logged).
struct second_path *second_path_new(const struct second_path_config *config);
void second_path_free(struct second_path *p); // NULL is fine; no callback follows
// Writes the value of RTSP_SECOND_HEADER to `out`. 0; ERR_FULL; ERR_UNSUPPORTED: of this transport
// there is none; ERR_IO: no randomness.
int second_path_offer(struct second_path *p, const char *repair, char *out, size_t cap);
// Reads the server's answer, and sends tokens. Returns false if there is no such path.
bool second_path_accept(struct second_path *p, struct text answer, usec_t now);
// Sends one compound; before datagrams pass both ways it is dropped. NULL is fine.
void second_path_send_rtcp(struct second_path *p, const uint8_t *data, size_t len);
// Bytes of RTP that came over this path.
uint64_t second_path_bytes(const struct second_path *p);

DECLS_END
#endif
