// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stats/stats.h"

#include <assert.h>

const char *const stats_causes[DROP_CAUSES] = {[DROP_DEADLINE] = "deadline",
                                               [DROP_LAYER] = "layer",
                                               [DROP_BROKEN] = "broken",
                                               [DROP_FULL] = "full",
                                               [DROP_FLUSHED] = "flushed"};

uint64_t stats_dropped_by_cause(const struct scheduler_counters *c, enum drop_cause cause)
{
    uint64_t sum = 0;
    for (int layer = 0; layer < SCHEDULER_MAX_LAYERS; layer++)
        sum += c->dropped[cause][layer];
    return sum;
}

uint64_t stats_dropped_by_layer(const struct scheduler_counters *c, int layer)
{
    uint64_t sum = 0;
    for (int cause = 0; cause < DROP_CAUSES; cause++)
        sum += c->dropped[cause][layer];
    return sum;
}

int stats_begin(struct stats_book *book)
{
    for (int i = 0; i < STATS_SESSIONS; i++) {
        if (!book->taken[i]) {
            book->taken[i] = true;
            return i + 1;
        }
    }
    return 0;
}

void stats_end(struct stats_book *book, int transport, const struct session_stats *s)
{
    stats_add(&book->ended, transport, s);
    if (s->number)
        book->taken[s->number - 1] = false;
}

void stats_add(struct total_stats *total, int transport, const struct session_stats *s)
{
    assert(transport >= 0 && transport < STATS_TRANSPORTS);
    struct transport_stats *t = &total->transports[transport];
    t->sessions++;
    t->packets += s->packets;
    t->octets += s->octets;
    t->audio_packets += s->audio_packets;
    t->audio_octets += s->audio_octets;
    total->thinned += s->thinned;
    total->audio_dropped += s->audio_dropped;
    for (int layer = 0; layer < SCHEDULER_MAX_LAYERS; layer++) {
        total->frames.queued[layer] += s->frames.queued[layer];
        total->frames.sent[layer] += s->frames.sent[layer];
        for (int cause = 0; cause < DROP_CAUSES; cause++)
            total->frames.dropped[cause][layer] += s->frames.dropped[cause][layer];
    }
}

struct http_stats stats_http(const struct stats_book *book)
{
    const struct http_stats *a = &book->http, *b = &book->web;
    return (struct http_stats){.is_used = a->is_used || b->is_used,
                               .connections = a->connections + b->connections,
                               .waiting = a->waiting + b->waiting,
                               .requests = a->requests + b->requests,
                               .sent_bytes = a->sent_bytes + b->sent_bytes};
}
