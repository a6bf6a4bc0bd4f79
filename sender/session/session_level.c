// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <math.h>

#include "common/base/err.h"
#include "sender/session/session_state.h"

enum {
    PEAK_FACTOR_X2 = 5, // a picture stream's frames may leave at 2.5 times its mean rate: a key
                        // frame is many times the mean frame
    MAX_GAP = 1000,     // frames
};

void session_set_media_rate(struct session *s, usec_t now)
{
    if (!s->transport->ops->on_media_rate)
        return;
    double bps = session_level_now(s)->bitrate_bps * s->speed;
    bps = session_is_greedy(s) ? bps : bps / 2 * PEAK_FACTOR_X2;
    s->transport->ops->on_media_rate(s->transport, bps < INT_MAX ? (int)bps : INT_MAX, now);
}

bool session_is_leaned_on(const struct session *s, int size_id, int temporal_id)
{
    int layers = session_ladder(s)->sizes[size_id].layers;
    return layers == 1 || temporal_id < layers - 1;
}

void session_reap(struct session *s)
{
    struct scheduler_frame f;
    enum drop_cause cause;
    while (scheduler_dropped(&s->scheduler, &f, &cause)) {
        struct coded_frame *frame = f.data;
        if (frame == s->leaving) { // its rest went with it
            s->leaving = NULL;
            s->has_packet = false;
        }
        if (s->watching && s->config.stream->engine && cause != DROP_FLUSHED &&
            cause != DROP_BROKEN && session_is_leaned_on(s, frame->size_id, f.temporal_id))
            live_feed_repair(s->config.stream->engine, frame->size_id, f.number, s->number);
        coded_frame_unref(frame);
    }
}

void session_watch_size(struct session *s, int size_id, int change)
{
    if (s->config.audio_only && !s->stored) // whose feed gives both
        return;
    if (s->feed)
        synthetic_feed_watch(s->feed, size_id, change);
    else if (s->stored)
        stored_feed_watch(s->stored, size_id, change);
    else if (!session_is_filler(s))
        live_feed_watch(s->config.stream->engine, size_id, s->number, change);
}

// The encoder's rate of `size_id` is this session's from now on, and that of no other; -1: of none.
static void steer(struct session *s, int size_id, int bitrate_bps)
{
    struct live_feed *engine = s->config.stream->engine;
    if (s->steered >= 0 && s->steered != size_id)
        live_feed_set_bitrate(engine, s->steered, 0);
    if (size_id >= 0)
        live_feed_set_bitrate(engine, size_id, bitrate_bps);
    s->steered = size_id;
}

void session_unwatch(struct session *s)
{
    if (!s->watching)
        return;
    s->watching = false;
    session_hear(s, false);
    steer(s, -1, 0);
    rate_estimator_restart(&s->adaptation.rate);
    session_watch_size(s, s->size_id, -1);
    if (s->wanted_size != s->size_id)
        session_watch_size(s, s->wanted_size, -1);
}

static void serve_level(struct session *s, int level, usec_t now)
{
    if (level == s->level)
        return;
    int before = s->wanted_size;
    s->level = level;
    s->wanted_size = session_level_now(s)->size_id;
    session_set_media_rate(s, now);
    if (!s->watching)
        return;
    // The old size is watched until the new one's key frame comes; a size asked for in between is
    // let go.
    if (s->wanted_size != before) {
        if (s->wanted_size != s->size_id)
            session_watch_size(s, s->wanted_size, +1);
        if (before != s->size_id)
            session_watch_size(s, before, -1);
    }
}

int session_set_level(struct session *s, int level, usec_t now)
{
    if (level < 0 || level >= session_ladder(s)->level_count)
        return ERR_RANGE;
    adaptation_set_cap(&s->adaptation, level);
    serve_level(s, s->follows ? s->adaptation.level : level, now);
    return 0;
}

bool session_can_follow(const struct session *s)
{
    return s->config.stream->engine && s->transport->kind->measures;
}

void session_set_follows(struct session *s, bool follows, usec_t now)
{
    s->follows = follows && session_can_follow(s);
    if (s->follows)
        return;
    steer(s, -1, 0);
    serve_level(s, s->adaptation.cap, now);
}

int session_level(const struct session *s)
{
    return s->level;
}

