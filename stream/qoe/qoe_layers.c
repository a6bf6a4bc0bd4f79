// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_layers.h"

void qoe_layers_whole(struct qoe_layers *l, size_t bytes)
{
    l->whole_bytes += bytes;
}

void qoe_layers_picture(struct qoe_layers *l, const struct qoe_picture_layers *e)
{
    l->pictures++;
    l->changes += e->valid && l->last && e->valid != l->last;
    l->last = e->valid ? e->valid : l->last;
    l->valid += (uint64_t)e->valid;
    l->valid_bytes += e->bytes;
}

void qoe_layers_read(const struct qoe_layers *l, double seconds, struct qoe_json *out)
{
    bool any = l->pictures > 0;
    out->layers.pictures = (double)l->pictures;
    out->layers.mean = qoe_ratio((double)l->valid, (double)l->pictures);
    out->layers.changes = any ? (double)l->changes : (double)NAN;
    out->layers.goodput = any ? qoe_ratio((double)l->valid_bytes * 8, seconds) : (double)NAN;
    out->layers.throughput = any ? qoe_ratio((double)l->whole_bytes * 8, seconds) : (double)NAN;
}
