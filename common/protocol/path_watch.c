// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/path_watch.h"

#include <math.h>

static const double GAIN_MEAN = 1 / 8., GAIN_DEVIATION = 1 / 4.; // RFC 6298, 2.3
static const double DEVIATIONS = 4;

static const usec_t LEAST_OF = 30 * USEC_PER_SEC;

void path_watch_init(struct path_watch *w)
{
    *w = (struct path_watch){0};
    windowed_min_init(&w->least, LEAST_OF);
}

usec_t path_watch_left(const struct path_watch *w, uint64_t number)
{
    return w->left[number % PATH_WATCH_PACKETS];
}

void path_watch_sent(struct path_watch *w, usec_t now)
{
    w->left[w->sent++ % PATH_WATCH_PACKETS] = now;
}

void path_watch_settle(struct path_watch *w, uint64_t settled, usec_t now)
{
    if (settled <= w->settled || settled > w->sent)
        return;
    uint64_t first = w->settled;
    w->settled = settled;
    if (w->sent - first > PATH_WATCH_PACKETS)
        return;
    double delay = (double)(now - path_watch_left(w, first));
    windowed_min_add(&w->least, now - path_watch_left(w, settled - 1), now);
    if (w->mean > 0) {
        delay = fmin(delay, 2 * (double)path_watch_bound(w));
        w->deviation += GAIN_DEVIATION * (fabs(delay - w->mean) - w->deviation);
        w->mean += GAIN_MEAN * (delay - w->mean);
    } else {
        w->mean = fmax(1, delay);
        w->deviation = delay / 2;
    }
}

usec_t path_watch_delay(const struct path_watch *w)
{
    return (usec_t)w->mean;
}

usec_t path_watch_bound(const struct path_watch *w)
{
    if (!(w->mean > 0))
        return PATH_WATCH_FIRST;
    return (usec_t)(w->mean + fmax(DEVIATIONS * w->deviation, (double)PATH_WATCH_MARGIN));
}

usec_t path_watch_least(const struct path_watch *w)
{
    return w->mean > 0 ? windowed_min_read(&w->least) : 0;
}

static uint64_t oldest(const struct path_watch *w)
{
    bool is_remembered = w->sent - w->settled <= PATH_WATCH_PACKETS;
    return is_remembered ? w->settled : w->sent - PATH_WATCH_PACKETS;
}

usec_t path_watch_overdue_at(const struct path_watch *w)
{
    return w->settled == w->sent ? USEC_NEVER : path_watch_left(w, oldest(w)) + path_watch_bound(w);
}

usec_t path_watch_age(const struct path_watch *w, usec_t now)
{
    return w->settled == w->sent ? 0 : now - path_watch_left(w, oldest(w));
}
