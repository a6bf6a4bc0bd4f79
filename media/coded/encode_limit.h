// SPDX-License-Identifier: GPL-2.0-or-later
// What a machine encodes while viewers watch, of the speed of one of its cores.
//
//   The law: a share of 70 % of the cores is for encoders; the rest is for decoding, scaling and
//   sending, and for pictures that take longer. All sizes together have that share of all cores. An
//   encoder of a large picture cuts it into slices, one a thread, of which each beyond the first
//   adds three quarters of a core. Up to 1280x720 at 30 frames/s it has one thread, then one for
//   each further 1280x720 at 30 frames/s, and at most 8.
//   Pure.
#ifndef WEIR_MEDIA_CODED_ENCODE_LIMIT_H
#define WEIR_MEDIA_CODED_ENCODE_LIMIT_H

#include "common/base/decls.h"
#include "common/base/level.h"

DECLS_BEGIN

// Max. pixels per second of one size, and of all sizes together.
struct encode_limit {
    double one_size;
    double all_sizes;
};

// `core_rate`: pixels per second that one core encodes; `cores`: >= 1.
struct encode_limit encode_limit_of(double core_rate, int cores);
// Returns the number of threads of a size's encoder.
int encode_limit_threads(const struct size_spec *size, int cores);

DECLS_END
#endif
