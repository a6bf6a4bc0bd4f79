// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes groups of frames into all sizes of a ladder, each on a thread of its own, into parts.
#ifndef WEIR_MEDIA_STORED_STORED_MAKER_H
#define WEIR_MEDIA_STORED_STORED_MAKER_H

#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_MAKER_MAX_THREADS = 16 };

struct stored_maker;

// `threads`: 1 .. STORED_MAKER_MAX_THREADS, and as many groups of pictures in memory. What is
// passed is borrowed. NULL: logged.
struct stored_maker *stored_maker_new(const struct ladder *ladder, const struct stored_plan *plan,
                                      const char *folder, int threads);
// The pictures of a group, numbered within the media; one reference each, which is taken over.
// Waits for a free thread. 0, or the error of an earlier group (logged).
int stored_maker_add(struct stored_maker *m, int64_t group, struct picture **pictures, int count);
int stored_maker_wait(struct stored_maker *m);  // for all of them; as stored_maker_add
void stored_maker_free(struct stored_maker *m); // waits, too; NULL is fine

#ifdef __cplusplus
}
#endif
#endif