// Does what the network's state calls for; about every frame.
static void follow(struct session *s, usec_t now)
{
    struct transport_info info;
    session_info(s, &info, now);
    if (isnan(info.delivered_bytes))
        return;
    // A smoothed one lags behind queues; the kernel's, taken of each ACK, does so little.
    double rtt_ms = isnan(info.latest_rtt_ms) ? info.rtt_ms : info.latest_rtt_ms;
    struct rate_estimator_sample sample = {
        .delivered = info.delivered_bytes,
        .made = s->made,
        .unsent = isnan(info.unsent_bytes) ? 0 : info.unsent_bytes,
        .allowed_bps = s->transport->kind->responsive ? info.allowed_bps : NAN,
        .rtt = isnan(rtt_ms) ? 0 : (usec_t)(rtt_ms * USEC_PER_MSEC),
        .waiting = scheduler_waiting(&s->scheduler, now),
    };
    bool alone = s->config.stream->playing == 1;
    if (!adaptation_update(&s->adaptation, &sample, alone, now))
        return;
    serve_level(s, s->adaptation.level, now);
    if (s->adaptation.encoder_bps)
        steer(s, s->wanted_size, s->adaptation.encoder_bps);
    else
        steer(s, -1, 0);
}

// The wanted size begins with this key frame: nothing of the old size from here on.
static void switch_size(struct session *s, const struct coded_frame *f)
{
    session_watch_size(s, s->size_id, -1);
    s->size_id = f->size_id;
    scheduler_flush(&s->scheduler, f->number);
    session_reap(s);
    scheduler_set_layers(&s->scheduler, session_ladder(s)->sizes[s->size_id].layers);
    s->newest = f->number - 1;
}

// Frames of the level between the newest and this one never came from the encoder.
static void count_uncoded(struct session *s, int64_t number)
{
    if (s->size_id != s->wanted_size)
        return;
    int64_t from = number - s->newest > MAX_GAP ? number - MAX_GAP : s->newest + 1;
    for (int64_t n = from; n < number; n++)
        s->uncoded += level_has_frame(session_ladder(s), s->level, n);
}

uint64_t session_skipped(const struct session *s)
{
    uint64_t skipped = s->uncoded + s->thinned;
    for (int cause = 0; cause < DROP_CAUSES; cause++)
        for (int layer = 0; cause != DROP_FLUSHED && layer < SCHEDULER_MAX_LAYERS; layer++)
            skipped += s->scheduler.counters.dropped[cause][layer];
    return skipped;
}

static bool has_begun(struct session *s, const struct coded_frame *f)
{
    // Others watched on while this viewer paused.
    if (!s->stored && f->depends_on > s->newest)
        s->waiting_key = true;
    if (!s->waiting_key || f->key)
        return true;
    // The key frame that was asked for may have come before the place that is waited for.
    if (s->from > 0 && f->temporal_id == 0 && s->config.stream->engine)
        live_feed_begin(s->config.stream->engine, s->size_id, s->number, s->from);
    return false;
}

static void send_frame(struct session *s, struct coded_frame *f, usec_t now)
{
    s->made +=
        (double)(f->bytes + (f->bytes / s->transport->max_packet + 1) * SESSION_PACKET_HEADERS);
    struct scheduler_frame entry = {
        .number = f->number,
        .depends_on = f->depends_on,
        .temporal_id = f->temporal_id,
        .captured = f->captured,
        .bytes = f->bytes,
        .level = s->sent_level,
        .data = coded_frame_ref(f),
    };
    scheduler_push(&s->scheduler, &entry, now);
    session_reap(s);
    session_pump(s, now);
}

void session_on_frame(struct session *s, struct coded_frame *f, usec_t now)
{
    if (!s->watching || session_is_filler(s) || s->config.audio_only || f->number < s->from)
        return;
    if (f->size_id == s->wanted_size && s->size_id != s->wanted_size && f->key)
        switch_size(s, f);
    if (f->size_id != s->size_id || !has_begun(s, f))
        return;
    if (!s->waiting_key && !s->stored)
        count_uncoded(s, f->number);
    s->waiting_key = false;
    s->newest = f->number;
    if (s->follows)
        follow(s, now);
    // More layers from a base frame on only: before it they lean on what was left out. While
    // another size is awaited, the old one goes on at its level.
    // Stored frames of a higher layer are decoded in the order of that frame's, though some are
    // shown before it: their level begins and ends with it.
    bool may_change = !s->stored || f->temporal_id == 0;
    if (s->size_id == s->wanted_size && may_change)
        s->sent_level = s->level;
    int whole = session_ladder(s)->levels[s->sent_level].temporal_id;
    int top = s->follows && s->adaptation.top < whole ? s->adaptation.top : whole;
    if (f->temporal_id == 0 || (top < s->top && may_change))
        s->top = top;
    if (f->temporal_id > s->top) {
        s->thinned += f->temporal_id <= whole && top < whole;
        return;
    }
    send_frame(s, f, now);
}

void session_on_again(struct session *s, struct coded_frame *f, usec_t now)
{
    if (s->watching && f->size_id == s->size_id && f->temporal_id <= s->top)
        send_frame(s, f, now);
}
