// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/access_leg.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/net/clock.h"
#include "server/session/frame_sink.h"

// The bridge reads the state of the access. While that is idle, the next frame after
// ACCESS_IDLE_MIN causes it, so that the reading needs no wake-up of its own.
#define ACCESS_EVERY    (20 * USEC_PER_MSEC)
#define ACCESS_IDLE_MIN (50 * USEC_PER_MSEC)
#define ACCESS_IDLE_MAX (250 * USEC_PER_MSEC)
// A capture time further away is not believed.
#define MAX_AGE   (60 * USEC_PER_SEC)
#define MAX_EARLY (10 * USEC_PER_SEC)

struct access_leg {
    struct access_leg_config config;
    struct bridge *bridge;        // owned
    usec_t access_at;             // a frame from then on causes a reading of the access
    usec_t access_limit;          // the timer causes it then
    double held_sum, waiting_sum; // us, of this second: in the bridge, and in the session's queue
    int held_count, waiting_count;
    double delay_ms; // mean from a frame's arrival to its first write, of the last second
    struct level_choice_inputs last; // reading
    double logged_bps;               // the limit that the log knows; 0: none
};

struct access_leg *access_leg_new(const struct access_leg_config *config, usec_t now)
{
    struct access_leg *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    const struct relay_choices *choices = config->choices;
    struct bridge_config bridge = {.ladder = &config->media->ladder,
                                   .is_annexb = config->media->codec != SDP_VP9,
                                   .reflect = choices->reflect,
                                   .target = choices->target,
                                   .blocking = choices->blocking,
                                   .keeps_badput = choices->keeps_badput,
                                   .ops = config->ops,
                                   .ctx = config->ctx};
    l->config = *config;
    l->delay_ms = NAN;
    l->last.adapted = -1;
    l->access_at = l->access_limit = now;
    l->bridge = bridge_new(&bridge, now);
    if (l->bridge)
        return l;
    free(l);
    return NULL;
}

void access_leg_free(struct access_leg *l)
{
    if (!l)
        return;
    bridge_free(l->bridge);
    free(l);
}

struct bridge *access_leg_bridge(struct access_leg *l)
{
    return l->bridge;
}

void access_leg_begin(struct access_leg *l, usec_t now)
{
    l->access_at = l->access_limit = now + ACCESS_EVERY;
}

// The origin was asked for another limit, or for none.
static void log_limit(struct access_leg *l)
{
    struct bridge_stats s;
    bridge_read(l->bridge, &s);
    if (l->config.choices->reflect != REFLECT_LIMIT || s.limit_bps == l->logged_bps)
        return;
    int viewer = l->config.sink->number;
    double kbps = s.limit_bps / 1000;
    if (s.limit_bps <= 0)
        log_debug("viewer %d: its origin is limited no more: the access carries the media", viewer);
    else if (s.reason == REFLECT_BY_QUEUE)
        log_debug(
            "viewer %d: asks its origin for %.0f kbit/s at most: %.0f ms wait for the access, "
            "which carries %.0f kbit/s",
            viewer, kbps, usec_to_msec(s.queue), s.access_bps / 1000);
    else
        log_debug("viewer %d: asks its origin for %.0f kbit/s at most: the adaptation to the "
                  "access leaves no more",
                  viewer, kbps);
    l->logged_bps = s.limit_bps;
}

static void read_access(struct access_leg *l, usec_t now)
{
    struct session_stats s;
    (void)l->config.sink->ops->stats(l->config.sink, &s, now);
    // What waits here found the socket full. A part of the buffer that varies is the kernel's own.
    bool is_full = s.waiting_bytes > 0;
    struct reflect_access access = {
        .waiting = (usec_t)(s.waiting_ms * USEC_PER_MSEC),
        .waiting_bytes = (double)s.waiting_bytes,
        .unsent_bytes = isnan(s.info.unsent_bytes) ? 0 : s.info.unsent_bytes,
        .delivered_bytes = isnan(s.info.delivered_bytes) ? 0 : s.info.delivered_bytes,
        .rtt = isnan(s.info.rtt_ms) ? 0 : (usec_t)(s.info.rtt_ms * USEC_PER_MSEC),
        .carried_bps = s.adaptation.carried_bps,
        .wanted_bps = s.wanted_bps,
        .overhead_bps = s.overhead_bps,
        .free = is_full ? 0 : s.info.buffer_free};
    l->last.follows = s.follows;
    l->last.adapted = s.adaptation.level;
    l->last.capacity_bps = s.adaptation.capacity_bps;
    l->last.waiting = access.waiting;
    l->waiting_sum += (double)access.waiting;
    l->waiting_count++;
    bridge_access(l->bridge, &access, now);
    log_limit(l);
    bool idle = bridge_access_is_idle(l->bridge);
    l->access_at = now + (idle ? ACCESS_IDLE_MIN : ACCESS_EVERY);
    l->access_limit = now + (idle ? ACCESS_IDLE_MAX : ACCESS_EVERY);
}

void access_leg_before_frame(struct access_leg *l, usec_t arrived, usec_t now)
{
    l->held_sum += (double)(now - arrived);
    l->held_count++;
    if (now >= l->access_at) // before the frame: what still waits
        read_access(l, now);
}

void access_leg_read(const struct access_leg *l, struct level_choice_inputs *out)
{
    out->follows = l->last.follows;
    out->adapted = l->last.adapted;
    out->capacity_bps = l->last.capacity_bps;
    out->waiting = l->last.waiting;
}

usec_t access_leg_next_timeout(const struct access_leg *l)
{
    return usec_min(l->access_limit, bridge_next_timeout(l->bridge));
}

void access_leg_on_timeout(struct access_leg *l, usec_t now)
{
    if (now >= l->access_limit)
        read_access(l, now);
    if (now >= bridge_next_timeout(l->bridge))
        bridge_on_timeout(l->bridge, now);
}

void access_leg_second(struct access_leg *l, usec_t rtt)
{
    if (l->held_count && l->waiting_count)
        l->delay_ms = (l->held_sum / l->held_count + l->waiting_sum / l->waiting_count) / 1000;
    l->held_sum = l->waiting_sum = 0;
    l->held_count = l->waiting_count = 0;
    bridge_set_rtt(l->bridge, rtt);
}

void access_leg_info(const struct access_leg *l, struct relay_info *out)
{
    struct bridge_stats bridge;
    bridge_read(l->bridge, &bridge);
    out->proxy_limit_bps = bridge.limit_bps;
    out->proxy_badput_bytes = (double)bridge.badput_bytes;
    out->proxy_delay_ms = l->delay_ms;
}

void access_leg_backbone(const struct upstream *u, struct relay_info *out)
{
    struct upstream_stats s;
    upstream_read(u, &s);
    out->backbone_rtt_ms = s.rtt ? usec_to_msec(s.rtt) : NAN;
    out->backbone_rate_bps = s.rate_bps;
    out->backbone_loss = s.loss;
    out->backbone_delay_ms = s.delay_ms;
    out->backbone_skipped = s.skipped;
}

usec_t access_leg_captured(const struct upstream *u, usec_t capture_wall, usec_t arrived,
                           usec_t now)
{
    usec_t ahead;
    if (!capture_wall || !upstream_wall_ahead(u, &ahead))
        return arrived;
    usec_t captured = capture_wall - ahead - (clock_wall() - clock_now());
    return captured < now - MAX_AGE || captured > now + MAX_EARLY ? arrived : captured;
}

int access_leg_origin_latency(int ms)
{
    return ms > 200 ? ms : 200;
}
