// SPDX-License-Identifier: GPL-2.0-or-later
// How many segments a live playlist has.
//
//   n segments, at most `most`, if 2 n + 2 have at most `limit` bytes: those of the playlist, n + 1
//   that have left it but can still be requested (RFC 8216, 6.2.2), and the one that is being made.
//   But at least as many as last three target durations: RFC 8216, 6.2.2, forbids to make a
//   playlist shorter.
//
// Pure.
#ifndef WEIR_SENDER_POLICY_SEGMENT_WINDOW_H
#define WEIR_SENDER_POLICY_SEGMENT_WINDOW_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

// `durations`: of the complete segments that a playlist has or had, oldest first. `mean`: bytes of
// a segment, in all renditions together. Returns the number of the newest ones, at most `count`.
int segment_window(const usec_t *durations, int count, usec_t target, size_t mean, size_t limit,
                   int most);

DECLS_END
#endif
