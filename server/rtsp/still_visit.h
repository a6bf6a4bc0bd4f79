// SPDX-License-Identifier: GPL-2.0-or-later
// One connection's requests for still pictures over HTTP that were let in: the stream at their
// path, and its picture. One request at a time. Loop thread only.
#ifndef WEIR_SERVER_RTSP_STILL_VISIT_H
#define WEIR_SERVER_RTSP_STILL_VISIT_H

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/text.h"
#include "server/web/web_front.h"

DECLS_BEGIN

struct catalog;
struct still_maker;
struct still_visit; // opaque

struct still_visit_config {
    struct catalog *catalog;                 // borrowed
    struct still_maker *maker;               // borrowed; NULL: no stream has pictures
    struct still_maker *film_maker;          // borrowed; NULL: the same as `maker` for all
    void (*on_ready)(void *ctx, usec_t now); // ask again, with the same request
    void *ctx;
};

struct still_query {
    struct text path, query; // of the URL; the path without .jpg. "small" in the query: a small
                             // picture, of a film that need not be open; "t=SECONDS": of the key
                             // frame there
    struct text via;         // the request's Via header
    bool head;               // of a stream: whether there is a picture is not tried
};

struct still_visit *still_visit_new(const struct still_visit_config *config); // NULL: no memory
void still_visit_free(struct still_visit *v);                                 // NULL is fine
// Returns false if the request has to wait: for the stream and a picture, for the limits of
// catalog.h and still_maker.h. Else true: *out is valid until the next
// call.
bool still_visit_ask(struct still_visit *v, const struct still_query *q, struct web_still *out,
                     usec_t now);

DECLS_END
#endif
