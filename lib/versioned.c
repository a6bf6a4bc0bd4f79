// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/versioned.h"

#include <string.h>

// No configuration has more bytes in this major version: a larger size is none, and what it says to
// be there may not be read.
enum { MAX_BYTES = 4096 };

bool versioned_copy(void *to, size_t size, const void *from)
{
    size_t given;
    if (!from) {
        memset(to, 0, size);
        return false;
    }
    memcpy(&given, from, sizeof(given));
    memset(to, 0, size);
    if (given < sizeof(given) || given > MAX_BYTES)
        return false;
    memcpy(to, from, given < size ? given : size);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i] != 0)
            return false;
    return true;
}
