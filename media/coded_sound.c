// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded_sound.h"

#include <stdlib.h>

struct coded_sound *coded_sound_new(void)
{
    struct coded_sound *c = calloc(1, sizeof(*c));
    if (c)
        c->references = 1;
    return c;
}

struct coded_sound *coded_sound_ref(struct coded_sound *c)
{
    __atomic_add_fetch(&c->references, 1, __ATOMIC_RELAXED);
    return c;
}

void coded_sound_unref(struct coded_sound *c)
{
    if (c && __atomic_sub_fetch(&c->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(c);
}
