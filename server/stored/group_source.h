// SPDX-License-Identifier: GPL-2.0-or-later
// Where stored_cache reads the groups of a stored ladder: a prepared file, or a proxy's copy of
// one.
#ifndef WEIR_SERVER_STORED_GROUP_SOURCE_H
#define WEIR_SERVER_STORED_GROUP_SOURCE_H

#include "media/stored/stored_group.h"

#ifdef __cplusplus
extern "C" {
#endif

struct group_source;

struct group_source_ops {
    // Any thread; the result is valid until `free`, and does not change.
    const struct stored_info *(*info)(const struct group_source *s);
    // Reads a group into *out, which the caller owns. Blocks; one thread at a time. Returns 0,
    // ERR_IO (logged) or ERR_NO_MEMORY.
    int (*read)(struct group_source *s, int64_t group, struct stored_group **out);
    void (*free)(struct group_source *s); // on the loop, after the last `read`
};

struct group_source { // embedded first by each implementation
    const struct group_source_ops *ops;
};

#ifdef __cplusplus
}
#endif
#endif
