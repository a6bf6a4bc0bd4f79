// SPDX-License-Identifier: GPL-2.0-or-later
// One connection's requests for still pictures over HTTP: whether they are let in, the stream at
// their path, and its picture. One request at a time. Loop thread only.
#ifndef WEIR_SERVER_RTSP_STILL_VISIT_H
#define WEIR_SERVER_RTSP_STILL_VISIT_H

#include <sys/socket.h>
#include <uv.h>

#include "common/base/usec.h"
#include "server/rtsp/path_guest.h"
#include "server/web/web_front.h"

#ifdef __cplusplus
extern "C" {
#endif

struct access;
struct catalog;
struct still_maker;
struct still_visit; // opaque

struct still_visit_config {
    uv_loop_t *loop;
    struct catalog *catalog;                 // borrowed
    struct access *access;                   // borrowed; NULL: everybody may watch
    struct still_maker *maker;               // borrowed; NULL: no stream has pictures
    struct still_maker *film_maker;          // borrowed; NULL: the same as `maker` for all
    const struct sockaddr *peer;             // copied
    const char *name;                        // borrowed; the peer's address, for the log
    void (*on_ready)(void *ctx, usec_t now); // ask again, with the same request
    void *ctx;
};

struct still_visit *still_visit_new(const struct still_visit_config *config); // NULL: no memory
void still_visit_free(struct still_visit *v);                                 // NULL is fine
// "small" in the query: a picture for a list, of a film that need not be open. Of HEAD no picture
// is tried. Returns false if the request has to wait: for a password, the stream and a picture, for
// the limits of access_guest.h, catalog.h and still_maker.h. Else true: *out is valid until the
// next call.
bool still_visit_ask(struct still_visit *v, const struct path_query *q, struct web_still *out,
                     usec_t now);

#ifdef __cplusplus
}
#endif
#endif
