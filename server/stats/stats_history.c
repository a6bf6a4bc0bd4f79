// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stats/stats_history.h"

#include <assert.h>
#include <string.h>

static void add_session(struct stats_moment *m, const struct session_stats *s)
{
    struct stats_moment_session *out = &m->sessions[m->session_count++];
    *out = (struct stats_moment_session){
        .number = s->number,
        .rate_bps = s->info.rate_bps,
        .delay_ms = s->follows ? s->adaptation.delay_ms : s->waiting_ms,
        .rtt_ms = s->info.rtt_ms,
        .loss = s->info.loss,
        .is_reported = s->info.is_reported,
        .packets = s->info.counts.packets,
        .lost = s->info.counts.lost,
        .has_audio = s->has_audio,
        .audio_octets = s->audio_octets,
    };
    memcpy(out->id, s->id, sizeof(out->id));
}

void stats_history_add(struct stats_history *h, const struct stats *f, double cpu_seconds)
{
    struct stats_moment *m = &h->moments[h->next];
    h->next = (h->next + 1) % STATS_MOMENTS;
    if (h->count < STATS_MOMENTS)
        h->count++;
    m->age = f->age;
    m->cpu_seconds = cpu_seconds;
    m->octets = 0;
    for (int i = 0; i < f->transport_count; i++)
        m->octets += f->total.transports[i].octets + f->total.transports[i].audio_octets;
    for (int i = 0; i < DROP_CAUSES; i++)
        m->dropped[i] = stats_dropped_by_cause(&f->total.frames, (enum drop_cause)i);
    m->thinned = f->total.thinned;
    m->overload = f->total.overload;
    m->audio_dropped = f->total.audio_dropped;
    m->session_count = 0;
    for (int i = 0; i < f->session_count; i++)
        add_session(m, &f->sessions[i]);
}

const struct stats_moment *stats_history_at(const struct stats_history *h, int i)
{
    assert(i >= 0 && i < h->count);
    return &h->moments[(h->next - h->count + i + STATS_MOMENTS) % STATS_MOMENTS];
}
