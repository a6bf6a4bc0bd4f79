// SPDX-License-Identifier: GPL-2.0-or-later
// The only place that reads randomness from the system (getrandom(2)). All values that a peer must
// not guess come from here: session ids, tokens, keys, and the seeds of each RTP stream's numbers
// (RFC 3550, 5.1). Pure code takes the numbers, or a seed, as arguments.
#ifndef WEIR_NET_RANDOM_H
#define WEIR_NET_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Fills `out`. `len` is at most 256, which the kernel never fills partially. Returns true if `out`
// was filled; false: the system has no randomness.
bool random_fill(void *out, size_t len);

DECLS_END
#endif
