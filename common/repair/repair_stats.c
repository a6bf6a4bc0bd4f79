// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/repair_stats.h"

void repair_stats_media(struct repair_stats *s, size_t bytes, usec_t now)
{
    s->media_packets++;
    s->media_bytes += bytes;
    rate_meter_add(&s->media, bytes, now);
    rate_meter_add(&s->all, bytes, now);
}

void repair_stats_copies(struct repair_stats *s, bool first, int copies, size_t bytes, usec_t now)
{
    s->resent += first;
    s->duplicated += (uint64_t)(copies - first);
    s->repair_bytes += (uint64_t)copies * bytes;
    rate_meter_add(&s->all, (size_t)copies * bytes, now);
}

void repair_stats_parity(struct repair_stats *s, size_t bytes, usec_t now)
{
    s->fec_packets++;
    s->repair_bytes += bytes;
    rate_meter_add(&s->all, bytes, now);
}

void repair_stats_decided(struct repair_stats *s, const struct repair_decision *d)
{
    s->lost += d->reason != REPAIR_UNDER_WAY;
    s->invalidations += d->action == REPAIR_INVALIDATE;
    s->not_resent[d->reason] += d->action == REPAIR_INVALIDATE || d->action == REPAIR_NOTHING;
}

double repair_stats_overhead(const struct repair_stats *s)
{
    return s->media_bytes ? (double)s->repair_bytes / (double)s->media_bytes : 0;
}

double repair_stats_recent_bps(struct repair_stats *s, usec_t now)
{
    double bps = rate_meter_bps(&s->all, now) - rate_meter_bps(&s->media, now);
    return bps > 0 ? bps : 0; // not a number in the first 100 ms
}

double repair_stats_recent_share(struct repair_stats *s, usec_t now)
{
    double media = rate_meter_bps(&s->media, now), all = rate_meter_bps(&s->all, now);
    return all > 0 && media < all ? 1 - media / all : 0; // not a number in the first 100 ms
}
