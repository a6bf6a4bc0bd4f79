// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "stream/qoe/qoe_state.h"

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
    struct frame_jitter j = q->jitter; // the session goes on
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
    double mse = ratio(q->mse_sum, (double)q->compared);
    // Equal pictures would give infinity: 100 dB at most.
    out->picture.psnr_y = fmin(100, 10 * log10(255.0 * 255.0 / mse));
    if (isnan(mse))
        out->picture.psnr_y = NAN; // fmin(100, NaN) is 100
    out->picture.ssim = ratio(q->ssim_sum, (double)q->compared);
    out->has_audio = q->has_audio;
    out->audio = q->audio;
    out->cpu.user = q->has_cpu ? q->cpu.user : NAN;
    out->cpu.system = q->has_cpu ? q->cpu.system : NAN;
    out->cpu.max_rss = q->has_cpu ? q->cpu.max_rss : NAN;
}
