// SPDX-License-Identifier: GPL-2.0-or-later
// A catalog of the files of a folder, each at its own path. A file is opened for its first viewer
// and closed when the last viewer has left.
//
// The loop never reads a file. Threads open films, FOLDER_OPENERS at a time and, in addition, those
// that a thread has been opening for FOLDER_SLOW (workers.h), and FOLDER_WAITING more films wait;
// one thread makes the folder's list, and one takes pictures of films for it (film_still.h). A
// viewer waits for a film or the list with a hold, for at most CATALOG_OPEN_LIMIT, even if the
// thread hangs.
//
// Loop thread only.
#ifndef WEIR_SENDER_CATALOG_FOLDER_CATALOG_H
#define WEIR_SENDER_CATALOG_FOLDER_CATALOG_H

#include <uv.h>

#include "common/base/decls.h"
#include "sender/options/options.h"
#include "server/session/catalog.h"

DECLS_BEGIN

enum {
    FOLDER_MAX_IDLE = 8, // max. open files without a session
    FOLDER_OPENERS = 4,  // max. files being opened at a time
    FOLDER_WAITING = 28, // max. files waiting to be opened
};
#define FOLDER_SLOW (5 * USEC_PER_SEC)
// A film that was slow to open stays open for at least so long, as its viewer may give up and
// return.
#define FOLDER_KEPT (60 * USEC_PER_SEC)

// Makes a catalog of the folder o->source. Borrows `o`. Returns NULL on failure, which it logs.
// Freeing it does not wait for files that are being read.
struct catalog *folder_catalog_new(uv_loop_t *loop, const struct options *o);

DECLS_END
#endif
