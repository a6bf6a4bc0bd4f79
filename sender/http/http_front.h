// SPDX-License-Identifier: GPL-2.0-or-later
// What weir-send has for HLS and DASH: the files (live_packager.h; of a stored ladder,
// film_library.h; of a folder of them, folder_library.h; of the streams of a catalog,
// catalog_library.h), the server of --http (content_server.h) if there is one, and the timer that
// they need. The RTSP port serves the same files. Loop thread only.
#ifndef WEIR_SENDER_HTTP_HTTP_FRONT_H
#define WEIR_SENDER_HTTP_HTTP_FRONT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "common/base/decls.h"
#include "sender/http/film_library.h"
#include "server/http/message/http_door.h"
#include "server/http/trusted_proxies.h"
#include "server/session/catalog.h"
#include "server/stats/stats.h"

DECLS_BEGIN

struct http_front; // opaque

struct http_front_config {
    const struct sockaddr *at; // borrowed for the call; of --http; NULL: no server of its own
    // What the files are of: the first of these that is not NULL.
    const char *film;           // borrowed for the call; path of a stored ladder
    const char *folder;         // copied; real path of a folder of films
    struct catalog *catalog;    // borrowed; without `at`
    struct stream_media *media; // borrowed
    film_library_find *find;    // static; with `folder`
    bool has_audio;             // of stored ladders: their audio is served
    const char *path;           // borrowed; of the media, begins with '/'
    int segment_seconds;
    const struct http_origins *origins;    // borrowed for the call; of pages that may play
    const struct trusted_proxies *proxies; // borrowed for the call
    struct http_stats *stats;              // borrowed: written twice a second if there is a server
    // A request that waits may be served.
    void (*on_change)(void *ctx, usec_t now);
    void *ctx; // borrowed
};

// Returns NULL on failure (logged).
struct http_front *http_front_new(uv_loop_t *loop, const struct http_front_config *config);
// What the RTSP port serves.
struct http_content *http_front_content(struct http_front *f);
// Ends all connections. The loop must run until its handles are closed. NULL is fine.
void http_front_free(struct http_front *f);

DECLS_END
#endif
