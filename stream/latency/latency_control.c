// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_control.h"

#include <math.h>

#include "stream/qoe/qoe.h"

#define BASE_WINDOW   (2 * USEC_PER_SEC)
#define JITTER_WINDOW (10 * USEC_PER_SEC)
#define JITTER_READ   USEC_PER_SEC
#define MEAN_OF       64.0 // frames, for the means of decoder and display
#define JITTER_PART   0.99

void latency_control_init(struct latency_control *l, const struct latency_control_config *config,
                          usec_t now)
{
    *l = (struct latency_control){.config = *config,
                                  .jitter_since = now,
                                  .jitter_read = now - JITTER_READ,
                                  .steered = now - LATENCY_CONTROL_INTERVAL,
                                  .asked_key = USEC_NEVER};
    windowed_min_init(&l->base, BASE_WINDOW);
    windowed_min_init(&l->encoder, BASE_WINDOW);
    windowed_min_init(&l->transport, BASE_WINDOW);
    hist_init(&l->jitter[0]);
    hist_init(&l->jitter[1]);
    buffer_target_init(&l->goal, now);
    speed_control_init(&l->catch_up, now);
}

void latency_control_set_rtt(struct latency_control *l, usec_t rtt)
{
    l->rtt = rtt;
}

static void add_jitter(struct latency_control *l, usec_t behind, usec_t now)
{
    if (now - l->jitter_since >= JITTER_WINDOW) {
        l->jitter[1] = l->jitter[0];
        hist_init(&l->jitter[0]);
        l->jitter_since = now;
    }
    hist_add(&l->jitter[0], behind);
}

void latency_control_arrived(struct latency_control *l, const struct live_arrival *a, usec_t now)
{
    usec_t offset = now - a->media;
    usec_t base = windowed_min_read(&l->base);
    if (base != USEC_NEVER && offset - base > PLAYOUT_MAX_AHEAD) // another time line
        windowed_min_init(&l->base, BASE_WINDOW);
    windowed_min_add(&l->base, offset, now);
    if (a->encoder != QOE_UNKNOWN)
        windowed_min_add(&l->encoder, a->encoder, now);
    if (a->transport != QOE_UNKNOWN)
        windowed_min_add(&l->transport, a->transport, now);
    if (!l->playing)
        return;
    usec_t behind = offset - windowed_min_read(&l->base);
    if (l->recovering && behind > usec_max(l->jitter_p99, LATENCY_MARGIN))
        return;
    l->recovering = false;
    add_jitter(l, behind, now);
}

void latency_control_shown(struct latency_control *l, usec_t decoder, usec_t behind)
{
    l->decoder += ((double)decoder - l->decoder) / MEAN_OF;
    l->display += ((double)usec_max(behind, 0) - l->display) / MEAN_OF;
}

void latency_control_started(struct latency_control *l, usec_t now)
{
    l->playing = true;
    l->started = now;
    speed_control_rest(&l->catch_up, now);
}

void latency_control_late(struct latency_control *l, usec_t now)
{
    buffer_target_on_late(&l->goal, now);
}

static usec_t lag_at(const struct latency_control *l, const struct playout *p, usec_t now)
{
    return now - windowed_min_read(&l->base) - playout_position(p, now);
}

static void settle(struct latency_control *l, usec_t lag)
{
    if (l->settled || !l->playing)
        return;
    l->settled = true;
    l->start_lag = usec_max(lag, 0);
}

void latency_control_stalled(struct latency_control *l, const struct playout *p, usec_t at,
                             usec_t now)
{
    settle(l, lag_at(l, p, at));
    l->playing = false;
    l->recovering = true;
    buffer_target_on_stall(&l->goal, now);
    speed_control_rest(&l->catch_up, now);
}

void latency_control_resumed(struct latency_control *l, usec_t now)
{
    l->playing = true;
    buffer_target_on_late(&l->goal, now);
}

void latency_control_paused(struct latency_control *l, usec_t now)
{
    l->playing = false;
    speed_control_rest(&l->catch_up, now);
}

static usec_t known_or(const struct windowed_min *w, usec_t otherwise)
{
    usec_t least = windowed_min_read(w);
    return least == USEC_NEVER ? otherwise : usec_max(least, 0);
}

static usec_t jitter_of(const struct hist *h)
{
    double us = hist_quantile_us(h, JITTER_PART);
    return isnan(us) ? 0 : (usec_t)us;
}

static void read_jitter(struct latency_control *l, usec_t now)
{
    if (now - l->jitter_read < JITTER_READ)
        return;
    l->jitter_read = now;
    l->jitter_p99 = usec_max(jitter_of(&l->jitter[0]), jitter_of(&l->jitter[1]));
}

static void divide(struct latency_control *l, usec_t now)
{
    read_jitter(l, now);
    l->parts = (struct latency_parts){.encoder = known_or(&l->encoder, 0),
                                      .transport = known_or(&l->transport, l->rtt / 2),
                                      .jitter = l->jitter_p99,
                                      .decoder = (usec_t)l->decoder,
                                      .display = (usec_t)l->display};
    latency_budget_divide(latency_control_target(l), &l->parts, &l->shares);
    if (l->config.target)
        buffer_target_set(&l->goal, l->shares.buffer, l->shares.floor);
    else
        buffer_target_set(&l->goal, l->start_lag, 0);
}

usec_t latency_control_target(const struct latency_control *l)
{
    if (l->config.target || !l->settled)
        return l->config.target;
    return l->parts.encoder + l->parts.transport + l->start_lag;
}

usec_t latency_control_sender(const struct latency_control *l)
{
    // What caution adds to the buffer is the sender's as well.
    return l->shares.sender + usec_max(0, l->wanted_lag - l->shares.buffer);
}

static void skip(struct latency_control *l, struct playout *p, usec_t goal, struct live_steer *out,
                 usec_t now)
{
    out->skipped = playout_skip(p, goal);
    if (out->skipped) {
        speed_control_skipped(&l->catch_up, now);
    } else if (l->asked_key == USEC_NEVER || now - l->asked_key >= LATENCY_CONTROL_ASK_KEY) {
        out->wants_key = true;
        l->asked_key = now;
    }
}

bool latency_control_steer(struct latency_control *l, struct playout *p, struct live_steer *out,
                           usec_t now)
{
    if (now - l->steered < LATENCY_CONTROL_INTERVAL)
        return false;
    l->steered = now;
    *out = (struct live_steer){.speed = 1};
    if (l->playing && now - l->started >= LATENCY_CONTROL_SETTLE)
        settle(l, lag_at(l, p, now));
    divide(l, now);
    usec_t goal = buffer_target_update(&l->goal, now);
    l->wanted_lag = goal;
    if (l->config.target) {
        // What is held reaches from the first frame to the end of the newest.
        usec_t hold = goal + playout_pts(p, 1) - playout_pts(p, 0);
        playout_set_thresholds(p, l->config.start ? l->config.start : hold, hold);
    }
    if (playout_mode(p) == PLAYOUT_PLAYING && l->playing && (l->config.target || l->settled)) {
        usec_t lag = lag_at(l, p, now);
        usec_t path = l->parts.encoder + l->parts.transport;
        if (speed_control_wants_skip(&l->catch_up, lag - goal,
                                     usec_max(latency_control_target(l), path), now))
            skip(l, p, goal, out, now);
        lag -= out->skipped;
        (void)speed_control_update(&l->catch_up, lag - goal, now);
    }
    playout_set_speed(p, l->catch_up.speed_ppm, now);
    out->speed = (double)l->catch_up.speed_ppm / MEDIA_CLOCK_UNIT;
    return true;
}
