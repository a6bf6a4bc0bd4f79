// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_cluster.h"

bool record_cluster_ends_before(const struct record_cluster *c, usec_t time, bool key)
{
    return c->packets && (key || time - c->first >= RECORD_CLUSTER_SPAN);
}

void record_cluster_add(struct record_cluster *c, usec_t time, size_t bytes, usec_t now)
{
    if (c->packets == 0) {
        c->first = time;
        c->begun = now;
    }
    c->packets++;
    c->bytes += bytes;
}

bool record_cluster_is_due(const struct record_cluster *c, usec_t now)
{
    return c->packets == RECORD_CLUSTER_PACKETS || c->bytes >= RECORD_CLUSTER_BYTES ||
           now >= record_cluster_next_timeout(c);
}

usec_t record_cluster_next_timeout(const struct record_cluster *c)
{
    return c->packets ? c->begun + RECORD_CLUSTER_WAIT : USEC_NEVER;
}
