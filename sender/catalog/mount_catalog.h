// SPDX-License-Identifier: GPL-2.0-or-later
// Several sources (struct options.sources), each at its own path. Threads open all of them at the
// start. A source that cannot be opened does not end the others: viewers are refused with 503, and
// a request opens it again at MOUNT_RETRY after the failure or later.
#ifndef WEIR_SENDER_CATALOG_MOUNT_CATALOG_H
#define WEIR_SENDER_CATALOG_MOUNT_CATALOG_H

#include "common/base/decls.h"
#include "sender/options/options.h"
#include "server/session/catalog.h"

DECLS_BEGIN

#define MOUNT_RETRY (5 * USEC_PER_SEC)

// Borrows `o`, which has `sources`, until the loop's handles are closed. NULL: failed (logged).
struct catalog *mount_catalog_new(uv_loop_t *loop, const struct options *o);
// Changes the sources to those of `o`, which is from malloc, and which the catalog takes over and
// destroys when nothing uses it. Returns 0, or ERR_NO_MEMORY: nothing has changed, `o` included.
//
// No viewer is disconnected. A source that is gone is not listed any more, and ends with its last
// viewer. One with other options is opened anew, for new viewers; present ones keep the stream they
// have, until they leave. Only a device, which can be open but once, is opened anew when the last
// of them has left.
//
// `read`: what `o` borrows of (options_change), from malloc, too, and taken over as well; `o`
// itself: of nothing; NULL: of what was read last, by this or by mount_catalog_new.
int mount_catalog_reload(struct catalog *c, struct options *o, struct options *read);
// Returns true if so many streams of before a change are still open that there should be no other
// change.
bool mount_catalog_is_busy(const struct catalog *c);
// Returns true if a source is at `path`, with its first slash.
bool mount_catalog_has(struct catalog *c, const char *path);
// Starts or stops the recording of the source at `path`, until the next call. Returns 0;
// ERR_NOT_FOUND: there is no such source; ERR_UNSUPPORTED: it has no name to record to (--record).
int mount_catalog_record(struct catalog *c, const char *path, bool records);

DECLS_END
#endif
