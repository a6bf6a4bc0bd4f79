// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hist.h"
#include "media/picture/quality.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/frame_jitter.h"
#include "stream/qoe/freeze_account.h"
#include "stream/qoe/level_time.h"
#include "stream/qoe/speed_meter.h"
#include "stream/qoe/stall_account.h"

struct qoe_counts {
    double sender_skipped;
    struct frame_totals totals;
    struct qoe_receiver receiver;
};

struct span { // of time; count == 0: nothing happened
    uint64_t count;
    usec_t first;
    usec_t last;
};

struct qoe {
    usec_t started;
    usec_t started_wall;
    char url[QOE_MAX_TEXT];
    char transport[QOE_MAX_TEXT];
    char why[2 * QOE_MAX_TEXT];
    char source[QOE_MAX_TEXT];
    char error[QOE_MAX_TEXT];
    bool has_error;
    bool has_ended;
    enum qoe_ended ended;
    usec_t ended_at;
    bool frames;
    struct ladder ladder;

    usec_t connected; // QOE_UNKNOWN
    usec_t playing;   // QOE_UNKNOWN
    struct span shown;
    usec_t wall_since; // by `pauses`, at the first picture
    double media;      // seconds
    uint64_t frames_received;
    uint64_t frames_lost;
    uint64_t frames_late;
    uint64_t frames_undecodable;
    uint64_t frames_skipped;
    double sender_skipped;
    struct frame_totals totals;
    uint64_t reconnects;
    struct qoe_counts before; // of the connections before this one

    struct speed_meter speed; // by `pauses`
    uint64_t skips;
    bool has_budget;
    struct qoe_budget budget;

    struct active_time pauses;

    uint64_t seeks;
    struct hist seek_wait;

    struct stall_account stalls;
    struct freeze_account freezes;
    bool live_ended; // a connection, while its media was live
    struct qoe_media_edge live_end;
    usec_t live_end_active; // its `shown`, by `pauses`
    usec_t newest_active;   // the last picture's time, by `pauses`
    uint64_t outage_frames;
    uint64_t switches;
    struct qoe_switch_entry switch_list[QOE_MAX_LIST];

    struct level_time levels;

    struct frame_jitter jitter;
    struct hist protocol;
    uint64_t within_200;
    uint64_t within_500;
    struct hist frame;
    struct hist display;
    struct hist part_encoder;
    struct hist part_transport;
    struct hist spent_encoder; // of frames shown alone, as the parts below
    struct hist spent_transport;
    struct hist part_buffer;
    struct hist part_decoder;
    struct hist part_display;
    struct hist rtt;
    bool has_clock;
    struct qoe_clock clock;

    struct span packets;
    uint64_t packet_bytes;
    uint64_t good_bytes;
    bool has_receiver;
    struct qoe_receiver receiver;
    double capacity;
    uint64_t compared;
    uint64_t pictures_skipped;
    double mse_sum;
    double ssim_sum;
    bool has_audio;
    struct qoe_audio audio;
    bool has_cpu;
    struct qoe_cpu cpu;
};

