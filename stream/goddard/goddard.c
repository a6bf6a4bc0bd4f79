// SPDX-License-Identifier: GPL-2.0-or-later
// Section numbers refer to the paper named in the header.
#include "stream/goddard/goddard.h"

#include <assert.h>
#include <math.h>

enum { MAX_PATIENCE = 8 };

static usec_t usec_of(double seconds)
{
    return (usec_t)llround(seconds * 1e6);
}

// Returns the policy's own time, which stops while the user pauses: during a pause no media arrives
// and none is missing.
static usec_t own_time(const struct goddard *g, usec_t now)
{
    return (g->paused_at == USEC_NEVER ? now : g->paused_at) - g->paused;
}

static void act(struct goddard *g, enum goddard_reason reason, int from)
{
    bool hasty = g->state != GODDARD_STREAMING;
    g->action = (struct goddard_action){.state = g->state,
                                        .reason = reason,
                                        .level = g->level,
                                        .from = from,
                                        .speed = hasty ? g->params.buf_factor : 1};
    g->pending = true;
}

static void ask(struct goddard *g, usec_t t)
{
    g->tries++;
    g->tried_at = t;
    bool first = g->tries == 1;
    if (g->probe == GODDARD_BY_MEDIA && !first)
        return; // media already arrives
    act(g, GODDARD_WHY_PROBE, -1);
    g->action.ask_pair = g->probe == GODDARD_BY_PAIR;
}

void goddard_init(struct goddard *g, const struct goddard_config *config, usec_t now)
{
    const struct ladder *l = config->ladder;
    bool by_media = config->probe == GODDARD_BY_MEDIA;
    assert(l->level_count > 0 && l->level_count <= LADDER_MAX_LEVELS);
    assert(!by_media || (config->start_level >= 0 && config->start_level < l->level_count));
    *g = (struct goddard){.params = *config->params,
                          .probe = config->probe,
                          .loses_frames = config->loses_frames,
                          .plays_early = config->plays_early,
                          .level_count = l->level_count,
                          .state = GODDARD_PROBE,
                          .level = by_media ? config->start_level : -1,
                          .limit = l->level_count - 1,
                          .capacity_since = now,
                          .patience = 1,
                          .tried = -1,
                          .capacity_bps = INFINITY,
                          .paused_at = USEC_NEVER};
    for (int i = 0; i < l->level_count; i++)
        g->bitrates_bps[i] = l->levels[i].bitrate_bps;
    loss_window_init(&g->monitor, usec_of(config->params->loss_monitor_interval));
    ask(g, now);
}

bool goddard_poll(struct goddard *g, struct goddard_action *out)
{
    if (!g->pending)
        return false;
    g->pending = false;
    *out = g->action;
    return true;
}

// Returns the highest level, up to `top`, with a bitrate below `bps`; the lowest level if there is
// none.
static int level_below(const struct goddard *g, double bps, int top)
{
    int level = top;
    while (level > 0 && g->bitrates_bps[level] >= bps)
        level--;
    return level;
}

static void restart_count(struct goddard *g, usec_t t)
{
    g->decided_at = t;
    loss_window_decided(&g->monitor);
}

static void decide(struct goddard *g, int level, enum goddard_reason reason, usec_t t)
{
    int from = g->level;
    g->level = level;
    restart_count(g, t);
    act(g, reason, from);
}

static void begin_buffering(struct goddard *g, int level, enum goddard_reason reason, usec_t t)
{
    g->state = GODDARD_BUFFERING;
    decide(g, level, reason, t);
}

// ---- The probe ----

usec_t goddard_next_timeout(const struct goddard *g)
{
    if (g->state != GODDARD_PROBE || g->paused_at != USEC_NEVER)
        return USEC_NEVER;
    return g->tried_at + usec_of(g->params.pkp_timeout_interval) + g->paused;
}

