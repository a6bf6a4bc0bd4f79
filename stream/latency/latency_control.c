// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/latency_control.h"

#include "stream/qoe/qoe.h"

#define MEAN_OF 64.0 // frames, for the means of decoder and display

const char *latency_mode_name(enum latency_mode mode)
{
    static const char *const names[] = {[LATENCY_AUTO] = "auto",
                                        [LATENCY_FIXED] = "fixed",
                                        [LATENCY_START] = "start",
                                        [LATENCY_LOW] = "low"};
    return names[mode];
}

void latency_control_init(struct latency_control *l, const struct latency_control_config *config,
                          usec_t now)
{
    *l = (struct latency_control){.config = *config,
                                  .steered = now - LATENCY_CONTROL_INTERVAL,
                                  .asked_key = USEC_NEVER,
                                  .audio = USEC_NEVER};
    arrival_jitter_init(&l->jitter);
    recent_loss_init(&l->losses);
    stream_stalls_init(&l->stalls);
    windowed_min_init(&l->longest, RECENT_LOSS_MEMORY);
    windowed_min_init(&l->encoder, ARRIVAL_JITTER_BASE);
    windowed_min_init(&l->transport, ARRIVAL_JITTER_BASE);
    windowed_min_init(&l->path, ARRIVAL_JITTER_BASE);
    speed_control_init(&l->speed, now);
}

void latency_control_set_rtt(struct latency_control *l, usec_t rtt)
{
    l->rtt = rtt;
}

void latency_control_set_repair(struct latency_control *l, usec_t round)
{
    l->repair = round;
}

void latency_control_set_stream(struct latency_control *l, bool is_stream)
{
    l->is_stream = is_stream;
    stream_stalls_init(&l->stalls);
}

void latency_control_set_audio(struct latency_control *l, usec_t line)
{
    l->audio = line;
}

void latency_control_packet(struct latency_control *l, int64_t ext_seq, usec_t way, usec_t now)
{
    recent_loss_packet(&l->losses, ext_seq, way == QOE_UNKNOWN ? USEC_NEVER : way, now);
}

static usec_t longest_round(const struct latency_control *l)
{
    usec_t negated = windowed_min_read(&l->longest);
    return negated == USEC_NEVER ? 0 : -negated;
}

static bool repairs(const struct latency_control *l, usec_t now)
{
    usec_t memory = usec_max(RECENT_LOSS_MEMORY, LATENCY_CONTROL_ROUNDS * longest_round(l));
    return l->repair > 0 && recent_loss_read(&l->losses, memory, now);
}

static bool waits_for_repair(const struct latency_control *l, usec_t now)
{
    return repairs(l, now) &&
           (recent_loss_is_frequent(&l->losses, now) || longest_round(l) > LATENCY_CONTROL_LATE);
}

void latency_control_arrived(struct latency_control *l, const struct live_arrival *a, usec_t now)
{
    usec_t offset = now - a->media;
    usec_t base = arrival_jitter_base(&l->jitter);
    if (base != USEC_NEVER && offset - base > PLAYOUT_MAX_AHEAD) { // another time line
        arrival_jitter_restart(&l->jitter);
        l->reorder = (struct reorder_delay){0};
    }
    if (!a->in_turn && repairs(l, now))
        arrival_jitter_base_add(&l->jitter, offset, now);
    else
        arrival_jitter_add(&l->jitter, offset, now);
    stream_stalls_frame(&l->stalls, offset, l->rtt, now);
    if (a->in_turn)
        reorder_delay_add(&l->reorder, a->media, offset - arrival_jitter_base(&l->jitter));
    if (a->encoder != QOE_UNKNOWN)
        windowed_min_add(&l->encoder, a->encoder, now);
    if (a->transport != QOE_UNKNOWN)
        windowed_min_add(&l->transport, a->transport, now);
    if (a->encoder != QOE_UNKNOWN && a->transport != QOE_UNKNOWN)
        windowed_min_add(&l->path, a->encoder + a->transport, now);
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
    speed_control_rest(&l->speed, now);
}

void latency_control_paused(struct latency_control *l, usec_t now)
{
    l->playing = false;
    speed_control_rest(&l->speed, now);
}

static usec_t lag_at(const struct latency_control *l, const struct playout *p, usec_t now)
{
    return now - arrival_jitter_base(&l->jitter) - playout_position(p, now);
}

static usec_t known_or(const struct windowed_min *w, usec_t otherwise)
{
    usec_t least = windowed_min_read(w);
    return least == USEC_NEVER ? otherwise : usec_max(least, 0);
}

