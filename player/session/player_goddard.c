// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "player/session/player_state.h"
#include "stream/goddard/goddard_inputs.h"

struct player_goddard {
    struct goddard_inputs feed;
    struct timer *timer; // owned
    bool ready;          // the policy runs
    bool begun;          // PLAY was asked for
    bool told;           // of the capacity
    double capacity_bps; // as told
};

// After the media's end there is nothing left to ask for.
static bool is_on(const struct player *p)
{
    return p->goddard && p->goddard->ready && !p->over && (p->playing || !p->playing_since);
}

// ---- What the policy asks for ----

static void tell_capacity(struct player *p, usec_t now)
{
    struct player_goddard *g = p->goddard;
    double bps = goddard_capacity_bps(&g->feed.policy);
    if (g->told && (isnan(bps) || bps == g->capacity_bps))
        return;
    g->told = true;
    g->capacity_bps = bps;
    qoe_on_capacity(p->qoe, bps);
    trace_capacity(p->events, bps, p->pairs ? "pair" : "media", goddard_inputs_span(&g->feed), now);
}

static void apply(struct player *p, const struct goddard_action *a, usec_t now)
{
    log_info("goddard: %s (%s), level %d, speed %g", goddard_state_name(a->state),
             goddard_reason_name(a->reason), a->level, a->speed);
    if (a->reason == GODDARD_WHY_CAPACITY || a->reason == GODDARD_WHY_NO_CAPACITY)
        tell_capacity(p, now);
    if (a->ask_pair)
        client_ask_pair(p->client, goddard_inputs_ask(&p->goddard->feed), now);
    if (a->level < 0)
        return;
    bool other = a->level != p->wanted_level;
    p->wanted_level = a->level;
    if (other)
        p->asked_why = goddard_reason_name(a->reason);
    if (!p->goddard->begun) {
        p->goddard->begun = true;
        client_begin(p->client, a->level, a->speed, now);
        return;
    }
    if (other)
        client_set_level(p->client, a->level, now);
    client_set_speed(p->client, a->speed, now);
}

static void drive(struct player *p, usec_t now)
{
    struct goddard_action a;
    while (goddard_poll(&p->goddard->feed.policy, &a))
        apply(p, &a, now);
    timer_set(p->goddard->timer, goddard_next_timeout(&p->goddard->feed.policy));
}

static void on_timer(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (!is_on(p))
        return;
    goddard_on_timeout(&p->goddard->feed.policy, now);
    drive(p, now);
}

// ---- What the session tells it ----

void player_goddard_ready(struct player *p, usec_t now)
{
    uint32_t random = 0;
    if (!random_fill(&random, sizeof(random)))
        random = (uint32_t)clock_wall();
    struct goddard_config config = {.ladder = &p->sdp.ladder,
                                    .params = &p->options->goddard,
                                    .probe = p->pairs ? GODDARD_BY_PAIR : GODDARD_BY_MEDIA,
                                    .start_level = p->sdp.ladder.level_count - 1,
                                    .loses_frames = goddard_inputs_loses_frames(p->transport)};
    goddard_inputs_init(&p->goddard->feed, &config, random & INT32_MAX / 2, now);
    goddard_inputs_rtt(&p->goddard->feed, p->rtt);
    p->goddard->ready = true;
    drive(p, now);
}

void player_goddard_pair(struct player *p, const struct capacity_packet *packet, size_t bytes,
                         usec_t arrived, usec_t now)
{
    if (!is_on(p))
        return;
    goddard_inputs_pair(&p->goddard->feed, packet, bytes, arrived, now);
    drive(p, now);
    if (p->goddard->told) // it was given up, and comes now
        tell_capacity(p, now);
}

void player_goddard_no_pair(struct player *p, usec_t now)
{
    if (!is_on(p))
        return;
    goddard_on_no_pair(&p->goddard->feed.policy, now);
    drive(p, now);
}

void player_goddard_packet(struct player *p, const struct rtp_packet *packet, usec_t arrived,
                           usec_t now)
{
    if (!is_on(p))
        return;
    struct goddard_media m = {.number = packet->adu.frame,
                              .reorder = packet->adu.reorder,
                              .level = packet->adu.level,
                              .bytes = packet->payload_len,
                              .arrived = arrived};
    goddard_inputs_media(&p->goddard->feed, &m, now);
    drive(p, now);
}

void player_goddard_whole(struct player *p, int64_t number, usec_t now)
{
    if (!is_on(p))
        return;
    goddard_inputs_whole(&p->goddard->feed, number, presenter_held(p->presenter), now);
    drive(p, now);
}

void player_goddard_empty(void *ctx, usec_t now)
{
    struct player *p = ctx;
    if (!is_on(p))
        return;
    goddard_on_empty(&p->goddard->feed.policy, now);
    drive(p, now);
}

void player_goddard_pause(struct player *p, bool pause, usec_t now)
{
    if (!is_on(p))
        return;
    if (pause)
        goddard_on_pause(&p->goddard->feed.policy, now);
    else
        goddard_inputs_resume(&p->goddard->feed, now);
    drive(p, now);
}

// ---- Life ----

bool player_goddard_open(struct player *p)
{
    p->goddard = calloc(1, sizeof(*p->goddard));
    if (!p->goddard)
        return false;
    p->goddard->timer = timer_new(&p->loop, on_timer, p);
    return p->goddard->timer;
}

void player_goddard_close(struct player *p)
{
    if (!p->goddard)
        return;
    timer_free(p->goddard->timer);
    free(p->goddard);
    p->goddard = NULL;
}
