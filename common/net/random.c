// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/random.h"

#include <errno.h>
#include <sys/random.h>

bool random_fill(void *out, size_t len)
{
    ssize_t got;
    do
        got = getrandom(out, len, 0);
    while (got < 0 && errno == EINTR); // only until the system has been seeded once, at boot
    return got == (ssize_t)len;
}
