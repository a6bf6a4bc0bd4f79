// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>

#include "stream/qoe/qoe_state.h"

#define MAX_LATENCY (30 * USEC_PER_SEC)

const char *qoe_ended_text(enum qoe_ended ended)
{
    static const char *const texts[] = {
        [QOE_END_OF_MEDIA] = "end-of-media",
        [QOE_DURATION] = "duration",
        [QOE_INTERRUPTED] = "interrupted",
        [QOE_SERVER_LOST] = "server-lost",
        [QOE_ERROR] = "error",
    };
    return texts[ended];
}

struct qoe *qoe_new(const char *url, usec_t started_wall, usec_t now)
{
    struct qoe *q = calloc(1, sizeof(*q));
    if (!q)
        return NULL;
    q->started = now;
    q->started_wall = started_wall;
    snprintf(q->url, sizeof(q->url), "%s", url);
    q->connected = QOE_UNKNOWN;
    q->playing = QOE_UNKNOWN;
    q->sender_skipped = NAN;
    q->capacity = NAN;
    frame_jitter_init(&q->jitter);
    struct hist *hists[] = {&q->protocol,     &q->frame,          &q->display,
                            &q->part_encoder, &q->part_transport, &q->part_buffer,
                            &q->part_decoder, &q->part_display,   &q->rtt,
                            &q->seek_wait,    &q->spent_encoder,  &q->spent_transport};
    for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++)
        hist_init(hists[i]);
    return q;
}

void qoe_free(struct qoe *q)
{
    free(q);
}

static void span_add(struct span *s, usec_t at)
{
    if (s->count++ == 0)
        s->first = at;
    s->last = at;
}

static void add_known(struct hist *h, usec_t value)
{
    if (value != QOE_UNKNOWN)
        hist_add(h, value);
}

static usec_t active(const struct qoe *q, usec_t at)
{
    return active_time_read(&q->pauses, at);
}

void qoe_on_connected(struct qoe *q, usec_t now)
{
    if (!q->has_ended && q->connected == QOE_UNKNOWN)
        q->connected = now;
}

void qoe_on_setup(struct qoe *q, const struct qoe_setup *e, usec_t now)
{
    if (q->has_ended)
        return;
    level_time_count(&q->levels, &q->ladder, active(q, now));
    snprintf(q->transport, sizeof(q->transport), "%s", e->transport);
    snprintf(q->why, sizeof(q->why), "%s", e->why);
    snprintf(q->source, sizeof(q->source), "%s", e->source);
    q->ladder = *e->ladder;
    q->frames = e->frames;
}

void qoe_on_reconnect(struct qoe *q)
{
    if (q->has_ended)
        return;
    q->reconnects++;
    if (!isnan(q->sender_skipped))
        q->before.sender_skipped = q->sender_skipped;
    q->before.totals = q->totals;
    q->before.receiver = q->receiver;
    frame_jitter_break(&q->jitter, &q->ladder);
    freeze_account_renumber(&q->freezes);
}

void qoe_on_start(struct qoe *q, usec_t now)
{
    if (q->has_ended || q->playing != QOE_UNKNOWN)
        return;
    q->playing = now;
    speed_meter_start(&q->speed, active(q, now));
}

void qoe_on_speed(struct qoe *q, double speed, usec_t now)
{
    if (!q->has_ended)
        speed_meter_set(&q->speed, speed, active(q, now));
}

void qoe_on_skip(struct qoe *q)
{
    q->skips += !q->has_ended;
}

void qoe_on_budget(struct qoe *q, const struct qoe_budget *e)
{
    if (q->has_ended)
        return;
    q->has_budget = true;
    q->budget = *e;
}

void qoe_on_packet(struct qoe *q, const struct qoe_packet *e, usec_t now)
{
    if (q->has_ended)
        return;
    span_add(&q->packets, now);
    q->packet_bytes += e->bytes;
    if (e->latency == QOE_UNKNOWN)
        return;
    hist_add(&q->protocol, e->latency);
    q->within_200 += e->latency <= 200 * USEC_PER_MSEC;
    q->within_500 += e->latency <= 500 * USEC_PER_MSEC;
}

