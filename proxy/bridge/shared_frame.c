// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/shared_frame.h"

#include <stdlib.h>
#include <string.h>

#include "media/coded/relayed_frame.h"

struct shared_frame *shared_frame_new(struct received_frame *f, const struct ladder *ladder,
                                      bool is_annexb, usec_t captured)
{
    struct shared_frame *s = calloc(1, sizeof(*s));
    if (s) {
        s->references = 1;
        s->head = *f;
        s->head.data = NULL;
        s->head.upper = NULL;
        s->coded = relayed_frame_is_valid(f, ladder)
                       ? relayed_frame_new(f, ladder, is_annexb, captured)
                       : NULL;
    }
    received_frame_free(f);
    return s;
}

struct shared_frame *shared_frame_ref(struct shared_frame *s)
{
    s->references++;
    return s;
}

void shared_frame_unref(struct shared_frame *s)
{
    if (!s || --s->references)
        return;
    coded_frame_unref(s->coded);
    free(s);
}

struct coded_frame *shared_frame_at(const struct shared_frame *s, int level)
{
    if (level == s->coded->level)
        return coded_frame_ref(s->coded);
    struct coded_frame *copy = coded_frame_new(s->coded->bytes);
    if (!copy)
        return NULL;
    uint8_t *data = copy->data;
    *copy = *s->coded;
    copy->references = 1;
    copy->data = data;
    copy->level = level;
    memcpy(data, s->coded->data, copy->bytes);
    return copy;
}
