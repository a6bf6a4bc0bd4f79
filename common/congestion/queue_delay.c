// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/queue_delay.h"

static const usec_t BASE_WINDOW = 30 * USEC_PER_SEC;
static const usec_t PEAK_SPAN = USEC_PER_SEC;
static const double QDELAY_AVG_G = 0.25;

void queue_delay_init(struct queue_delay *q)
{
    *q = (struct queue_delay){0};
    windowed_min_init(&q->base, BASE_WINDOW);
    windowed_min_init(&q->recent, QUEUE_DELAY_VIRTUAL_RTT);
}

void queue_delay_base(struct queue_delay *q, usec_t one_way, usec_t now)
{
    windowed_min_add(&q->base, one_way, now);
}

usec_t queue_delay_of(const struct queue_delay *q, usec_t one_way)
{
    return one_way - windowed_min_read(&q->base);
}

usec_t queue_delay_arrived(struct queue_delay *q, usec_t one_way, usec_t now)
{
    q->last = queue_delay_of(q, one_way);
    windowed_min_add(&q->recent, q->last, now);
    q->recent_tail[q->tail_next++ % QUEUE_DELAY_TAIL] = q->last;
    if (now - q->peak_since >= PEAK_SPAN) {
        q->peak_before = now - q->peak_since < 2 * PEAK_SPAN ? q->peak : 0;
        q->peak = 0;
        q->peak_since = now;
    }
    q->peak = usec_max(q->peak, q->last);
    return q->last;
}

void queue_delay_update(struct queue_delay *q, usec_t srtt, usec_t now)
{
    usec_t least = windowed_min_read(&q->recent);
    if (least != USEC_NEVER)
        q->standing = least;
    if (now - q->average_at < usec_min(QUEUE_DELAY_VIRTUAL_RTT, srtt))
        return;
    double rise = (double)q->standing - q->average;
    q->average += rise < 0 ? rise : QDELAY_AVG_G * rise;
    q->average_at = now;
}

usec_t queue_delay_tail(const struct queue_delay *q)
{
    usec_t least = q->recent_tail[0];
    for (int i = 1; i < QUEUE_DELAY_TAIL; i++)
        least = usec_min(least, q->recent_tail[i]);
    return least;
}
