// SPDX-License-Identifier: GPL-2.0-or-later
// The mount points of a server: one stream at one path, or the files of a folder, each at its own
// path. A file is opened for its first viewer and closed when the last viewer has left.
//
// The loop never reads a file. Threads open films, CATALOG_OPENERS at a time, and CATALOG_WAITING
// more films wait; one thread makes the folder's list. A viewer waits for a film or the list with a
// hold, for at most CATALOG_OPEN_LIMIT, even if the thread hangs.
//
// Loop thread only.
#ifndef WEIR_SENDER_CATALOG_CATALOG_H
#define WEIR_SENDER_CATALOG_CATALOG_H

#include <uv.h>

#include "sender/catalog/stream.h"
#include "sender/options/options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CATALOG_MAX_OPEN = STATS_STREAMS, // max. open files
    CATALOG_MAX_IDLE = 8,             // max. open files without a session
    CATALOG_OPENERS = 4,              // max. files being opened at a time
    CATALOG_WAITING = 28,             // max. files waiting to be opened
    CATALOG_WAITS = 1,                // a result, not an error: on_ready follows
    CATALOG_LIST_BYTES = 1 << 17,
};
#define CATALOG_OPEN_LIMIT (5 * USEC_PER_SEC) // max. time from the request until the film is open

struct catalog;
struct film;

// A viewer's hold on a film, embedded by the viewer. With it the viewer waits until the film is
// open, and then keeps it open. Initialise the first three members; the others must be zero.
struct catalog_hold {
    // The owner repeats the call that returned CATALOG_WAITS.
    void (*on_ready)(void *ctx, usec_t now);
    // The film is closed to make room for others; only if no session uses it. May be NULL.
    void (*on_revoked)(void *ctx);
    void *ctx;                 // borrowed
    struct film *film;         // owned by the catalog; NULL: none
    struct catalog_hold *next; // next hold on the film
    bool listing;              // waits for the list
    int listed;                // next result of catalog_list: 1: list ready; 0: none; else an error
    struct catalog_hold *next_listing;
};

// Makes a catalog of one stream. Borrows `path`, which begins with '/', and `stream`. NULL: no
// memory.
struct catalog *catalog_new_one(const char *path, struct stream *stream);
// Makes a catalog of the folder o->source. Borrows `o`. Returns NULL on failure, which it logs.
struct catalog *catalog_new_folder(uv_loop_t *loop, const struct options *o);
// All holds must have been left. Does not wait for files that are being read: the loop must run
// until its handles are closed. NULL is fine.
void catalog_free(struct catalog *s);

bool catalog_is_folder(const struct catalog *s);
const char *catalog_where(const struct catalog *s); // path of the only stream; NULL: a folder
// Gets the stream at the path of a URL; `h` holds it until catalog_leave. `only`: accept no other
// film than the one that `h` holds. Returns
//   0: *out is the stream;
//   CATALOG_WAITS: the film is being opened;
//   ERR_NOT_FOUND: there is no such film;
//   ERR_END: it is the path of the folder itself;
//   ERR_FULL: too many films are open;
//   ERR_AGAIN: too many films are being opened;
//   ERR_TIMED_OUT: opening takes longer than CATALOG_OPEN_LIMIT;
//   another error: the film cannot be opened.
int catalog_take(struct catalog *s, const char *url_path, struct catalog_hold *h, bool only,
                 struct stream **out);
void catalog_leave(struct catalog *s, struct catalog_hold *h); // also cancels waiting
// Writes the list of folder_list.h to `out`, as many lines as fit; *count: number of all files.
// Returns 0; CATALOG_WAITS if the list is being made; ERR_TIMED_OUT if that takes longer than
// CATALOG_OPEN_LIMIT; ERR_NO_MEMORY.
int catalog_list(struct catalog *s, struct catalog_hold *h, char *out, size_t cap, int *count);
// Collects the stats of all open streams: everything except the program's version and age. `each`:
// see stream_stats.
void catalog_stats(struct catalog *s, struct stats *out, session_stats_fn *each, void *ctx,
                   usec_t now);

#ifdef __cplusplus
}
#endif
#endif
