// SPDX-License-Identifier: GPL-2.0-or-later
// What a server offers at which path: one stream at one, or the files of a folder, each at its own.
// A file is opened when its first viewer comes and closed when the last has gone.
//
// The loop never reads a file. Threads open films, SHELF_OPENERS at once, and SHELF_WAITING more
// films wait; one thread makes the folder's list. Whoever needs one of them waits with a hold, for
// SHELF_OPEN_LIMIT at most, whatever the thread does.
//
// Loop thread only.
#ifndef WEIR_SENDER_SHELF_H
#define WEIR_SENDER_SHELF_H

#include <uv.h>

#include "sender/options.h"
#include "sender/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SHELF_MAX_OPEN = FIGURES_STREAMS, // files at once
    SHELF_MAX_IDLE = 8,               // of these, files that no viewer has set up
    SHELF_OPENERS = 4,                // files that are being opened at once
    SHELF_WAITING = 28,               // files that wait to be
    SHELF_WAITS = 1,                  // not an error: on_ready follows
    SHELF_LIST_BYTES = 1 << 17,
};
#define SHELF_OPEN_LIMIT (5 * USEC_PER_SEC) // from the request on

struct shelf;
struct film;

// A viewer's place at a film, embedded by it: it waits until the film is open, and then keeps it
// open. Zero but for the first three to begin with.
struct shelf_hold {
    void (*on_ready)(void *ctx, usec_t now); // repeat the call that returned SHELF_WAITS
    // The film is closed to make room for others; only while no session plays it. May be NULL.
    void (*on_revoked)(void *ctx);
    void *ctx;               // borrowed
    struct film *film;       // the shelf's; NULL: none
    struct shelf_hold *next; // the film's
    bool listing;            // waits for the list
    int listed;              // what shelf_list returns next, unless it is 0
    struct shelf_hold *next_listing;
};

// `path` (begins with '/') and `stream` are borrowed. NULL: no memory.
struct shelf *shelf_new_one(const char *path, struct stream *stream);
// The folder o->source. `o` is borrowed. NULL: logged.
struct shelf *shelf_new_folder(uv_loop_t *loop, const struct options *o);
// After all holds were left. Does not wait for files that are being read: the loop has to run on
// until its handles are closed. NULL is fine.
void shelf_free(struct shelf *s);

bool shelf_is_folder(const struct shelf *s);
const char *shelf_where(const struct shelf *s); // of what there is; of a folder NULL
// The stream at the path of a URL, held by `h` until shelf_leave. `only`: no other than the one
// that is held. 0; SHELF_WAITS: it is being opened; ERR_NOT_FOUND: there is none; ERR_END: it is
// the folder's own; ERR_FULL: too many files are open; ERR_AGAIN: too many are being opened;
// ERR_TIMED_OUT: it takes longer than SHELF_OPEN_LIMIT; other errors: it cannot be opened.
int shelf_take(struct shelf *s, const char *url_path, struct shelf_hold *h, bool only,
               struct stream **out);
void shelf_leave(struct shelf *s, struct shelf_hold *h); // and waits no longer
// The list of folder_list.h, into `out`, as many lines as fit; *count: all files. 0; SHELF_WAITS:
// it is being made; ERR_TIMED_OUT: that takes longer than SHELF_OPEN_LIMIT; ERR_NO_MEMORY.
int shelf_list(struct shelf *s, struct shelf_hold *h, char *out, size_t cap, int *count);
// Of all streams that are open: everything but the program's version and age. `each` as of
// stream_figures.
void shelf_figures(struct shelf *s, struct figures *out, session_figures_fn *each, void *ctx,
                   usec_t now);

#ifdef __cplusplus
}
#endif
#endif
