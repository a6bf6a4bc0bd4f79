// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/audio_queue.h"

#include <stddef.h>

void *audio_queue_front(const struct audio_queue *q)
{
    return q->count ? q->entries[q->head].data : NULL;
}

void *audio_queue_take(struct audio_queue *q)
{
    void *data = audio_queue_front(q);
    if (!data)
        return NULL;
    q->head = (q->head + 1) % AUDIO_QUEUE_PACKETS;
    q->count--;
    return data;
}

void *audio_queue_push(struct audio_queue *q, void *data, usec_t since)
{
    void *gone = NULL;
    if (q->count == AUDIO_QUEUE_PACKETS) {
        gone = audio_queue_take(q);
        q->dropped++;
    }
    int i = (q->head + q->count++) % AUDIO_QUEUE_PACKETS;
    q->entries[i].since = since;
    q->entries[i].data = data;
    return gone;
}

void *audio_queue_expired(struct audio_queue *q, usec_t bound, usec_t now)
{
    if (!q->count || now - q->entries[q->head].since <= bound)
        return NULL;
    q->dropped++;
    return audio_queue_take(q);
}
