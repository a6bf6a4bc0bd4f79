// SPDX-License-Identifier: GPL-2.0-or-later
// A configuration of libweir begins with its size, as the program that fills it was compiled with:
// a later version may have more members at the end.
#ifndef WEIR_LIB_VERSIONED_H
#define WEIR_LIB_VERSIONED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Copies the configuration `from`, which begins with a size_t that states its size, to `to` of
// `size` bytes; members that it lacks become 0. Returns false: `from` has no size, or more members,
// which are not 0.
bool versioned_copy(void *to, size_t size, const void *from);

DECLS_END
#endif
