// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/stream.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "media/stored/stored_audio.h"
#include "sender/policy/viewer_limits.h"

// Sending to hundreds of viewers takes milliseconds, so each call gets the current time.
static void on_frame(void *ctx, struct coded_frame *f, usec_t now)
{
    (void)now;
    struct stream *s = ctx;
    for (int i = 0; i < s->sink_count; i++)
        s->sinks[i]->ops->on_frame(s->sinks[i], f, clock_now());
}

static void on_audio(void *ctx, struct coded_audio *c, usec_t now)
{
    struct stream *s = ctx;
    for (int i = 0; i < s->sink_count; i++)
        s->sinks[i]->ops->on_audio(s->sinks[i], c, now);
}

static void on_end(void *ctx, int err, usec_t now)
{
    (void)err; // the source has logged the reason
    struct stream *s = ctx;
    for (int i = 0; i < s->sink_count; i++)
        s->sinks[i]->ops->on_end(s->sinks[i], now);
}

static const struct live_feed_events engine_events = {
    .on_frame = on_frame, .on_audio = on_audio, .on_end = on_end};

int stream_init(struct stream *s, struct source *source, const struct ladder *ladder)
{
    *s = (struct stream){.ladder = *ladder,
                         .kind = source->kind,
                         .duration = source->duration,
                         .max_viewers = VIEWERS_DEFAULT,
                         .viewer_timeout = VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    utf8_copy(source->name, s->title, sizeof(s->title)); // SDP, JSON and Prometheus require UTF-8
    s->engine = live_feed_new(source, ladder, &engine_events, s);
    return s->engine ? 0 : ERR_IO;
}

int stream_add_audio(struct stream *s, struct audio_source *audio, int bitrate_bps)
{
    int err = live_feed_add_audio(s->engine, audio, bitrate_bps);
    s->audio_bps = err ? 0 : bitrate_bps;
    return err;
}

void stream_init_filler(struct stream *s, enum sdp_source kind, int bitrate_bps)
{
    *s = (struct stream){.kind = kind,
                         .duration = -1,
                         .max_viewers = VIEWERS_DEFAULT,
                         .viewer_timeout = VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    snprintf(s->title, sizeof(s->title), "synthetic:%s",
             kind == SDP_SOURCE_STEADY ? "steady" : "greedy");
    // One nominal level with an arbitrary size.
    s->ladder = (struct ladder){
        .source_fps = {30, 1}, .source_width = 16, .source_height = 16, .size_count = 1};
    s->ladder.sizes[0] = (struct size_spec){.width = 16, .height = 16, .fps = {30, 1}, .layers = 1};
    s->ladder.level_count = 1;
    s->ladder.levels[0] = (struct level){.bitrate_bps = bitrate_bps};
}

void stream_init_synthetic(struct stream *s, const struct synthetic *media)
{
    *s = (struct stream){.kind = media->kind,
                         .ladder = media->ladder,
                         .synthetic = *media,
                         .duration = -1,
                         .max_viewers = VIEWERS_DEFAULT,
                         .viewer_timeout = VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    snprintf(s->title, sizeof(s->title), "%s", media->name);
}

int stream_init_stored(struct stream *s, const char *path, struct media_guard *guard, bool again)
{
    int err;
    *s = (struct stream){.kind = SDP_SOURCE_FILE,
                         .loop = again,
                         .max_viewers = VIEWERS_DEFAULT,
                         .viewer_timeout = VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    s->stored = stored_cache_new(path, guard, &err);
    if (!s->stored)
        return err;
    const struct stored_info *info = stored_cache_info(s->stored);
    s->ladder = info->sdp.ladder;
    s->duration = info->sdp.duration;
    s->audio_bps = info->audio ? STORED_AUDIO_BPS : 0;
    utf8_copy(info->sdp.title, s->title, sizeof(s->title));
    return 0;
}

bool stream_has_pictures(const struct stream *s)
{
    return s->engine || s->stored;
}

bool stream_is_filler(const struct stream *s)
{
    return s->kind == SDP_SOURCE_GREEDY || s->kind == SDP_SOURCE_STEADY;
}

bool stream_is_synthetic(const struct stream *s)
{
    return s->synthetic.kind != SDP_SOURCE_UNKNOWN;
}

int stream_start(struct stream *s, uv_loop_t *loop)
{
    media_guard_until(s->guard, USEC_NEVER); // its deadline was for opening the file
    return s->engine   ? live_feed_start(s->engine, loop)
           : s->stored ? stored_cache_start(s->stored, loop)
                       : 0;
}

void stream_destroy(struct stream *s)
{
    media_guard_stop(s->guard);
    media_guard_unref(s->guard);
    s->guard = NULL;
    live_feed_free(s->engine);
    s->engine = NULL;
    stored_cache_free(s->stored);
    s->stored = NULL;
    free(s->sinks);
    s->sinks = NULL;
    s->sink_room = 0;
}

void stream_describe(const struct stream *s, int level, struct sdp *out)
{
    memset(out, 0, sizeof(*out));
    snprintf(out->title, sizeof(out->title), "%s", s->title);
    out->source = s->kind;
    clock_identity(out->clock);
    snprintf(out->control, sizeof(out->control), "trackID=0");
    out->duration = s->duration;
    out->h264 = stream_has_pictures(s);
    out->payload_type = out->h264 ? RTP_PT_H264 : RTP_PT_SYNTHETIC;
    out->ext = (struct rtp_ext_ids){
        .capture = RTP_EXT_CAPTURE_ID, .adu = RTP_EXT_ADU_ID, .feedback = RTP_EXT_FEEDBACK_ID};
    out->ccfb = true;
    out->reorders = s->stored;
    out->ladder = s->ladder;
    out->bitrate_bps = s->ladder.levels[level].bitrate_bps;
    if (s->audio_bps) {
        out->audio = (struct sdp_audio){.present = true,
                                        .payload_type = RTP_PT_OPUS,
                                        .control = "trackID=1",
                                        .ext = out->ext,
                                        .bitrate_bps = s->audio_bps};
        out->audio.ext.capture = 0;
    }
    if (!out->h264)
        return;
    int size_id = s->ladder.levels[level].size_id;
    const struct stored_info *info = s->stored ? stored_cache_info(s->stored) : NULL;
    snprintf(out->sprop, sizeof(out->sprop), "%s",
             info ? info->sizes[size_id].sprop : live_feed_sprop(s->engine, size_id));
    snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%s",
             info ? info->sizes[size_id].profile : live_feed_profile(s->engine, size_id));
}

int stream_add(struct stream *s, struct frame_sink *sink)
{
    if (s->sink_count == s->max_viewers)
        return ERR_FULL;
    if (s->sink_count == s->sink_room) {
        int room = s->sink_room ? 2 * s->sink_room : 16;
        struct frame_sink **sinks = realloc(s->sinks, (size_t)room * sizeof(*sinks));
        if (!sinks)
            return ERR_NO_MEMORY;
        s->sinks = sinks;
        s->sink_room = room;
    }
    s->sinks[s->sink_count++] = sink;
    return stats_begin(s->book);
}

void stream_remove(struct stream *s, struct frame_sink *sink, usec_t now)
{
    struct session_stats last;
    int transport = sink->ops->stats(sink, &last, now);
    stats_end(s->book, transport, &last);
    for (int i = 0; i < s->sink_count; i++)
        if (s->sinks[i] == sink)
            s->sinks[i--] = s->sinks[--s->sink_count];
}

static void encoder_stats(const struct stream *s, struct stream_stats *out)
{
    out->encoder_count = s->engine ? s->ladder.size_count : 0;
    for (int i = 0; i < out->encoder_count; i++) {
        const struct size_spec *size = &s->ladder.sizes[i];
        struct encoder_stats *e = &out->encoders[i];
        *e = (struct encoder_stats){.width = size->width,
                                    .height = size->height,
                                    .fps = fps_value(size->fps),
                                    .bitrate_bps = ladder_size_bitrate(&s->ladder, i)};
        live_feed_stats_of_size(s->engine, i, &e->stats);
    }
    if (s->engine && live_feed_stats_of_audio(s->engine, &out->audio))
        out->audio_bps = s->audio_bps;
}

static uint64_t overload(const struct stream_stats *f)
{
    uint64_t sum = 0;
    for (int i = 0; i < f->encoder_count; i++)
        sum += f->encoders[i].stats.overload;
    return sum;
}

void stream_stats(struct stream *s, const char *path, struct stats *out, session_stats_fn *each,
                  void *ctx, usec_t now)
{
    assert(out->stream_count < STATS_STREAMS);
    int index = out->stream_count++;
    struct stream_stats *of = &out->streams[index];
    *of = (struct stream_stats){.open = s->sink_count};
    snprintf(of->path, sizeof(of->path), "%s", path);
    snprintf(of->source, sizeof(of->source), "%s", s->title);
    encoder_stats(s, of);
    out->total.overload += overload(of);
    for (int i = 0; i < s->sink_count; i++) {
        struct session_stats f;
        int transport = s->sinks[i]->ops->stats(s->sinks[i], &f, now);
        f.stream = index;
        stats_add(&out->total, transport, &f);
        out->total.transports[transport].open++;
        if (f.number)
            out->sessions[out->session_count++] = f;
        each(ctx, out, &f);
    }
}

void stream_close_stats(struct stream *s)
{
    struct stream_stats last = {0};
    encoder_stats(s, &last);
    s->book->ended.overload += overload(&last);
}
