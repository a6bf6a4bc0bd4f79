// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/sound_queue.h"

#include <stddef.h>

void *sound_queue_front(const struct sound_queue *q)
{
    return q->count ? q->entries[q->head].data : NULL;
}

void *sound_queue_take(struct sound_queue *q)
{
    void *data = sound_queue_front(q);
    if (!data)
        return NULL;
    q->head = (q->head + 1) % SOUND_QUEUE_PACKETS;
    q->count--;
    return data;
}

void *sound_queue_push(struct sound_queue *q, void *data, usec_t now)
{
    void *gone = NULL;
    if (q->count == SOUND_QUEUE_PACKETS) {
        gone = sound_queue_take(q);
        q->dropped++;
    }
    int i = (q->head + q->count++) % SOUND_QUEUE_PACKETS;
    q->entries[i].since = now;
    q->entries[i].data = data;
    return gone;
}

void *sound_queue_expired(struct sound_queue *q, usec_t bound, usec_t now)
{
    if (!q->count || now - q->entries[q->head].since <= bound)
        return NULL;
    q->dropped++;
    return sound_queue_take(q);
}
