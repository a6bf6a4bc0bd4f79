// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/random.h"

#include <errno.h>
#include <sys/random.h>

bool random_fill(void *out, size_t len)
{
    ssize_t got;
    do
        got = getrandom(out, len, 0);
    // Can be interrupted only before the kernel has seeded its generator, once after boot.
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)len;
}
