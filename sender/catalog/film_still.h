// SPDX-License-Identifier: GPL-2.0-or-later
// Media that gives one picture of a film: a key frame. A thread opens the film for that, and closes
// it; no viewer can watch it, and no encoder starts. The file is opened when a picture is taken.
// Loop thread only.
#ifndef WEIR_SENDER_CATALOG_FILM_STILL_H
#define WEIR_SENDER_CATALOG_FILM_STILL_H

#include "common/base/decls.h"
#include "sender/feed/workers.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

#define FILM_STILL_LIMIT (4 * USEC_PER_SEC) // from `take` until the picture is decoded

enum { FILM_STILLS = 64 }; // pictures of one catalog that wait for its thread

// `path`: of the film in the folder `root`, which is a real path; NULL: the name of a file. Both
// are copied. `at`: the key frame at or before this position; < 0: the one a tenth into the film,
// 10 s at most. Borrows `workers`, whose works end before they are freed. NULL: no memory. The
// caller calls ops->free.
struct stream_media *film_still_new(struct workers *workers, const char *root, const char *path,
                                    usec_t at);

DECLS_END
#endif
