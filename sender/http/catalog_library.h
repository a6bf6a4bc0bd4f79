// SPDX-License-Identifier: GPL-2.0-or-later
// The streams of a catalog on HTTP, each at its own path: a live_packager.h for one that is encoded
// here or passed on, a film_library.h for a prepared one. Others are not there. The first request
// for a stream opens it in the catalog, and holds it there until CATALOG_LIBRARY_IDLE after the
// last request, or until its media is over.
//
// Loop thread only, its content too.
#ifndef WEIR_SENDER_HTTP_CATALOG_LIBRARY_H
#define WEIR_SENDER_HTTP_CATALOG_LIBRARY_H

#include <uv.h>

#include "common/base/decls.h"
#include "server/http/http_content.h"
#include "server/session/catalog.h"

DECLS_BEGIN

#define CATALOG_LIBRARY_IDLE CATALOG_OPEN_LIMIT

struct catalog_library; // opaque; embeds a struct http_content first

struct catalog_library_config {
    uv_loop_t *loop;         // borrowed
    struct catalog *catalog; // borrowed
    usec_t segment;          // length of a live segment
    int aac_bps;
    // A waiting request may be served. Any thread.
    void (*on_change)(void *ctx);
    void *ctx; // borrowed
};

struct catalog_library *catalog_library_new(const struct catalog_library_config *config);
// Call it about twice a second.
void catalog_library_tick(struct catalog_library *l, usec_t now);
// The loop must run until its handles are closed. NULL is fine.
void catalog_library_free(struct catalog_library *l);
struct http_content *catalog_library_content(struct catalog_library *l);

DECLS_END
#endif
