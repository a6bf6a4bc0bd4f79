// SPDX-License-Identifier: GPL-2.0-or-later
// The mount points of a server: which stream is at the path of a URL. A program brings its own
// implementation, or uses catalog_new_one. Loop thread only.
#ifndef WEIR_SERVER_SESSION_CATALOG_H
#define WEIR_SERVER_SESSION_CATALOG_H

#include "common/base/decls.h"
#include "server/session/publication.h"
#include "server/session/stream.h"

DECLS_BEGIN

enum {
    CATALOG_MAX_OPEN = STATS_STREAMS, // max. open streams
    CATALOG_WAITS = 1,                // results, not errors: on_ready follows
    CATALOG_REFUSED = 2,              // the hold has the reason
    CATALOG_VIA_MAX = 512,            // bytes of a Via header's value, with NUL
    CATALOG_LIST_BYTES = 1 << 17,
};
// Max. time from the request until the stream is open. Only a hang reaches it: a slow disk,
// processor or camera may need many seconds.
#define CATALOG_OPEN_LIMIT (30 * USEC_PER_SEC)

struct catalog;
struct film; // an open stream; the catalog's own

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
    int listed;                // next result of `list`: 1: list ready; 0: none; else an error
    struct catalog_hold *next_listing;
    // The request's Via header (RFC 2326, 12.43), set before `take`; empty: none.
    char via[CATALOG_VIA_MAX];
    struct media_refusal refusal; // CATALOG_REFUSED
};

struct still_wish {
    const char *path;             // decoded, without its first slash
    usec_t at;                    // of the key frame, or after it; < 0: any
    const char *via;              // the request's Via header; empty: none
    struct media_refusal refusal; // CATALOG_REFUSED
};

struct catalog_ops {
    // Gets the stream at the path of a URL; `h` holds it until `leave`. `only`: accept no other
    // film than the one that `h` holds. Returns
    //   0: *out is the stream;
    //   CATALOG_WAITS: the film is being opened;
    //   ERR_NOT_FOUND: there is no such film;
    //   ERR_END: it is the path of the folder itself;
    //   ERR_FULL: too many films are open;
    //   ERR_AGAIN: too many films are being opened;
    //   ERR_TIMED_OUT: opening takes longer than CATALOG_OPEN_LIMIT;
    //   CATALOG_REFUSED: another server refuses it: h->refusal;
    //   another error: the film cannot be opened.
    int (*take)(struct catalog *c, const char *url_path, struct catalog_hold *h, bool only,
                struct stream **out);
    void (*leave)(struct catalog *c, struct catalog_hold *h); // also cancels waiting
    // Writes a list of the films to `out`, as many lines as fit: the path, the seconds ("live",
    // "failed": it cannot be played, "away": no client publishes to it, "?": not known yet), and
    // the sizes, separated by tabs, and of live media whose source is away "away=" and since when,
    // in seconds since 1970; *count: number of all films. Returns 0; CATALOG_WAITS if the list is
    // being made; ERR_TIMED_OUT if that takes longer than CATALOG_OPEN_LIMIT; ERR_NO_MEMORY. NULL:
    // the catalog has no list, `take` never returns ERR_END.
    int (*list)(struct catalog *c, struct catalog_hold *h, char *out, size_t cap, int *count);
    // Returns media that gives one picture of a film without opening the film for viewers; the
    // caller calls its ops->free. NULL: *err is ERR_NO_MEMORY; CATALOG_REFUSED: w->refusal;
    // ERR_UNSUPPORTED: at this path pictures are taken of the open stream (`take`). Op NULL: at no
    // path.
    struct stream_media *(*still)(struct catalog *c, struct still_wish *w, int *err);
    // Returns the names of the recording (record_name.h) of the stream at `path`, decoded, in
    // H.264; borrowed until the next turn of the loop. NULL: it is not recorded. Op NULL: nothing
    // is.
    const char *(*recorded)(struct catalog *c, const char *path);
    // Collects the stats of all open streams: everything except the program's version and age.
    // `each`: see stream_stats.
    void (*stats)(struct catalog *c, struct stats *out, session_stats_fn *each, void *ctx,
                  usec_t now);
    // Limits the level of all viewers of the stream at `path`, decoded, with its first slash;
    // LADDER_MAX_LEVELS - 1 ends it. Returns 0, ERR_NOT_FOUND: there is no such stream; ERR_RANGE:
    // it has no such level. NULL: the catalog's streams come and go, and have no limit.
    int (*set_highest)(struct catalog *c, const char *path, int level, usec_t now);
    // Reserves the path of a URL for a client that publishes to it. Returns 0: the caller owns
    // *out, and ends it before the catalog is freed; CATALOG_REFUSED: *refusal has the reason.
    // NULL: clients cannot publish.
    int (*publish)(struct catalog *c, const char *url_path, const struct publication_config *config,
                   struct publication **out, struct media_refusal *refusal);
    // All holds must have been left. The loop must run until the catalog's handles are closed.
    void (*free)(struct catalog *c);
};

struct catalog { // embedded first by each implementation
    const struct catalog_ops *ops;
    const char *where; // borrowed; path of the only stream; NULL: many
    const char *items; // static; what `list` lists: "file", "stream"; NULL: it has none
    struct stats_book book;
};

// Makes a catalog of one stream. Borrows `path`, which begins with '/', and `stream`. NULL: no
// memory.
struct catalog *catalog_new_one(const char *path, struct stream *stream);
// For `stats` of an implementation: begins with the book's totals and no stream.
void catalog_begin_stats(const struct catalog *c, struct stats *out);

DECLS_END
#endif
