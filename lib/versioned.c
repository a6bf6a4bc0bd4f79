// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/versioned.h"

#include <string.h>

bool versioned_copy(void *to, size_t size, const void *from)
{
    size_t given;
    memcpy(&given, from, sizeof(given));
    memset(to, 0, size);
    if (given < sizeof(given))
        return false;
    memcpy(to, from, given < size ? given : size);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i] != 0)
            return false;
    return true;
}
