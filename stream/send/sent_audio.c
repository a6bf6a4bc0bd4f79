// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/sent_audio.h"

#include <stddef.h>

void sent_audio_init(struct sent_audio *a, bool ahead)
{
    *a = (struct sent_audio){.kept = ahead ? SENT_AUDIO_AHEAD : SENT_AUDIO_PACKETS,
                             .copies = ahead ? SENT_AUDIO_COPIES_AHEAD : SENT_AUDIO_COPIES};
}

static int index_of(const struct sent_audio *a, uint16_t seq)
{
    return seq & (a->kept - 1);
}

static void *take(struct sent_audio *a, int i)
{
    void *data = a->packets[i].data;
    a->due -= a->packets[i].is_due;
    a->packets[i] = (struct sent_audio_packet){0};
    return data;
}

void *sent_audio_add(struct sent_audio *a, uint16_t seq, void *data, usec_t now)
{
    int i = index_of(a, seq);
    void *gone = take(a, i);
    a->packets[i] = (struct sent_audio_packet){.seq = seq, .data = data, .left = now};
    return gone;
}

void *sent_audio_find(const struct sent_audio *a, uint16_t seq)
{
    const struct sent_audio_packet *p = &a->packets[index_of(a, seq)];
    return p->seq == seq ? p->data : NULL;
}

void sent_audio_request(struct sent_audio *a, uint16_t seq, usec_t min_rtt, usec_t now)
{
    struct sent_audio_packet *p = &a->packets[index_of(a, seq)];
    usec_t under_way = min_rtt ? min_rtt - min_rtt / 4 : SENT_AUDIO_UNDER_WAY;
    if (!sent_audio_find(a, seq) || p->is_due || p->copies == a->copies ||
        now - p->left < under_way)
        return;
    p->is_due = true;
    a->due++;
}

static int next_index(const struct sent_audio *a)
{
    int next = -1;
    for (int i = 0; a->due && i < a->kept; i++)
        if (a->packets[i].is_due &&
            (next < 0 || (int16_t)(a->packets[i].seq - a->packets[next].seq) < 0))
            next = i;
    return next;
}

const struct sent_audio_packet *sent_audio_next(const struct sent_audio *a)
{
    int i = next_index(a);
    return i < 0 ? NULL : &a->packets[i];
}

void sent_audio_copied(struct sent_audio *a, usec_t now)
{
    struct sent_audio_packet *p = &a->packets[next_index(a)];
    p->is_due = false;
    p->copies++;
    p->left = now;
    a->due--;
}

void *sent_audio_remove(struct sent_audio *a)
{
    for (int i = 0; i < a->kept; i++)
        if (a->packets[i].data)
            return take(a, i);
    return NULL;
}
