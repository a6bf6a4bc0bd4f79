// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/shared_stream.h"

#include <stdlib.h>

struct shared_stream {
    struct shared_numbers numbers;
    int viewers;
    int count;
    struct shared_upstream *flows[LADDER_MAX_SIZES]; // owned
};

struct shared_stream *shared_stream_new(const struct relay_origin *origin)
{
    struct shared_stream *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    shared_numbers_init(&s->numbers, &origin->media->ladder);
    for (; s->count < origin->media->ladder.size_count; s->count++) {
        s->flows[s->count] = shared_upstream_new(origin, &s->numbers);
        if (!s->flows[s->count]) {
            shared_stream_free(s);
            return NULL;
        }
    }
    return s;
}

void shared_stream_free(struct shared_stream *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++)
        shared_upstream_free(s->flows[i]);
    free(s);
}

struct shared_upstream *shared_stream_flow(struct shared_stream *s, int size_id)
{
    return s->flows[size_id];
}

void shared_stream_watch(struct shared_stream *s, int change)
{
    s->viewers += change;
}

int shared_stream_viewers(const struct shared_stream *s)
{
    return s->viewers;
}

bool shared_stream_is_open(const struct shared_stream *s)
{
    bool open = false;
    for (int i = 0; i < s->count; i++)
        open |= shared_upstream_is_open(s->flows[i]);
    return open;
}