static void divide(struct latency_control *l, usec_t now)
{
    usec_t encoder = known_or(&l->encoder, 0);
    usec_t path = known_or(&l->path, encoder + known_or(&l->transport, l->rtt / 2));
    usec_t reorder = reorder_delay_read(&l->reorder);
    bool stalls = l->is_stream && stream_stalls_are_frequent(&l->stalls, now);
    arrival_jitter_set_part(&l->jitter, stalls ? LATENCY_CONTROL_STREAM_PART : ARRIVAL_JITTER_PART);
    usec_t jitter = arrival_jitter_read(&l->jitter, now);
    l->parts = (struct latency_parts){
        .encoder = encoder,
        .transport = path - encoder,
        .jitter = reorder ? usec_max(jitter, reorder + LATENCY_TOLERATED) : jitter,
        .repair = waits_for_repair(l, now) ? l->repair : 0,
        .decoder = (usec_t)l->decoder,
        .display = (usec_t)l->display};
    latency_budget_divide(l->config.target, &l->parts, &l->shares);
}

static usec_t audio_needs(const struct latency_control *l)
{
    usec_t base = arrival_jitter_base(&l->jitter);
    if (l->audio == USEC_NEVER || base == USEC_NEVER)
        return 0;
    return usec_min(l->audio - base, LATENCY_CONTROL_AUDIO);
}

static usec_t wait_of(const struct latency_control *l)
{
    usec_t due = l->shares.buffer - l->parts.display;
    switch (l->config.mode) {
    case LATENCY_AUTO:
        return usec_max(due, audio_needs(l));
    case LATENCY_FIXED:
        return usec_max(due - SPEED_CONTROL_DEAD_BAND - LATENCY_MARGIN, l->parts.decoder);
    case LATENCY_START:
        return usec_max(due, l->start_lag);
    case LATENCY_LOW:
        break;
    }
    return 0;
}

usec_t latency_control_target(const struct latency_control *l)
{
    if (l->config.mode == LATENCY_FIXED)
        return l->config.target;
    bool known = l->config.mode == LATENCY_START ? l->settled
                                                 : arrival_jitter_base(&l->jitter) != USEC_NEVER;
    return known ? l->parts.encoder + l->parts.transport + l->wait + l->parts.display : 0;
}

usec_t latency_control_wait(const struct latency_control *l)
{
    return l->wait;
}

usec_t latency_control_sender(const struct latency_control *l)
{
    return l->shares.sender;
}

static void settle(struct latency_control *l, const struct playout *p, usec_t now)
{
    if (l->settled || !l->playing || now - l->started < LATENCY_CONTROL_SETTLE)
        return;
    l->settled = true;
    l->start_lag = usec_max(lag_at(l, p, now), 0);
}

static void skip(struct latency_control *l, struct playout *p, usec_t excess,
                 struct live_steer *out, usec_t now)
{
    out->skipped = playout_skip(p, excess);
    bool held = playout_held(p) >= excess;
    if (!out->skipped && held &&
        (l->asked_key == USEC_NEVER || now - l->asked_key >= LATENCY_CONTROL_ASK_KEY)) {
        out->wants_key = true;
        l->asked_key = now;
    }
}

// Returns the excess that the speed is to remove.
static usec_t step(struct latency_control *l, struct playout *p, usec_t excess,
                   struct live_steer *out, usec_t now)
{
    if (excess > LATENCY_CONTROL_SKIP) {
        skip(l, p, excess, out, now);
        return excess - out->skipped;
    }
    usec_t by = 0; // later
    if (excess < -LATENCY_CONTROL_RAISE)
        by = usec_min(-excess, excess < -LATENCY_CONTROL_ASTRAY ? -excess : LATENCY_CONTROL_STEP);
    else if (excess > LATENCY_CONTROL_RAISE && now - l->started < LATENCY_CONTROL_EARLY)
        by = -usec_min(excess, playout_interval(p) / 2);
    playout_postpone(p, by);
    excess += by;
    return excess;
}

bool latency_control_steer(struct latency_control *l, struct playout *p, struct live_steer *out,
                           usec_t now)
{
    if (now - l->steered < LATENCY_CONTROL_INTERVAL)
        return false;
    l->steered = now;
    *out = (struct live_steer){.speed = 1};
    settle(l, p, now);
    windowed_min_add(&l->longest, -l->repair, now);
    divide(l, now);
    l->wait = wait_of(l);
    // What is held reaches from the first frame to the end of the newest.
    usec_t hold = l->wait + playout_interval(p);
    if (l->config.mode == LATENCY_FIXED)
        playout_set_thresholds(p, l->config.start ? l->config.start : hold, hold);
    else if (l->config.mode == LATENCY_AUTO)
        playout_set_thresholds(p, l->config.start, hold);
    bool steers = l->config.mode == LATENCY_START ? l->settled : l->config.mode != LATENCY_LOW;
    if (steers && playout_mode(p) == PLAYOUT_PLAYING && l->playing) {
        usec_t excess = step(l, p, lag_at(l, p, now) - l->wait, out, now);
        (void)speed_control_update(&l->speed, excess, now);
    }
    playout_set_speed(p, l->speed.speed_ppm, now);
    out->speed = (double)l->speed.speed_ppm / MEDIA_CLOCK_UNIT;
    return true;
}
