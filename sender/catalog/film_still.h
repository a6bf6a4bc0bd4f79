// SPDX-License-Identifier: GPL-2.0-or-later
// Media that gives one picture of a film: its key frame a tenth into it, 10 s at most. A thread
// opens the film for that, and closes it; no viewer can watch it, and no encoder starts. The file
// is opened when a picture is taken. Loop thread only.
#ifndef WEIR_SENDER_CATALOG_FILM_STILL_H
#define WEIR_SENDER_CATALOG_FILM_STILL_H

#include "sender/feed/workers.h"
#include "server/session/stream_media.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FILM_STILL_LIMIT (4 * USEC_PER_SEC) // from `take` until the picture is decoded

// `path`: of the film in the folder `root`, which is a real path; both are copied. Borrows
// `workers`, whose works end before they are freed. NULL: no memory. The caller calls ops->free.
struct stream_media *film_still_new(struct workers *workers, const char *root, const char *path);

#ifdef __cplusplus
}
#endif
#endif