void qoe_on_frame(struct qoe *q, const struct qoe_frame *e, usec_t now)
{
    if (q->has_ended || e->number < 0)
        return;
    q->frames_received++;
    struct frame_arrival arrival = {.number = e->number, .level = e->level, .at = now};
    frame_jitter_add(&q->jitter, &q->ladder, arrival);
    add_known(&q->frame, e->latency);
    add_known(&q->part_encoder, e->encoder);
    add_known(&q->part_transport, e->transport);
    if (q->frames)
        return;
    q->good_bytes += e->bytes;
    level_time_show(&q->levels, &q->ladder, e->level, active(q, now));
}

static usec_t level_interval(const struct qoe *q, int level)
{
    if (ladder_has_level(&q->ladder, level))
        return (usec_t)(1e6 / level_frame_rate(&q->ladder, level));
    return q->ladder.source_fps.num > 0 ? (usec_t)(1e6 / fps_value(q->ladder.source_fps)) : 0;
}

const struct qoe_freeze_entry *qoe_on_shown(struct qoe *q, const struct qoe_shown *e, usec_t now)
{
    if (q->has_ended)
        return NULL;
    if (q->shown.count == 0)
        q->wall_since = active(q, now);
    span_add(&q->shown, now);
    q->good_bytes += e->bytes;
    if (ladder_has_level(&q->ladder, e->level))
        q->media += 1 / level_frame_rate(&q->ladder, e->level);
    else if (q->ladder.source_fps.num > 0)
        q->media += 1 / fps_value(q->ladder.source_fps);
    add_known(&q->display, e->latency);
    add_known(&q->part_buffer, e->buffer);
    add_known(&q->part_decoder, e->decoder);
    add_known(&q->part_display, e->display);
    add_known(&q->spent_encoder, e->encoder);
    add_known(&q->spent_transport, e->transport);
    level_time_show(&q->levels, &q->ladder, e->level, active(q, now));
    q->newest_active = active(q, now);
    struct freeze_picture picture = {.number = e->number,
                                     .interval = usec_max(e->interval, level_interval(q, e->level)),
                                     .at_seconds = qoe_since_start(q, now),
                                     .known = e->gap_known,
                                     .why = e->gap};
    return freeze_account_shown(&q->freezes, &picture, &q->pauses, now);
}

void qoe_on_missing(struct qoe *q, enum freeze_cause why)
{
    if (!q->has_ended)
        freeze_account_missing(&q->freezes, why);
}

void qoe_on_live_end(struct qoe *q, const struct qoe_media_edge *e)
{
    if (q->has_ended)
        return;
    q->live_ended = true;
    q->live_end = *e;
    q->live_end_active = q->newest_active + e->shown - q->shown.last;
}

// Frames of `interval` that fill `time`.
static uint64_t frames_in(usec_t time, usec_t interval)
{
    return time > 0 && interval > 0 ? (uint64_t)((time + interval / 2) / interval) : 0;
}

uint64_t qoe_on_live_begin(struct qoe *q, const struct qoe_media_edge *e)
{
    if (q->has_ended || !q->live_ended)
        return 0;
    const struct qoe_media_edge *end = &q->live_end;
    q->live_ended = false;
    usec_t gap = e->shown - end->shown;
    usec_t media = gap;
    if (e->captured != QOE_UNKNOWN && end->captured != QOE_UNKNOWN)
        media = e->captured - end->captured;
    // Another server may have another clock: then the viewer's tells.
    if (media > gap + MAX_LATENCY || media < gap - MAX_LATENCY)
        media = gap;
    usec_t interval = level_interval(q, end->level);
    usec_t paused = usec_max(0, gap - usec_max(0, active(q, e->shown) - q->live_end_active));
    uint64_t missed = frames_in(media - paused, interval);
    q->outage_frames += missed;
    return missed;
}

void qoe_on_lost(struct qoe *q)
{
    q->frames_lost += !q->has_ended;
}

void qoe_on_late(struct qoe *q)
{
    q->frames_late += !q->has_ended;
}

void qoe_on_skipped(struct qoe *q)
{
    q->frames_skipped += !q->has_ended;
}

void qoe_on_undecodable(struct qoe *q)
{
    q->frames_undecodable += !q->has_ended;
}

void qoe_on_sender_skipped(struct qoe *q, uint64_t total)
{
    if (!q->has_ended)
        q->sender_skipped = q->before.sender_skipped + (double)total;
}

void qoe_on_frames(struct qoe *q, const struct frame_totals *e)
{
    if (q->has_ended)
        return;
    q->totals = q->before.totals;
    frame_totals_add(&q->totals, e);
}

