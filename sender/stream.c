// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "sender/session.h"

// Hundreds of viewers take milliseconds, so each has its own time.
static void on_frame(void *ctx, struct coded_frame *f, usec_t now)
{
    (void)now;
    struct stream *s = ctx;
    for (int i = 0; i < s->session_count; i++)
        session_on_frame(s->sessions[i], f, clock_now());
}

static void on_end(void *ctx, int err, usec_t now)
{
    (void)err; // the source has logged what went wrong
    struct stream *s = ctx;
    for (int i = 0; i < s->session_count; i++)
        session_on_end(s->sessions[i], now);
}

static const struct engine_events engine_events = {.on_frame = on_frame, .on_end = on_end};

int stream_init(struct stream *s, uv_loop_t *loop, struct source *source,
                const struct ladder *ladder, uint64_t seed)
{
    *s = (struct stream){.ladder = *ladder,
                         .kind = source->kind,
                         .duration = source->duration,
                         .max_viewers = STREAM_MAX_VIEWERS,
                         .viewer_timeout = STREAM_VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    snprintf(s->title, sizeof(s->title), "%s", source->name);
    s->rng = rng_seeded(seed);
    s->engine = engine_new(loop, source, ladder, &engine_events, s);
    return s->engine ? 0 : ERR_IO;
}

void stream_init_filler(struct stream *s, enum sdp_source kind, int bitrate_bps, uint64_t seed)
{
    *s = (struct stream){.kind = kind,
                         .duration = -1,
                         .max_viewers = STREAM_MAX_VIEWERS,
                         .viewer_timeout = STREAM_VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    snprintf(s->title, sizeof(s->title), "synthetic:%s",
             kind == SDP_SOURCE_STEADY ? "steady" : "greedy");
    s->rng = rng_seeded(seed);
    // One nominal level, whose size means nothing.
    s->ladder = (struct ladder){
        .source_fps = {30, 1}, .source_width = 16, .source_height = 16, .size_count = 1};
    s->ladder.sizes[0] = (struct size_spec){.width = 16, .height = 16, .fps = {30, 1}, .layers = 1};
    s->ladder.level_count = 1;
    s->ladder.levels[0] = (struct level){.bitrate_bps = bitrate_bps};
}

void stream_init_synthetic(struct stream *s, const struct synthetic *media, uint64_t seed)
{
    *s = (struct stream){.kind = media->kind,
                         .ladder = media->ladder,
                         .synthetic = *media,
                         .duration = -1,
                         .max_viewers = STREAM_MAX_VIEWERS,
                         .viewer_timeout = STREAM_VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    snprintf(s->title, sizeof(s->title), "%s", media->name);
    s->rng = rng_seeded(seed);
}

int stream_init_stored(struct stream *s, uv_loop_t *loop, const char *path, bool again,
                       uint64_t seed)
{
    int err;
    *s = (struct stream){.kind = SDP_SOURCE_FILE,
                         .loop = again,
                         .max_viewers = STREAM_MAX_VIEWERS,
                         .viewer_timeout = STREAM_VIEWER_TIMEOUT_SEC * USEC_PER_SEC};
    s->stored = stored_cache_new(loop, path, &err);
    if (!s->stored)
        return err;
    const struct stored_info *info = stored_cache_info(s->stored);
    s->ladder = info->sdp.ladder;
    s->duration = info->sdp.duration;
    snprintf(s->title, sizeof(s->title), "%.127s", info->sdp.title);
    s->rng = rng_seeded(seed);
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

void stream_destroy(struct stream *s)
{
    engine_free(s->engine);
    s->engine = NULL;
    stored_cache_free(s->stored);
    s->stored = NULL;
    free(s->sessions);
    s->sessions = NULL;
    s->session_room = 0;
}

void stream_describe(const struct stream *s, int level, struct sdp *out)
{
    memset(out, 0, sizeof(*out));
    snprintf(out->title, sizeof(out->title), "%s", s->title);
    out->source = s->kind;
    clock_identity(out->clock, sizeof(out->clock));
    snprintf(out->control, sizeof(out->control), "trackID=0");
    out->duration = s->duration;
    out->h264 = stream_has_pictures(s);
    out->payload_type = out->h264 ? RTP_PT_H264 : RTP_PT_SYNTHETIC;
    out->ext = (struct rtp_ext_ids){
        .capture = RTP_EXT_CAPTURE_ID, .adu = RTP_EXT_ADU_ID, .feedback = RTP_EXT_FEEDBACK_ID};
    out->ccfb = true;
    out->ladder = s->ladder;
    out->bitrate_bps = s->ladder.levels[level].bitrate_bps;
    if (!out->h264)
        return;
    int size_id = s->ladder.levels[level].size_id;
    const struct stored_info *info = s->stored ? stored_cache_info(s->stored) : NULL;
    snprintf(out->sprop, sizeof(out->sprop), "%s",
             info ? info->sizes[size_id].sprop : engine_sprop(s->engine, size_id));
    snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%s",
             info ? info->sizes[size_id].profile : engine_profile(s->engine, size_id));
}

int stream_add(struct stream *s, struct session *session)
{
    if (s->session_count == s->max_viewers)
        return ERR_FULL;
    if (s->session_count == s->session_room) {
        int room = s->session_room ? 2 * s->session_room : 16;
        struct session **sessions = realloc(s->sessions, (size_t)room * sizeof(struct session *));
        if (!sessions)
            return ERR_NO_MEMORY;
        s->sessions = sessions;
        s->session_room = room;
    }
    s->sessions[s->session_count++] = session;
    return 0;
}

void stream_remove(struct stream *s, struct session *session)
{
    for (int i = 0; i < s->session_count; i++)
        if (s->sessions[i] == session)
            s->sessions[i--] = s->sessions[--s->session_count];
}
