// SPDX-License-Identifier: GPL-2.0-or-later
// Caches the groups of a stored ladder at its viewers' positions. A thread of its own reads them,
// so the loop never waits for a disk; viewers at the same position share a group. The cache holds
// the groups that viewers hold, plus at most STORED_CACHE_SPARE or as many as viewers. Loop thread
// only, except stored_cache_new.
#ifndef WEIR_SERVER_STORED_STORED_CACHE_H
#define WEIR_SERVER_STORED_STORED_CACHE_H

#include <uv.h>

#include "common/base/decls.h"
#include "media/source/media_guard.h"
#include "media/stored/stored_track.h"
#include "server/stored/group_source.h"

DECLS_BEGIN

enum { STORED_CACHE_SPARE = 16 };

struct stored_cache;

struct stored_waiter { // embedded by an object that waits for groups
    // A group was read, or cannot be read.
    void (*on_change)(void *ctx, usec_t now);
    void *ctx;                  // borrowed
    struct stored_waiter *next; // used by the cache
};

// Any thread. Takes over the source, even on failure. NULL: no memory.
struct stored_cache *stored_cache_new_of(struct group_source *source);
// The same of a prepared file: arguments and *err as of stored_file_open. Returns NULL on failure,
// which it logs.
struct stored_cache *stored_cache_new(const char *path, struct media_guard *guard, int *err);
// Call it once, before the first waiter. Returns 0, or ERR_IO (logged).
int stored_cache_start(struct stored_cache *c, uv_loop_t *loop);
// Call it after all waiters have left. Does not wait for the thread, which may be reading. When it
// has ended, the loop frees the cache, so the loop must run until its handles are closed. The
// caller first stops the guard. NULL is fine.
void stored_cache_free(struct stored_cache *c);
const struct stored_info *stored_cache_info(const struct stored_cache *c);
// Returns what group_source_ops.table does.
int stored_cache_table(struct stored_cache *c, const struct film_table **out);
// Returns true if the source is still being filled (group_source.h).
bool stored_cache_is_filled(const struct stored_cache *c);
void stored_cache_join(struct stored_cache *c, struct stored_waiter *w);
void stored_cache_leave(struct stored_cache *c, struct stored_waiter *w);
// Returns the group, which the caller holds until stored_cache_drop, in these sizes (bit 0: size
// 0), or in those of them that the source has by now. Returns NULL if the group is not in memory:
// then it is requested, and on_change follows; of a source that is being filled, ask again. Sets
// *broken if it cannot be read.
const struct stored_group *stored_cache_hold(struct stored_cache *c, int64_t group, unsigned sizes,
                                             bool *broken);
void stored_cache_drop(struct stored_cache *c, const struct stored_group *g); // NULL is fine
// Starts reading the group in advance.
void stored_cache_want(struct stored_cache *c, int64_t group, unsigned sizes);
// Gets the SHA-256 of one track of a group (stored_track.h). Returns 0; ERR_AGAIN: it is being
// computed, ask again; ERR_NOT_FOUND: no such group or track; ERR_IO: the group cannot be read.
int stored_cache_digest(struct stored_cache *c, int track, int64_t group,
                        struct stored_digest *out);

DECLS_END
#endif
