// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_shifts.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "media/coded/audio.h"

enum { ROUNDING = AUDIO_RATE / 1000 };

int stored_shifts_add(struct stored_shifts *s, int64_t from, int64_t shift)
{
    int64_t change = shift - (s->count ? s->of[s->count - 1].shift : 0);
    if (change <= ROUNDING && change >= -ROUNDING)
        return 0;
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 16;
        struct stored_shift *of = realloc(s->of, (size_t)room * sizeof(*of));
        if (!of)
            return ERR_NO_MEMORY;
        s->of = of;
        s->room = room;
    }
    s->of[s->count++] = (struct stored_shift){from, shift};
    return 0;
}

int64_t stored_shifts_at(const struct stored_shifts *s, int64_t at, int64_t *until)
{
    int after = 0;
    while (after < s->count && s->of[after].from <= at)
        after++;
    *until = after < s->count ? s->of[after].from : INT64_MAX;
    return after ? s->of[after - 1].shift : 0;
}

void stored_shifts_free(struct stored_shifts *s)
{
    free(s->of);
    *s = (struct stored_shifts){0};
}
