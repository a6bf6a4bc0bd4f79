// SPDX-License-Identifier: GPL-2.0-or-later
// The rate of the part of a film with the most pictures a second. Joined films and a telephone's
// recordings have parts of several rates; a container names that of the beginning, or a mean. At a
// lower rate than that of such a part, pictures of it would have no tick.
//
//   The law. Pictures are judged in blocks. A block has a rate if most of its steps are equal; the
//   film's is the highest of them if it is a fifth above the one that the container names.
//
// Pure.
#ifndef WEIR_MEDIA_SOURCE_DENSE_RATE_H
#define WEIR_MEDIA_SOURCE_DENSE_RATE_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { DENSE_BLOCK = 32 }; // pictures that are judged together

struct dense_rate {
    int count; // of pictures in the block
    usec_t times[DENSE_BLOCK];
    double highest; // pictures/s; 0: no block had a rate
};

void dense_rate_init(struct dense_rate *r);
// Adds the time of a picture, in decoding order or in that of their display.
void dense_rate_add(struct dense_rate *r, usec_t at);
// The next picture does not follow the last one.
void dense_rate_break(struct dense_rate *r);
// Returns the rate in pictures/s, or 0 if `named`, the container's, is about as high.
double dense_rate_above(const struct dense_rate *r, double named);

DECLS_END
#endif
