// SPDX-License-Identifier: GPL-2.0-or-later
// What a server offers at which path: one stream at one, or the files of a folder, each at its own.
// A file is opened when its first viewer comes and closed when the last has gone.
//
// The loop never reads a file. Threads open films, CATALOG_OPENERS at once, and CATALOG_WAITING
// more films wait; one thread makes the folder's list. Whoever needs one of them waits with a hold,
// for CATALOG_OPEN_LIMIT at most, whatever the thread does.
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
    CATALOG_MAX_OPEN = STATS_STREAMS, // files at once
    CATALOG_MAX_IDLE = 8,             // of these, files that no viewer has set up
    CATALOG_OPENERS = 4,              // files that are being opened at once
    CATALOG_WAITING = 28,             // files that wait to be
    CATALOG_WAITS = 1,                // not an error: on_ready follows
    CATALOG_LIST_BYTES = 1 << 17,
};
#define CATALOG_OPEN_LIMIT (5 * USEC_PER_SEC) // from the request on

struct catalog;
struct film;

// A viewer's place at a film, embedded by it: it waits until the film is open, and then keeps it
// open. Zero but for the first three to begin with.
struct catalog_hold {
    void (*on_ready)(void *ctx, usec_t now); // repeat the call that returned CATALOG_WAITS
    // The film is closed to make room for others; only while no session plays it. May be NULL.
    void (*on_revoked)(void *ctx);
    void *ctx;                 // borrowed
    struct film *film;         // the shelf's; NULL: none
    struct catalog_hold *next; // the film's
    bool listing;              // waits for the list
    int listed;                // what catalog_list returns next, unless it is 0
    struct catalog_hold *next_listing;
};

// `path` (begins with '/') and `stream` are borrowed. NULL: no memory.
struct catalog *catalog_new_one(const char *path, struct stream *stream);
// The folder o->source. `o` is borrowed. NULL: logged.
struct catalog *catalog_new_folder(uv_loop_t *loop, const struct options *o);
// After all holds were left. Does not wait for files that are being read: the loop has to run on
// until its handles are closed. NULL is fine.
void catalog_free(struct catalog *s);

bool catalog_is_folder(const struct catalog *s);
const char *catalog_where(const struct catalog *s); // of what there is; of a folder NULL
// The stream at the path of a URL, held by `h` until catalog_leave. `only`: no other than the one
// that is held. 0; CATALOG_WAITS: it is being opened; ERR_NOT_FOUND: there is none; ERR_END: it is
// the folder's own; ERR_FULL: too many files are open; ERR_AGAIN: too many are being opened;
// ERR_TIMED_OUT: it takes longer than CATALOG_OPEN_LIMIT; other errors: it cannot be opened.
int catalog_take(struct catalog *s, const char *url_path, struct catalog_hold *h, bool only,
                 struct stream **out);
void catalog_leave(struct catalog *s, struct catalog_hold *h); // and waits no longer
// The list of folder_list.h, into `out`, as many lines as fit; *count: all files. 0; CATALOG_WAITS:
// it is being made; ERR_TIMED_OUT: that takes longer than CATALOG_OPEN_LIMIT; ERR_NO_MEMORY.
int catalog_list(struct catalog *s, struct catalog_hold *h, char *out, size_t cap, int *count);
// Of all streams that are open: everything but the program's version and age. `each` as of
// stream_figures.
void catalog_stats(struct catalog *s, struct stats *out, session_stats_fn *each, void *ctx,
                   usec_t now);

#ifdef __cplusplus
}
#endif
#endif
