// SPDX-License-Identifier: GPL-2.0-or-later
// Where stored_cache reads the groups of a stored ladder: a prepared file, or a proxy's copy of
// one, which may still be incomplete.
#ifndef WEIR_SERVER_STORED_GROUP_SOURCE_H
#define WEIR_SERVER_STORED_GROUP_SOURCE_H

#include "common/base/decls.h"
#include "media/stored/stored_track.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

struct group_source;

struct group_source_ops {
    // Any thread; the result is valid until `free`, and does not change.
    const struct stored_info *(*info)(const struct group_source *s);
    // On the loop: sets *out to the film's table, valid until `free`. Returns 0; ERR_NOT_FOUND: it
    // has none; ERR_AGAIN: of a source that is being filled, it may come. NULL: it has none.
    int (*table)(struct group_source *s, const struct film_table **out);
    // Of a source that is still being filled, on the loop: a reader of these sizes (bit 0: size 0)
    // needs the group. Sets *sizes to those that can be read now, 0: none yet. Returns 0, or
    // ERR_IO: it will not come. NULL: all groups can be read, in all sizes.
    int (*need)(struct group_source *s, int64_t group, unsigned *sizes);
    // Gets the SHA-256 of a track of a group without reading it, on the loop. Returns what
    // stored_cache_digest does. NULL: it has to be read.
    int (*digest)(struct group_source *s, int track, int64_t group, struct stored_digest *out);
    // Reads a group into *out, which the caller owns; sizes that are not in `sizes` may be left
    // out. Blocks; one thread at a time. Returns 0, ERR_IO (logged) or ERR_NO_MEMORY; of a source
    // that is being filled ERR_AGAIN (logged): the group is not there any more, and can be needed
    // again.
    int (*read)(struct group_source *s, int64_t group, unsigned sizes, struct stored_group **out);
    void (*free)(struct group_source *s); // on the loop, after the last `read`
};

struct group_source { // embedded first by each implementation
    const struct group_source_ops *ops;
};

DECLS_END
#endif
