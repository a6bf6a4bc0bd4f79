// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/picture/quality.h"
#include "stream/qoe/active_time.h"
#include "stream/qoe/frame_jitter.h"
#include "stream/qoe/freeze_account.h"
#include "stream/qoe/outage_meter.h"
#include "stream/qoe/qoe_channels.h"
#include "stream/qoe/qoe_latency.h"
#include "stream/qoe/qoe_layers.h"
#include "stream/qoe/qoe_levels.h"
#include "stream/qoe/qoe_network.h"
#include "stream/qoe/qoe_playback.h"
#include "stream/qoe/qoe_transports.h"
#include "stream/qoe/stall_account.h"

struct qoe {
    usec_t started;
    usec_t started_wall;
    char url[QOE_MAX_TEXT];
    char transport[QOE_MAX_TEXT];
    char why[2 * QOE_MAX_TEXT];
    struct qoe_transports transports;
    char source[QOE_MAX_TEXT];
    char via[128];
    char error[QOE_MAX_TEXT];
    bool has_error;
    bool has_ended;
    enum qoe_ended ended;
    usec_t ended_at;
    bool frames;
    struct ladder ladder;
    usec_t connected; // QOE_UNKNOWN
    usec_t playing;   // QOE_UNKNOWN
    uint64_t reconnects;
    struct active_time pauses;

    // One object for each group of the report.
    struct qoe_playback playback;
    struct stall_account stalls;
    struct freeze_account freezes;
    struct frame_totals totals;
    struct frame_totals totals_before; // totals of the previous connections
    struct outage_meter outages;
    struct frame_jitter jitter;
    struct qoe_levels levels;
    struct qoe_layers layers;
    struct qoe_latency latency;
    struct qoe_network network;

    uint64_t seeks;
    struct hist seek_wait;
    struct qoe_channels channels;
    struct hist control_wait[QOE_CONTROLS];
    bool has_budget;
    struct qoe_budget budget;
    uint64_t decisions;
    struct qoe_decision decision; // the last one
    bool has_clock;
    struct qoe_clock clock;
    uint64_t compared;
    uint64_t pictures_skipped;
    double mse_sum;
    double ssim_sum;
    bool has_audio;
    struct qoe_audio audio;
    bool has_cpu;
    struct qoe_cpu cpu;
};

