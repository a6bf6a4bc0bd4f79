// SPDX-License-Identifier: GPL-2.0-or-later
// Several sources (struct options.sources), each at its own path. Threads open all of them at the
// start. A source that cannot be opened does not end the others: viewers are refused with 503, and
// a request opens it again at MOUNT_RETRY after the failure or later.
#ifndef WEIR_SENDER_CATALOG_MOUNT_CATALOG_H
#define WEIR_SENDER_CATALOG_MOUNT_CATALOG_H

#include "sender/options/options.h"
#include "server/session/catalog.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOUNT_RETRY (5 * USEC_PER_SEC)

// Borrows `o`, which has `sources`. NULL: failed (logged).
struct catalog *mount_catalog_new(uv_loop_t *loop, const struct options *o);

#ifdef __cplusplus
}
#endif
#endif
