// SPDX-License-Identifier: GPL-2.0-or-later
// Decides whether the own H.264 of a film, which passes (pass_check.h), can be the top size of a
// stored ladder.
//
//   The law. A plan (stored_plan.h) describes every group of the film alike. So the film's frames
//   fit a size of one layer: each depends on the one before it, and each group begins with an IDR
//   picture. That is so if frames are decoded in the order in which they are shown, and the film
//   has an IDR picture at each multiple of the plan's `gop`, whatever others it has.
//
// Pure.
#ifndef WEIR_MEDIA_STORED_POLICY_STORED_PASS_H
#define WEIR_MEDIA_STORED_POLICY_STORED_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns true if each group of `gop` frames begins with one of the `count` IDR pictures at these
// frames, which ascend, of a film of `frames` frames.
bool stored_pass_fits(const int64_t *idrs, int count, int64_t frames, int gop);

DECLS_END
#endif
