// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/coded_audio.h"

#include <stdlib.h>

struct coded_audio *coded_audio_new(void)
{
    struct coded_audio *c = calloc(1, sizeof(*c));
    if (c)
        c->references = 1;
    return c;
}

struct coded_audio *coded_audio_ref(struct coded_audio *c)
{
    __atomic_add_fetch(&c->references, 1, __ATOMIC_RELAXED);
    return c;
}

void coded_audio_unref(struct coded_audio *c)
{
    if (c && __atomic_sub_fetch(&c->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(c);
}