static void try_again(struct goddard *g, usec_t t)
{
    // The paper repeats the request without limit. On a path that loses or filters every pair, no
    // picture would ever be shown.
    if (g->tries < GODDARD_TRIES)
        ask(g, t);
    else
        begin_buffering(g, 0, GODDARD_WHY_NO_CAPACITY, t);
}

void goddard_on_timeout(struct goddard *g, usec_t now)
{
    if (now >= goddard_next_timeout(g))
        try_again(g, own_time(g, now));
}

void goddard_on_pair(struct goddard *g, const struct goddard_pair *pair, usec_t now)
{
    usec_t t = own_time(g, now);
    usec_t dispersion = pair->arrived[1] - pair->arrived[0];
    bool probing = g->state == GODDARD_PROBE && g->probe == GODDARD_BY_PAIR;
    if (dispersion < 0 || pair->bytes[1] == 0) {
        if (probing)
            try_again(g, t);
        return;
    }
    if (!probing && isfinite(g->capacity_bps))
        return;
    // Two packets in one tick of the clock: the path is faster than the clock can measure.
    g->capacity_bps = 8.0 * (double)pair->bytes[1] / usec_to_sec(usec_max(dispersion, 1));
    if (probing)
        begin_buffering(g, level_below(g, g->capacity_bps, g->level_count - 1),
                        GODDARD_WHY_CAPACITY, t);
}

void goddard_on_no_pair(struct goddard *g, usec_t now)
{
    if (g->state == GODDARD_PROBE && g->probe == GODDARD_BY_PAIR)
        begin_buffering(g, 0, GODDARD_WHY_NO_CAPACITY, own_time(g, now));
}

void goddard_on_media_rate(struct goddard *g, double bps, usec_t now)
{
    if (g->state != GODDARD_PROBE || g->probe != GODDARD_BY_MEDIA || !(bps > 0))
        return;
    if (bps <= g->bitrates_bps[g->level])
        g->capacity_bps = bps;
    begin_buffering(g, level_below(g, bps, g->level), GODDARD_WHY_CAPACITY, own_time(g, now));
}

// ---- A capacity that is outdated ----

// Returns true if the capacity rules out the next level. Packet pairs measure the path; the first
// media measures what the path had to spare at that time.
static bool is_outdated(const struct goddard *g)
{
    return (g->probe == GODDARD_BY_MEDIA || g->plays_early) && g->level < g->level_count - 1 &&
           g->bitrates_bps[g->level + 1] > g->capacity_bps;
}

// Tries the next level after a while, though the capacity was too small for it.
static void relax_capacity(struct goddard *g, usec_t t)
{
    double wait = g->params.upscale_limit_time_factor * g->params.upscale_interval * g->patience;
    if (g->state != GODDARD_STREAMING || !is_outdated(g) || t - g->capacity_since < usec_of(wait))
        return;
    g->tried = g->level + 1;
    g->capacity_bps = g->bitrates_bps[g->tried];
    g->capacity_since = t;
}

// The level was too much. If it was a trial, the capacity is below it, and the next trial is later.
static void judge_trial(struct goddard *g, usec_t t)
{
    g->capacity_since = t;
    if (g->tried <= 0 || g->level != g->tried)
        return;
    g->capacity_bps = g->bitrates_bps[g->tried] - 1;
    g->patience = g->patience < MAX_PATIENCE ? 2 * g->patience : MAX_PATIENCE;
    g->tried = -1;
}

// ---- The buffer ----

void goddard_on_buffer(struct goddard *g, usec_t held, usec_t now)
{
    (void)now;
    bool buffering = g->state == GODDARD_BUFFERING || g->state == GODDARD_REBUFFERING;
    if (!buffering || held < usec_of(g->params.play_buf_thresh))
        return;
    g->state = GODDARD_STREAMING;
    act(g, GODDARD_WHY_BUFFERED, g->level);
}

