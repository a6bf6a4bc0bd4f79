// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/session/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "server/policy/viewer_limits.h"

void stream_init(struct stream *s, struct stream_media *media, struct media_guard *guard)
{
    *s = (struct stream){.media = media,
                         .guard = guard,
                         .max_viewers = VIEWERS_DEFAULT,
                         .highest = LADDER_MAX_LEVELS - 1,
                         .viewer_timeout = VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
}

int stream_start(struct stream *s, uv_loop_t *loop)
{
    media_guard_until(s->guard, USEC_NEVER); // its deadline was for opening the file
    return s->media->ops->start ? s->media->ops->start(s->media, loop) : 0;
}

void stream_destroy(struct stream *s)
{
    media_guard_stop(s->guard);
    subtitle_source_free(s->subtitles);
    media_guard_unref(s->guard);
    if (s->media)
        s->media->ops->free(s->media);
    free(s->sinks);
    *s = (struct stream){0};
}

void stream_describe(const struct stream *s, int level, struct sdp *out)
{
    const struct stream_media *m = s->media;
    *out = (struct sdp){.source = m->kind,
                        .control = "trackID=0",
                        .duration = m->duration,
                        .codec = m->codec,
                        .payload_type = sdp_payload_type(m->codec),
                        .ext = {.capture = RTP_EXT_CAPTURE_ID,
                                .adu = RTP_EXT_ADU_ID,
                                .feedback = RTP_EXT_FEEDBACK_ID,
                                .made = RTP_EXT_MADE_ID},
                        .tmmbr = true,
                        .ccfb = true,
                        .reorders = m->reorders,
                        .ladder = m->ladder,
                        .bitrate_bps = m->ladder.levels[level].bitrate_bps};
    out->recorded = s->record != NULL;
    snprintf(out->title, sizeof(out->title), "%s", m->title);
    clock_identity(out->clock);
    if (m->audio_bps) {
        out->audio = (struct sdp_audio){.present = true,
                                        .payload_type = RTP_PT_OPUS,
                                        .control = "trackID=1",
                                        .ext = out->ext,
                                        .bitrate_bps = m->audio_bps};
        out->audio.ext.capture = out->audio.ext.made = 0;
    }
    out->subtitle_count = s->subtitles ? subtitle_source_count(s->subtitles) : 0;
    out->subtitle_shown = s->subtitles ? subtitle_source_shown(s->subtitles) : 0;
    for (int i = 0; i < out->subtitle_count; i++)
        snprintf(out->subtitles[i], sizeof(out->subtitles[i]), "%s",
                 subtitle_source_name(s->subtitles, i + 1));
    out->audio_track_count = m->audio_bps && m->audio_track_count > 1 ? m->audio_track_count : 0;
    memcpy(out->audio_tracks, m->audio_tracks, sizeof(out->audio_tracks));
    if (m->ops->describe)
        m->ops->describe(m, m->ladder.levels[level].size_id, out);
}

void stream_set_highest(struct stream *s, int level, usec_t now)
{
    if (s->highest == level)
        return;
    s->highest = level;
    for (int i = 0; i < s->sink_count; i++)
        if (s->sinks[i]->ops->on_highest)
            s->sinks[i]->ops->on_highest(s->sinks[i], now);
}

int stream_add(struct stream *s, struct frame_sink *sink)
{
    if (s->sink_count >= s->max_viewers)
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
    sink->number = stats_begin(s->book);
    return 0;
}

void stream_remove(struct stream *s, struct frame_sink *sink, usec_t now)
{
    struct session_stats last;
    int transport = sink->ops->stats(sink, &last, now);
    stats_end(s->book, transport, &last);
    s->ended_octets += last.octets + last.audio_octets;
    for (int i = 0; i < s->sink_count; i++)
        if (s->sinks[i] == sink)
            s->sinks[i--] = s->sinks[--s->sink_count];
}

static uint64_t overload(const struct stream_stats *f)
{
    uint64_t sum = 0;
    for (int i = 0; i < f->encoder_count; i++)
        sum += f->encoders[i].stats.overload;
    return sum;
}

void stream_collect_stats(struct stream *s, const char *path, struct stats *out,
                          session_stats_fn *each, void *ctx, usec_t now)
{
    bool is_others = out->stream_count == STATS_STREAMS;
    int index = is_others ? STATS_STREAMS - 1 : out->stream_count++;
    struct stream_stats of = {
        .open = s->sink_count, .level_count = s->media->ladder.level_count, .highest = s->highest};
    if (s->media->ops->stats)
        s->media->ops->stats(s->media, &of);
    out->total.overload += overload(&of);
    if (is_others)
        of = (struct stream_stats){.open = out->streams[index].open + of.open};
    utf8_copy(is_others ? "others" : path, of.path, sizeof(of.path));
    utf8_copy(is_others ? "" : s->media->title, of.source, sizeof(of.source));
    out->streams[index] = of;
    for (int i = 0; i < s->sink_count; i++) {
        struct session_stats f;
        int transport = s->sinks[i]->ops->stats(s->sinks[i], &f, now);
        f.stream = index;
        f.path = path;
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
    if (s->media->ops->stats)
        s->media->ops->stats(s->media, &last);
    s->book->ended.overload += overload(&last);
}
