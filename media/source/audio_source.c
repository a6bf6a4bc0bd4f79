// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/audio_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/pattern/pattern_tone.h"

static void test_read(struct audio_source *s, int64_t from, int16_t *out, int count)
{
    (void)s;
    pattern_tone_fill(from, out, count);
}

static void test_free(struct audio_source *s)
{
    free(s);
}

static const struct audio_source_ops test_ops = {.read = test_read, .free = test_free};

struct audio_source *audio_source_test_new(void)
{
    struct audio_source *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->ops = &test_ops;
    snprintf(s->name, sizeof(s->name), "a beep each second");
    return s;
}