// Returns true if playout may run out of frames while the buffer fills, and the last decision had
// time to take effect.
static bool may_run_out(const struct goddard *g, usec_t t)
{
    return g->plays_early && g->state != GODDARD_PROBE &&
           t - g->decided_at >= usec_of(g->params.loss_monitor_interval);
}

void goddard_on_empty(struct goddard *g, usec_t now)
{
    usec_t t = own_time(g, now);
    if (g->state != GODDARD_STREAMING && !may_run_out(g, t))
        return;
    g->state = GODDARD_REBUFFERING;
    g->limit = g->level > 0 ? g->level - 1 : 0;
    g->limit_since = t;
    judge_trial(g, t);
    // Scaling up is limited to "one below the last scale level that caused media re-buffering", so
    // the throughput while the buffer drained cannot select a higher level.
    double bps = loss_window_throughput(&g->monitor, t);
    decide(g, level_below(g, bps, g->level), GODDARD_WHY_REBUFFER, t);
}

void goddard_on_flush(struct goddard *g, usec_t now)
{
    (void)now;
    if (g->state == GODDARD_PROBE)
        return;
    g->state = GODDARD_BUFFERING;
    act(g, GODDARD_WHY_FLUSH, g->level);
}

void goddard_on_pause(struct goddard *g, usec_t now)
{
    if (g->paused_at == USEC_NEVER)
        g->paused_at = now;
}

void goddard_on_resume(struct goddard *g, usec_t now)
{
    if (g->paused_at == USEC_NEVER)
        return;
    g->paused += now - g->paused_at;
    g->paused_at = USEC_NEVER;
}

// ---- Loss ----

static void relax_limit(struct goddard *g, usec_t t)
{
    double wait = g->params.upscale_limit_time_factor * g->params.upscale_interval;
    if (g->limit == g->level_count - 1 || t - g->limit_since < usec_of(wait))
        return;
    g->limit++;
    g->limit_since = t;
}

static bool must_go_down(const struct goddard *g, usec_t t)
{
    return t - g->decided_at >= usec_of(g->params.loss_monitor_interval) &&
           loss_window_loss_lately(&g->monitor, t) > g->params.downscale_frame_loss_rate;
}

// While the buffer fills, a higher level would only delay playout.
static bool may_go_up(const struct goddard *g, usec_t t)
{
    return g->state == GODDARD_STREAMING && g->level < g->limit &&
           t - g->decided_at >= usec_of(g->params.upscale_interval) &&
           loss_window_loss_since_decision(&g->monitor) < g->params.upscale_frame_loss_rate &&
           g->bitrates_bps[g->level + 1] <= g->capacity_bps;
}

void goddard_on_frames(struct goddard *g, const struct goddard_frames *frames, usec_t now)
{
    usec_t t = own_time(g, now);
    loss_window_add(&g->monitor, frames, t);
    if (!g->loses_frames || g->state == GODDARD_PROBE)
        return;
    relax_limit(g, t);
    relax_capacity(g, t);
    if (must_go_down(g, t)) {
        g->limit_since = t;
        judge_trial(g, t);
        if (g->level > 0)
            decide(g, g->level - 1, GODDARD_WHY_LOSS, t);
        else
            restart_count(g, t);
    } else if (may_go_up(g, t)) {
        decide(g, g->level + 1, GODDARD_WHY_UPSCALE, t);
    }
}

// ---- State ----

double goddard_capacity_bps(const struct goddard *g)
{
    return isfinite(g->capacity_bps) ? g->capacity_bps : NAN;
}

const char *goddard_state_name(enum goddard_state state)
{
    static const char *const names[] = {"probe", "buffering", "streaming", "rebuffering"};
    return names[state];
}

const char *goddard_reason_name(enum goddard_reason reason)
{
    static const char *const names[] = {"probe", "capacity", "no-capacity", "buffered",
                                        "loss",  "upscale",  "rebuffer",    "flush"};
    return names[reason];
}