const char *qoe_ended_text(enum qoe_ended ended)
{
    static const char *const texts[] = {
        [QOE_END_OF_MEDIA] = "end-of-media",
        [QOE_DURATION] = "duration",
        [QOE_QUIT] = "quit",
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
    qoe_playback_init(&q->playback);
    frame_jitter_init(&q->jitter);
    qoe_latency_init(&q->latency);
    qoe_network_init(&q->network);
    hist_init(&q->seek_wait);
    qoe_channels_init(&q->channels);
    for (int i = 0; i < QOE_CONTROLS; i++)
        hist_init(&q->control_wait[i]);
    return q;
}

void qoe_free(struct qoe *q)
{
    free(q);
}

// Returns the seconds of the session at `at`; NaN if `at` is QOE_UNKNOWN.
static double qoe_since_start(const struct qoe *q, usec_t at)
{
    return at == QOE_UNKNOWN ? NAN : usec_to_sec(at - q->started);
}

static usec_t active(const struct qoe *q, usec_t at)
{
    return active_time_read(&q->pauses, at);
}

// ---- Session

void qoe_on_moved(struct qoe *q, const char *transport, const char *why, usec_t now)
{
    if (!q->has_ended)
        qoe_transports_set(&q->transports, transport, why, qoe_since_start(q, now));
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
    qoe_levels_count(&q->levels, &q->ladder, active(q, now));
    snprintf(q->transport, sizeof(q->transport), "%s", e->transport);
    qoe_on_moved(q, e->transport, "", now);
    snprintf(q->why, sizeof(q->why), "%s", e->why);
    snprintf(q->source, sizeof(q->source), "%s", e->source);
    snprintf(q->via, sizeof(q->via), "%s", e->via ? e->via : "");
    q->ladder = *e->ladder;
    q->frames = e->frames;
}

// Counts and frame numbers of the next connection begin again.
static void renumber(struct qoe *q)
{
    qoe_playback_reconnect(&q->playback);
    qoe_network_reconnect(&q->network);
    q->totals_before = q->totals;
    frame_jitter_break(&q->jitter, &q->ladder);
    freeze_account_renumber(&q->freezes);
}

void qoe_on_reconnect(struct qoe *q)
{
    if (q->has_ended)
        return;
    q->reconnects++;
    renumber(q);
}

void qoe_on_channel(struct qoe *q, int number, const char *url, usec_t now)
{
    if (!q->has_ended)
        qoe_channels_chosen(&q->channels, number, url, qoe_since_start(q, now));
}

void qoe_on_channel_open(struct qoe *q)
{
    if (q->has_ended)
        return;
    renumber(q);
    outage_meter_forget(&q->outages);
}

void qoe_on_channel_shown(struct qoe *q, usec_t wait)
{
    if (!q->has_ended)
        qoe_channels_shown(&q->channels, wait);
}

void qoe_on_channel_failed(struct qoe *q, const char *error)
{
    if (!q->has_ended)
        qoe_channels_failed(&q->channels, error);
}

void qoe_on_start(struct qoe *q, usec_t now)
{
    if (q->has_ended || q->playing != QOE_UNKNOWN)
        return;
    q->playing = now;
    speed_meter_start(&q->playback.speed, active(q, now));
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

const struct qoe_freeze_entry *qoe_on_control(struct qoe *q, int64_t number, usec_t now)
{
    if (q->has_ended)
        return NULL;
    frame_jitter_break(&q->jitter, &q->ladder);
    return freeze_account_break(&q->freezes, number, &q->pauses, now);
}

void qoe_on_control_shown(struct qoe *q, enum qoe_control control, usec_t wait)
{
    if (!q->has_ended)
        hist_add(&q->control_wait[control], wait);
}

const struct qoe_freeze_entry *qoe_on_seek(struct qoe *q, int64_t number, usec_t now)
{
    if (q->has_ended)
        return NULL;
    q->seeks++;
    return qoe_on_control(q, number, now);
}

void qoe_on_seek_shown(struct qoe *q, usec_t wait)
{
    if (!q->has_ended)
        hist_add(&q->seek_wait, wait);
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

// ---- Packets, frames, pictures

void qoe_on_packet(struct qoe *q, const struct qoe_packet *e, usec_t now)
{
    if (q->has_ended)
        return;
    qoe_network_packet(&q->network, e->bytes, now);
    qoe_latency_packet(&q->latency, e->latency);
}

void qoe_on_frame(struct qoe *q, const struct qoe_frame *e, usec_t now)
{
    if (q->has_ended || e->number < 0)
        return;
    q->playback.received++;
    struct jitter_arrival arrival = {.number = e->number, .level = e->level, .at = now};
    frame_jitter_add(&q->jitter, &q->ladder, arrival);
    qoe_latency_frame(&q->latency, e);
    if (q->frames)
        return;
    q->network.good_bytes += e->bytes;
    qoe_levels_show(&q->levels, &q->ladder, e->level, active(q, now));
}

void qoe_on_layer(struct qoe *q, size_t bytes)
{
    if (!q->has_ended)
        qoe_layers_whole(&q->layers, bytes);
}

void qoe_on_layers(struct qoe *q, const struct qoe_picture_layers *e)
{
    if (!q->has_ended)
        qoe_layers_picture(&q->layers, e);
}

const struct qoe_freeze_entry *qoe_on_shown(struct qoe *q, const struct qoe_shown *e, usec_t now)
{
    if (q->has_ended)
        return NULL;
    double fps = qoe_level_fps(&q->ladder, e->level);
    usec_t interval = fps > 0 ? (usec_t)(1e6 / fps) : 0;
    qoe_playback_shown(&q->playback, fps, &q->pauses, now);
    q->network.good_bytes += e->bytes;
    qoe_latency_shown(&q->latency, e);
    qoe_levels_show(&q->levels, &q->ladder, e->level, q->playback.last_active);
    struct freeze_picture picture = {.number = e->number,
                                     .interval = usec_max(e->interval, interval),
                                     .early = e->early,
                                     .at_seconds = qoe_since_start(q, now),
                                     .known = e->gap_known,
                                     .why = e->gap};
    return freeze_account_shown(&q->freezes, &picture, &q->pauses, now);
}

void qoe_on_not_shown(struct qoe *q, enum qoe_not_shown why)
{
    q->playback.not_shown[why] += !q->has_ended;
}

void qoe_on_missing(struct qoe *q, enum freeze_cause why)
{
    if (!q->has_ended)
        freeze_account_missing(&q->freezes, why);
}

void qoe_on_sender_skipped(struct qoe *q, uint64_t total)
{
    if (!q->has_ended)
        qoe_playback_sender_skipped(&q->playback, total);
}

void qoe_on_frames(struct qoe *q, const struct frame_totals *e)
{
    if (q->has_ended)
        return;
    q->totals = q->totals_before;
    frame_totals_add(&q->totals, e);
}

void qoe_on_live_end(struct qoe *q, const struct qoe_media_edge *e)
{
    if (!q->has_ended)
        outage_meter_end(&q->outages, e,
                         q->playback.last_active + e->shown - q->playback.last_shown);
}

uint64_t qoe_on_live_begin(struct qoe *q, const struct qoe_media_edge *e)
{
    return q->has_ended ? 0 : outage_meter_begin(&q->outages, e, &q->ladder, active(q, e->shown));
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

// ---- Playing

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

void qoe_on_speed(struct qoe *q, double speed, usec_t now)
{
    if (!q->has_ended)
        speed_meter_set(&q->playback.speed, speed, active(q, now));
}

void qoe_on_skip(struct qoe *q)
{
    q->playback.skips += !q->has_ended;
}

void qoe_on_switch(struct qoe *q, const struct qoe_switch *e, usec_t now)
{
    if (!q->has_ended)
        qoe_levels_switch(&q->levels, e, qoe_since_start(q, now));
}

void qoe_on_budget(struct qoe *q, const struct qoe_budget *e)
{
    if (q->has_ended)
        return;
    q->has_budget = true;
    q->budget = *e;
    qoe_latency_target(&q->latency, e->target);
}

// ---- Transport and machine

void qoe_on_relay(struct qoe *q, double backbone_ms, double proxy_ms)
{
    if (q->has_ended || isnan(backbone_ms) || isnan(proxy_ms))
        return;
    qoe_latency_relay(&q->latency, (usec_t)(backbone_ms * 1e3), (usec_t)(proxy_ms * 1e3));
}

void qoe_on_transport(struct qoe *q, const struct qoe_transport *e)
{
    if (!q->has_ended)
        qoe_network_rtt(&q->network, e->rtt);
}

void qoe_on_capacity(struct qoe *q, double bps)
{
    if (!q->has_ended)
        q->network.capacity = bps;
}

void qoe_on_decision(struct qoe *q, const struct qoe_decision *e)
{
    if (q->has_ended)
        return;
    q->decisions++;
    q->decision = *e;
    if (isfinite(e->estimate_bps))
        q->network.capacity = e->estimate_bps;
}

void qoe_on_receiver(struct qoe *q, const struct qoe_receiver *e)
{
    if (!q->has_ended)
        qoe_network_receiver(&q->network, e);
}

void qoe_on_repair(struct qoe *q, const struct qoe_repair *e)
{
    if (!q->has_ended)
        qoe_network_repair(&q->network, e);
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

// ---- The report

// Marks the playback figures as not measured, for media without frames.
static void clear_playing(struct qoe_json *out)
{
    out->playback.media = out->playback.wall = out->playback.frames_received =
        out->playback.frames_played = out->playback.frames_lost = out->playback.frames_late =
            out->playback.frames_undecodable = out->playback.frames_skipped =
                out->playback.speed.mean = out->playback.speed.min = out->playback.speed.max =
                    out->playback.skips = out->playback.frame_rate =
                        out->playback.encoded_frame_rate = NAN;
    out->rebuffering.count = out->rebuffering.total = out->rebuffering.ratio = NAN;
    out->freezes.count = out->freezes.total = out->freezes.ratio = out->freezes.longest = NAN;
    out->causes.expected = NAN; // marks the whole group as not measured
}

static void read_playing(struct qoe *q, struct qoe_json *out, usec_t now)
{
    stall_account_read(&q->stalls, &out->rebuffering, &q->pauses, now);
    out->rebuffering.ratio = qoe_ratio(out->rebuffering.total, out->playback.wall);
    freeze_account_read(&q->freezes, &out->freezes, &q->pauses, now);
    out->freezes.ratio = qoe_ratio(out->freezes.total, out->playback.wall);
    struct frame_totals t = q->totals;
    t.expected += q->outages.frames;
    t.by_cause[CAUSE_OUTAGE] += q->outages.frames;
    t.by_root[CAUSE_OUTAGE] += q->outages.frames;
    out->causes.expected = (double)t.expected;
    out->causes.shown = (double)t.shown;
    for (int c = 0; c < FRAME_CAUSES; c++) {
        out->causes.by_cause[c] = (double)t.by_cause[c];
        out->causes.by_root[c] = (double)t.by_root[c];
    }
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
    out->session.via = q->via;
    out->session.started_wall = q->started_wall;
    out->session.duration = qoe_since_start(q, at);
    qoe_transports_read(&q->transports, out, out->session.duration);
    out->session.reconnects = (double)q->reconnects;
    out->startup.connect = qoe_since_start(q, q->connected);
    out->startup.initial_buffering = qoe_since_start(q, q->playing);
    out->startup.time_to_first_frame =
        q->playback.shown > 0 ? qoe_since_start(q, q->playback.first_shown) : NAN;
    qoe_playback_read(&q->playback, out, &q->pauses, at);
    qoe_levels_read(&q->levels, &q->ladder, out, active(q, at));
    if (q->frames)
        read_playing(q, out, at);
    else
        clear_playing(out);
    struct frame_jitter j = q->jitter; // a copy: the session continues
    frame_jitter_break(&j, &q->ladder);
    out->jitter = qoe_quantiles_of(&j.hist);
    qoe_latency_read(&q->latency, out);
    out->film.decisions = (double)q->decisions;
    out->film.policy = q->decision.policy;
    out->film.why = q->decision.why;
    out->film.level = q->decision.level;
    out->film.buffer = usec_to_sec(q->decision.buffered);
    out->film.target = usec_to_sec(q->decision.target);
    out->film.estimate = q->decision.estimate_bps;
    out->film.error = q->decision.error;
    out->latency.has_budget = q->has_budget;
    out->latency.budget.mode = q->budget.mode;
    out->latency.budget.target = usec_to_msec(q->budget.target);
    out->latency.budget.sender = usec_to_msec(q->budget.sender);
    out->latency.budget.buffer = usec_to_msec(q->budget.buffer);
    out->latency.has_clock = q->has_clock;
    out->latency.clock_shared = q->clock.shared;
    out->latency.offset_error =
        q->has_clock && !q->clock.shared ? usec_to_msec(q->clock.offset_error) : NAN;
    qoe_network_read(&q->network, out);
    qoe_layers_read(&q->layers, qoe_network_seconds(&q->network), out);
    out->seeks.count = (double)q->seeks;
    out->seeks.wait = qoe_quantiles_of(&q->seek_wait);
    qoe_channels_read(&q->channels, out);
    for (int i = 0; i < QOE_CONTROLS; i++) {
        out->controls[i].wait = qoe_quantiles_of(&q->control_wait[i]);
        out->controls[i].count = out->controls[i].wait.count;
    }
    out->picture.compared = (double)q->compared;
    out->picture.skipped = (double)q->pictures_skipped;
    out->picture.psnr_y = quality_psnr(qoe_ratio(q->mse_sum, (double)q->compared));
    out->picture.ssim = qoe_ratio(q->ssim_sum, (double)q->compared);
    out->has_audio = q->has_audio;
    out->audio = q->audio;
    out->cpu.user = q->has_cpu ? q->cpu.user : NAN;
    out->cpu.system = q->has_cpu ? q->cpu.system : NAN;
    out->cpu.max_rss = q->has_cpu ? q->cpu.max_rss : NAN;
}
