// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/feed/relay_media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/protocol/server_dialect.h"
#include "proxy/feed/relay_feed.h"
#include "proxy/feed/shared_feed.h"
#include "proxy/policy/via.h"
#include "proxy/store/store.h"

enum {
    AUDIO_BPS = 64000,     // of Weir's servers, if the origin's description names no rate
    FOREIGN_BPS = 8000000, // of a third party's video: more than cameras send
    FOREIGN_WIDTH = 1280,  // until the first picture shows its size
    FOREIGN_HEIGHT = 720,
};

struct relay_media {
    struct stream_media base;   // first
    struct relay_origin origin; // borrows from the fields that follow
    struct url url;
    struct sdp sdp;
    char via[VIA_MAX];
    char name[VIA_MAX_NAME + 16]; // of this proxy: the last entry of `via`
    bool stale;
    struct shared_stream *shared; // owned; of live media, from its first viewer on
    struct store_film *film;      // one hold; NULL: none
};

// Live media is the same for all viewers, so they share its sessions with the origin.
static struct media_feed *live_feed_new(struct relay_media *m, struct frame_sink *sink)
{
    if (!m->shared)
        m->shared = shared_stream_new(&m->origin);
    struct shared_feed_config feed = {.origin = &m->origin, .sink = sink, .stream = m->shared};
    return m->shared ? shared_feed_new(&feed) : NULL;
}

static struct media_feed *feed_new(struct stream_media *base,
                                   const struct media_feed_config *config)
{
    struct relay_media *m = (struct relay_media *)base;
    m->origin.loop = config->loop;
    if (base->duration < 0)
        return live_feed_new(m, config->sink);
    struct relay_feed_config feed = {
        .origin = &m->origin, .sink = config->sink, .exact = config->exact, .film = m->film};
    return relay_feed_new(&feed);
}

// The capture times are the origin's, so its mark tells a viewer next to the origin that it can
// read them.
static void describe(const struct stream_media *base, int size_id, struct sdp *out)
{
    (void)size_id;
    const struct relay_media *m = (const struct relay_media *)base;
    if (!sdp_is_third_party(&m->sdp))
        snprintf(out->clock, sizeof(out->clock), "%s", m->sdp.clock);
    struct put via = put_into(out->via, sizeof(out->via));
    put_format(&via, "%s%s%s", m->sdp.via, *m->sdp.via ? ", " : "", m->name);
    snprintf(out->validator, sizeof(out->validator), "%s", m->sdp.validator);
    if (base->duration >= 0) { // relay_feed passes them on
        out->subtitle_count = m->sdp.subtitle_count;
        out->subtitle_shown = m->sdp.subtitle_shown;
        memcpy(out->subtitles, m->sdp.subtitles, sizeof(out->subtitles));
    }
    snprintf(out->sprop, sizeof(out->sprop), "%s", m->sdp.sprop);
    snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%s", m->sdp.profile_level_id);
}

// What this proxy has stored and verified, for one behind it.
static int get_digest(struct stream_media *base, int track, int64_t group,
                      struct stored_digest *out)
{
    const struct relay_media *m = (const struct relay_media *)base;
    return group >= store_film_groups(m->film)               ? ERR_NOT_FOUND
           : store_film_verified(m->film, track, group, out) ? 0
                                                             : ERR_AGAIN;
}

static void media_free(struct stream_media *base)
{
    struct relay_media *m = (struct relay_media *)base;
    shared_stream_free(m->shared);
    store_film_release(m->film);
    free(m);
}

// A third party's stream is one level.
static void set_foreign_ladder(struct ladder *l)
{
    l->source_width = FOREIGN_WIDTH;
    l->source_height = FOREIGN_HEIGHT;
    l->size_count = l->level_count = 1;
    l->sizes[0] = (struct size_spec){
        .width = FOREIGN_WIDTH, .height = FOREIGN_HEIGHT, .fps = l->source_fps, .layers = 1};
    l->levels[0] = (struct level){.bitrate_bps = FOREIGN_BPS};
}

int relay_media_new(const struct relay_media_config *config, struct stream_media **out)
{
    static const struct stream_media_ops ops = {
        .feed_new = feed_new, .describe = describe, .free = media_free};
    static const struct stream_media_ops storing_ops = {
        .feed_new = feed_new, .describe = describe, .digest = get_digest, .free = media_free};
    const struct sdp *sdp = config->sdp;
    if (!sdp_has_frames(sdp))
        return ERR_UNSUPPORTED;
    bool has_levels = server_dialect_of(sdp)->has_levels;
    if (has_levels && !sdp->ladder.level_count)
        return ERR_MALFORMED;
    struct relay_media *m = calloc(1, sizeof(*m));
    if (!m)
        return ERR_NO_MEMORY;
    m->url = *config->url;
    m->sdp = *sdp;
    m->origin = (struct relay_origin){.media = &m->base,
                                      .choices = config->choices,
                                      .url = &m->url,
                                      .sdp = &m->sdp,
                                      .via = m->via,
                                      .described_at = clock_now(),
                                      .stale = &m->stale};
    snprintf(m->via, sizeof(m->via), "%s", config->via);
    m->film = config->film ? store_film_hold(config->film) : NULL;
    const char *last = strrchr(m->via, ',');
    snprintf(m->name, sizeof(m->name), "%.50s", last ? last + 2 : m->via);
    m->base = (struct stream_media){.ops = m->film ? &storing_ops : &ops,
                                    .ladder = sdp->ladder,
                                    .kind = sdp->source,
                                    .duration = sdp->duration,
                                    .audio_bps =
                                        sdp->audio.present && sdp_has_pictures(sdp) ? AUDIO_BPS : 0,
                                    .codec = sdp->codec,
                                    .reorders = sdp->reorders,
                                    .relays = true};
    utf8_copy(sdp->title, m->base.title, sizeof(m->base.title));
    if (!has_levels) {
        m->base.kind = SDP_SOURCE_RELAYED;
        set_foreign_ladder(&m->base.ladder);
    }
    *out = &m->base;
    return 0;
}

bool relay_media_is_stale(const struct stream_media *m)
{
    return ((const struct relay_media *)m)->stale;
}

bool relay_media_is_open(const struct stream_media *base)
{
    const struct relay_media *m = (const struct relay_media *)base;
    return m->shared && shared_stream_is_open(m->shared);
}