void qoe_on_stall_begin(struct qoe *q, enum stall_cause cause, usec_t at)
{
    if (q->has_ended)
        return;
    stall_account_begin(&q->stalls, cause, qoe_since_start(q, at), &q->pauses, at);
    freeze_account_stall_begin(&q->freezes, cause, &q->pauses, at);
}

void qoe_on_stall_end(struct qoe *q, enum stall_cause cause, usec_t at)
{
    if (q->has_ended)
        return;
    stall_account_end(&q->stalls, cause, &q->pauses, at);
    freeze_account_stall_end(&q->freezes, cause, &q->pauses, at);
}

void qoe_on_pause(struct qoe *q, bool paused, usec_t now)
{
    if (!q->has_ended && active_time_set(&q->pauses, paused, now))
        frame_jitter_break(&q->jitter, &q->ladder);
}

const struct qoe_freeze_entry *qoe_on_rebuffer(struct qoe *q, usec_t now)
{
    return q->has_ended ? NULL : freeze_account_break(&q->freezes, 0, &q->pauses, now);
}

const struct qoe_freeze_entry *qoe_on_seek(struct qoe *q, int64_t number, usec_t now)
{
    if (q->has_ended)
        return NULL;
    q->seeks++;
    frame_jitter_break(&q->jitter, &q->ladder);
    return freeze_account_break(&q->freezes, number, &q->pauses, now);
}

void qoe_on_seek_shown(struct qoe *q, usec_t wait)
{
    if (!q->has_ended)
        hist_add(&q->seek_wait, wait);
}

void qoe_on_switch(struct qoe *q, const struct qoe_switch *e, usec_t now)
{
    if (q->has_ended)
        return;
    if (q->switches < QOE_MAX_LIST)
        q->switch_list[q->switches] =
            (struct qoe_switch_entry){qoe_since_start(q, now), e->from, e->to, e->why};
    q->switches++;
}

void qoe_on_transport(struct qoe *q, const struct qoe_transport *e)
{
    if (!q->has_ended && isfinite(e->rtt))
        hist_add(&q->rtt, (usec_t)llround(e->rtt * 1e6));
}

void qoe_on_capacity(struct qoe *q, double bps)
{
    if (!q->has_ended)
        q->capacity = bps;
}

void qoe_on_receiver(struct qoe *q, const struct qoe_receiver *e)
{
    if (q->has_ended)
        return;
    const struct qoe_receiver *b = &q->before.receiver;
    bool marks = e->ecn_marked >= 0 && b->ecn_marked >= 0;
    q->has_receiver = true;
    q->receiver = (struct qoe_receiver){.expected = b->expected + e->expected,
                                        .lost = b->lost + e->lost,
                                        .reordered = b->reordered + e->reordered,
                                        .loss_events = b->loss_events + e->loss_events,
                                        .ecn_marked = marks ? b->ecn_marked + e->ecn_marked : -1};
}

void qoe_on_picture(struct qoe *q, double mse_y, double ssim_y)
{
    if (q->has_ended || !isfinite(mse_y) || !isfinite(ssim_y))
        return;
    q->compared++;
    q->mse_sum += mse_y;
    q->ssim_sum += ssim_y;
}

void qoe_on_pictures_skipped(struct qoe *q, uint64_t total)
{
    if (!q->has_ended)
        q->pictures_skipped = total;
}

void qoe_on_clock(struct qoe *q, const struct qoe_clock *e)
{
    if (q->has_ended)
        return;
    q->has_clock = true;
    q->clock = *e;
}

void qoe_on_cpu(struct qoe *q, const struct qoe_cpu *e)
{
    if (q->has_ended)
        return;
    q->has_cpu = true;
    q->cpu = *e;
}

void qoe_on_audio(struct qoe *q, const struct qoe_audio *e)
{
    if (q->has_ended)
        return;
    q->has_audio = true;
    q->audio = *e;
}

const struct qoe_freeze_entry *qoe_on_ended(struct qoe *q, enum qoe_ended ended, const char *error,
                                            usec_t now)
{
    if (q->has_ended)
        return NULL;
    qoe_on_stall_end(q, q->stalls.cause, now);
    q->has_ended = true;
    q->ended = ended;
    q->ended_at = now;
    q->has_error = error != NULL;
    snprintf(q->error, sizeof(q->error), "%s", error ? error : "");
    return freeze_account_end(&q->freezes, ended == QOE_END_OF_MEDIA, &q->pauses, now);
}
