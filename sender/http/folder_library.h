// SPDX-License-Identifier: GPL-2.0-or-later
// The prepared films of a folder on HTTP, each at its own path: a film_library.h for each film that
// is requested. FOLDER_LIBRARY_FILMS are open at a time. A film is closed FOLDER_LIBRARY_IDLE after
// its last request, or earlier, FOLDER_LIBRARY_BUSY after it, if another film waits to be opened,
// or this one cannot be; one that cannot be opened is closed at once if another one waits. A later
// request opens it again, and gets the same bytes. A request for a film that finds no room waits
// for FILM_PATIENCE, and fails then (503).
//
// All films together keep segments of `max_kept` bytes and, at most, one further segment of each
// film: a film that is requested takes the place of those whose last request is the oldest.
//
// A thread that reads keeps its film open, so that a disk that does not answer holds no more
// threads than there are films.
#ifndef WEIR_SENDER_HTTP_FOLDER_LIBRARY_H
#define WEIR_SENDER_HTTP_FOLDER_LIBRARY_H

#include "common/base/decls.h"
#include "sender/http/film_library.h"

DECLS_BEGIN

enum {
    FOLDER_LIBRARY_FILMS = 8,
    FOLDER_LIBRARY_BYTES = 256 << 20, // default of `max_kept`
};
#define FOLDER_LIBRARY_IDLE (60 * USEC_PER_SEC)
#define FOLDER_LIBRARY_BUSY (2 * USEC_PER_SEC)

struct folder_library; // opaque; embeds a struct http_content first

struct folder_library_config {
    const char *root;        // copied; a real path
    film_library_find *find; // static
    bool has_audio;          // the films' audio is served
    int aac_bps;
    size_t max_kept; // bytes of all films' segments; 0: FOLDER_LIBRARY_BYTES
    // A waiting request may be served. Any thread.
    void (*on_change)(void *ctx);
    void *ctx; // borrowed
};

// NULL: no memory.
struct folder_library *folder_library_new(const struct folder_library_config *config);
// Call it about twice a second, on the thread that frees the library.
void folder_library_tick(struct folder_library *l, usec_t now);
// As film_library_stop. NULL is fine.
void folder_library_stop(struct folder_library *l);
// The server that uses its content must have ended. NULL is fine.
void folder_library_free(struct folder_library *l);
struct http_content *folder_library_content(struct folder_library *l);

DECLS_END
#endif
