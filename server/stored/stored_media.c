// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_media.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/utf8.h"
#include "media/stored/stored_audio.h"
#include "server/stored/stored_feed.h"

struct stored_media {
    struct stream_media base;   // first
    struct stored_cache *cache; // owned
    bool loop;
};

static int start(struct stream_media *m, uv_loop_t *loop)
{
    return stored_cache_start(((struct stored_media *)m)->cache, loop);
}

static struct media_feed *feed_new(struct stream_media *base,
                                   const struct media_feed_config *config)
{
    const struct stored_media *m = (struct stored_media *)base;
    struct stored_feed_config feed = {
        .cache = m->cache, .sink = config->sink, .loop = m->loop, .exact = config->exact};
    return stored_feed_new(config->loop, &feed);
}

static void describe(const struct stream_media *m, int size_id, struct sdp *out)
{
    const struct stored_info *info = stored_cache_info(((const struct stored_media *)m)->cache);
    snprintf(out->sprop, sizeof(out->sprop), "%s", info->sizes[size_id].sprop);
    snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%s",
             info->sizes[size_id].profile);
    snprintf(out->validator, sizeof(out->validator), "%s", info->validator);
}

static int get_digest(struct stream_media *m, int track, int64_t group, struct stored_digest *out)
{
    return stored_cache_digest(((struct stored_media *)m)->cache, track, group, out);
}

static void media_free(struct stream_media *m)
{
    stored_cache_free(((struct stored_media *)m)->cache);
    free(m->stored);
    free(m);
}

struct stream_media *stored_media_new(struct stored_cache *cache, bool loop, bool has_audio)
{
    static const struct stream_media_ops ops = {.start = start,
                                                .feed_new = feed_new,
                                                .describe = describe,
                                                .digest = get_digest,
                                                .free = media_free};
    struct stored_media *m = calloc(1, sizeof(*m));
    if (!m) {
        stored_cache_free(cache);
        return NULL;
    }
    const struct stored_info *info = stored_cache_info(cache);
    m->base = (struct stream_media){.ops = &ops,
                                    .ladder = info->sdp.ladder,
                                    .kind = SDP_SOURCE_FILE,
                                    .duration = info->sdp.duration,
                                    .audio_bps = info->audio && has_audio ? STORED_AUDIO_BPS : 0,
                                    .codec = info->sdp.codec,
                                    .reorders = true};
    m->base.audio_track_count = info->audio_track_count;
    memcpy(m->base.audio_tracks, info->audio_tracks, sizeof(m->base.audio_tracks));
    utf8_copy(info->sdp.title, m->base.title, sizeof(m->base.title));
    m->cache = cache;
    m->loop = loop;
    return &m->base;
}