// Seconds of the session; NaN: QOE_UNKNOWN.
static double qoe_since_start(const struct qoe *q, usec_t at)
{
    return at == QOE_UNKNOWN ? NAN : usec_to_sec(at - q->started);
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static struct qoe_quantiles quantiles(const struct hist *h)
{
    return (struct qoe_quantiles){
        .count = (double)h->count,
        .mean = hist_mean_us(h) / 1e3,
        .stddev = hist_stddev_us(h) / 1e3,
        .p50 = hist_quantile_us(h, 0.50) / 1e3,
        .p95 = hist_quantile_us(h, 0.95) / 1e3,
        .p99 = hist_quantile_us(h, 0.99) / 1e3,
        .max = hist_max_us(h) / 1e3,
    };
}

static void report_causes(const struct qoe *q, struct qoe_json *out)
{
    out->causes.expected = (double)q->totals.expected;
    out->causes.shown = (double)q->totals.shown;
    for (int c = 0; c < FRAME_CAUSES; c++) {
        out->causes.by_cause[c] = (double)q->totals.by_cause[c];
        out->causes.by_root[c] = (double)q->totals.by_root[c];
    }
    out->causes.expected += (double)q->outage_frames;
    out->causes.by_cause[CAUSE_OUTAGE] += (double)q->outage_frames;
    out->causes.by_root[CAUSE_OUTAGE] += (double)q->outage_frames;
}

static void report_playback(struct qoe *q, struct qoe_json *out, usec_t now)
{
    out->playback.media = out->playback.wall = out->playback.frames_received =
        out->playback.frames_played = out->playback.frames_lost = out->playback.frames_late =
            out->playback.frames_undecodable = out->playback.frames_skipped =
                out->playback.frame_rate = NAN;
    out->playback.frames_skipped_by_sender = q->sender_skipped;
    out->rebuffering.count = out->rebuffering.total = out->rebuffering.ratio = NAN;
    out->freezes.count = out->freezes.total = out->freezes.ratio = out->freezes.longest = NAN;
    out->causes.expected = NAN; // so are the others
    if (!q->frames)
        return;
    double wall = q->shown.count > 0 ? active_time_seconds(&q->pauses, q->wall_since, now) : NAN;
    out->playback.media = q->media;
    out->playback.wall = wall;
    out->playback.frames_received = (double)q->frames_received;
    out->playback.frames_played = (double)q->shown.count;
    out->playback.frames_lost = (double)q->frames_lost;
    out->playback.frames_late = (double)q->frames_late;
    out->playback.frames_undecodable = (double)q->frames_undecodable;
    out->playback.frames_skipped = (double)q->frames_skipped;
    out->playback.frame_rate = ratio((double)q->shown.count, wall);
    stall_account_read(&q->stalls, &out->rebuffering, &q->pauses, now);
    out->rebuffering.ratio = ratio(out->rebuffering.total, wall);
    freeze_account_read(&q->freezes, &out->freezes, &q->pauses, now);
    out->freezes.ratio = ratio(out->freezes.total, wall);
    report_causes(q, out);
}

static void report_speed(const struct qoe *q, struct qoe_json *out, usec_t now)
{
    out->playback.speed.mean =
        q->frames ? speed_meter_mean(&q->speed, active_time_read(&q->pauses, now)) : NAN;
    out->playback.speed.min = q->frames ? speed_meter_least(&q->speed) : NAN;
    out->playback.speed.max = q->frames ? speed_meter_most(&q->speed) : NAN;
    out->playback.skips = q->frames ? (double)q->skips : NAN;
}

static void report_levels(struct qoe *q, struct qoe_json *out, usec_t now)
{
    level_time_count(&q->levels, &q->ladder, active_time_read(&q->pauses, now));
    const double *time_at = q->levels.seconds;
    double time = 0;
    double level_time = 0;
    double rate_time = 0;
    for (int l = 0; l < q->ladder.level_count; l++) {
        time += time_at[l];
        level_time += l * time_at[l];
        rate_time += level_frame_rate(&q->ladder, l) * time_at[l];
        out->levels.time_at[l] = time_at[l];
        out->levels.bitrates[l] = q->ladder.levels[l].bitrate_bps;
    }
    out->levels.count = q->ladder.level_count;
    out->levels.mean = ratio(level_time, time);
    out->playback.encoded_frame_rate = q->frames ? ratio(rate_time, time) : NAN;
    out->levels.switch_count = (double)q->switches;
    out->levels.listed = (int)(q->switches < QOE_MAX_LIST ? q->switches : QOE_MAX_LIST);
    out->levels.switches = q->switch_list;
}

static void report_latency(const struct qoe *q, struct qoe_json *out)
{
    struct frame_jitter j = q->jitter; // a copy: the session continues
    frame_jitter_break(&j, &q->ladder);
    out->jitter = quantiles(&j.hist);
    double samples = (double)q->protocol.count;
    out->latency.protocol = quantiles(&q->protocol);
    out->latency.d200 = ratio((double)q->within_200, samples);
    out->latency.d500 = ratio((double)q->within_500, samples);
    out->latency.samples = samples;
    out->latency.frame = quantiles(&q->frame);
    out->latency.display = quantiles(&q->display);
    out->latency.parts.encoder = quantiles(&q->part_encoder);
    out->latency.parts.transport = quantiles(&q->part_transport);
    out->latency.parts.buffer = quantiles(&q->part_buffer);
    out->latency.parts.decoder = quantiles(&q->part_decoder);
    out->latency.parts.display = quantiles(&q->part_display);
    out->latency.has_budget = q->has_budget;
    out->latency.budget.target = usec_to_msec(q->budget.target);
    out->latency.budget.sender = usec_to_msec(q->budget.sender);
    out->latency.budget.buffer = usec_to_msec(q->budget.buffer);
    out->latency.budget.spent_encoder = quantiles(&q->spent_encoder).mean;
    out->latency.budget.spent_transport = quantiles(&q->spent_transport).mean;
    out->latency.has_clock = q->has_clock;
    out->latency.clock_shared = q->clock.shared;
    out->latency.offset_error =
        q->has_clock && !q->clock.shared ? usec_to_msec(q->clock.offset_error) : NAN;
}

static void report_network(const struct qoe *q, struct qoe_json *out)
{
    bool any = q->packets.count > 0;
    double time = usec_to_sec(q->packets.last - q->packets.first);
    const struct qoe_receiver *r = &q->receiver;
    bool known = q->has_receiver;
    out->network.bytes_received = any ? (double)q->packet_bytes : NAN;
    out->network.packets_received = any ? (double)q->packets.count : NAN;
    out->network.throughput = ratio((double)q->packet_bytes * 8, time);
    out->network.goodput = ratio((double)q->good_bytes * 8, time);
    out->network.packets_lost = known ? (double)r->lost : NAN;
    out->network.loss_rate = known ? ratio((double)r->lost, (double)r->expected) : NAN;
    // RFC 5348, 5: loss events, not packets, over the packets they are counted among.
    out->network.loss_event_rate = known ? ratio((double)r->loss_events, (double)r->expected) : NAN;
    out->network.packets_reordered = known ? (double)r->reordered : NAN;
    out->network.ecn_marked = known && r->ecn_marked >= 0 ? (double)r->ecn_marked : NAN;
    out->network.rtt_mean = hist_mean_us(&q->rtt) / 1e3;
    out->network.rtt_p95 = hist_quantile_us(&q->rtt, 0.95) / 1e3;
    out->network.capacity_estimate = q->capacity;
}

void qoe_read(struct qoe *q, struct qoe_json *out, usec_t now)
{
    usec_t at = q->has_ended ? q->ended_at : now;
    memset(out, 0, sizeof(*out));
    out->has_ended = q->has_ended;
    out->ended = q->ended;
    out->error = q->has_error ? q->error : NULL;
    out->session.url = q->url;
    out->session.transport = q->transport;
    out->session.why = q->why;
    out->session.source = q->source;
    out->session.started_wall = q->started_wall;
    out->session.duration = qoe_since_start(q, at);
    out->session.reconnects = (double)q->reconnects;
    out->startup.connect = qoe_since_start(q, q->connected);
    out->startup.initial_buffering = qoe_since_start(q, q->playing);
    out->startup.time_to_first_frame =
        q->shown.count > 0 ? qoe_since_start(q, q->shown.first) : NAN;
    report_playback(q, out, at);
    report_speed(q, out, at);
    report_levels(q, out, at);
    report_latency(q, out);
    report_network(q, out);
    out->seeks.count = (double)q->seeks;
    out->seeks.wait = quantiles(&q->seek_wait);
    out->picture.compared = (double)q->compared;
    out->picture.skipped = (double)q->pictures_skipped;
    out->picture.psnr_y = quality_psnr(ratio(q->mse_sum, (double)q->compared));
    out->picture.ssim = ratio(q->ssim_sum, (double)q->compared);
    out->has_audio = q->has_audio;
    out->audio = q->audio;
    out->cpu.user = q->has_cpu ? q->cpu.user : NAN;
    out->cpu.system = q->has_cpu ? q->cpu.system : NAN;
    out->cpu.max_rss = q->has_cpu ? q->cpu.max_rss : NAN;
}

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
