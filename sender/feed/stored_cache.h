// SPDX-License-Identifier: GPL-2.0-or-later
// The groups of a stored ladder that its viewers are at, read by a thread of their own: a loop
// never waits for a disk, and viewers at one place share what was read. Bound: what viewers hold,
// and STORED_CACHE_SPARE groups more. Loop thread only, but for stored_cache_new.
#ifndef WEIR_SENDER_FEED_STORED_CACHE_H
#define WEIR_SENDER_FEED_STORED_CACHE_H

#include <uv.h>

#include "media/stored/stored_file.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_CACHE_SPARE = 16 };

struct stored_cache;

struct stored_waiter {                                      // for groups; embedded by who waits
    void (*on_change)(struct stored_waiter *w, usec_t now); // one came, or cannot be read
    struct stored_waiter *next;                             // the cache's
};

// Opens the file; any thread. As stored_file_open. NULL: logged.
struct stored_cache *stored_cache_new(const char *path, struct media_guard *guard, int *err);
// Once, before the first waiter. 0, or ERR_IO (logged).
int stored_cache_start(struct stored_cache *c, uv_loop_t *loop);
// After all waiters have left. Does not wait for the thread, which may be reading: it ends, and
// then the loop frees the cache, so it has to run on until its handles are closed. The caller stops
// the guard before. NULL is fine.
void stored_cache_free(struct stored_cache *c);
const struct stored_info *stored_cache_info(const struct stored_cache *c);
void stored_cache_join(struct stored_cache *c, struct stored_waiter *w);
void stored_cache_leave(struct stored_cache *c, struct stored_waiter *w);
// The group, held until stored_cache_drop. NULL: it is asked for, and on_change follows; with
// *broken, it cannot be read.
const struct stored_group *stored_cache_hold(struct stored_cache *c, int64_t group, bool *broken);
void stored_cache_drop(struct stored_cache *c, const struct stored_group *g); // NULL is fine
void stored_cache_want(struct stored_cache *c, int64_t group);                // soon

#ifdef __cplusplus
}
#endif
#endif
