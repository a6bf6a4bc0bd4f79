// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the films that a file names, one after the other: their paths as viewers request them, a
// line each; empty lines and those that begin with '#' are left out. Each is described at its
// origin, and fetched while no viewer needs an origin (film_fetcher.h). What was refused or did not
// come is logged once, and it alone is tried again after PREFETCH_AGAIN; a line that is no path of
// an origin is not. Loop thread only.
#ifndef WEIR_PROXY_CATALOG_PREFETCH_H
#define WEIR_PROXY_CATALOG_PREFETCH_H

#include "common/base/decls.h"
#include "proxy/policy/origin_url.h"
#include "proxy/store/store.h"
#include "server/session/catalog.h"

DECLS_BEGIN

#define PREFETCH_AGAIN (600 * USEC_PER_SEC)

struct prefetch; // opaque

struct prefetch_config { // the pointers are borrowed
    uv_loop_t *loop;
    const char *file;
    struct catalog *catalog;
    struct store *store;
    const struct origin_rules *rules;
    usec_t again; // after all lines, those that failed are tried again; PREFETCH_AGAIN
};

// Reads the file. NULL: it cannot be read, or is too long (logged), or no memory.
struct prefetch *prefetch_new(const struct prefetch_config *config);
void prefetch_free(struct prefetch *p); // before the catalog; NULL is fine

DECLS_END
#endif
