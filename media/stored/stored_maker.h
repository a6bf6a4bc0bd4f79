// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes groups of frames in all sizes of a ladder and writes them as parts. A size that passes
// (level.h) is not encoded: its frames are those that the pictures bring along (picture.coded).
// Each group is encoded on one thread; several threads run in parallel.
#ifndef WEIR_MEDIA_STORED_STORED_MAKER_H
#define WEIR_MEDIA_STORED_STORED_MAKER_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"

DECLS_BEGIN

enum { STORED_MAKER_MAX_THREADS = 16 };

struct stored_maker;

// `finest`: the finest quantiser of each size (stored_rate_limit); NULL: they have none.
// `threads`: 1 .. STORED_MAKER_MAX_THREADS; the maker holds as many groups of pictures in memory.
// Borrows its arguments. Returns NULL on failure, which it logs.
struct stored_maker *stored_maker_new(const struct ladder *ladder, const struct stored_plan *plan,
                                      enum sdp_codec codec, const double finest[],
                                      const char *folder, int threads);
// Adds the pictures of group number `group` and takes over one reference to each, even on failure.
// Waits for a free thread. Returns 0, or the error of an earlier group (logged).
int stored_maker_add(struct stored_maker *m, int64_t group, struct picture **pictures, int count);
int stored_maker_wait(
    struct stored_maker *m); // until all groups are written; returns like stored_maker_add
void stored_maker_free(struct stored_maker *m); // waits for groups in work; NULL is fine

DECLS_END
#endif
