// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/rewind_media.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "server/rewind/policy/past_ring.h"
#include "server/rewind/rewind_feed.h"

// The ring is longer than the span, so that a viewer who has gone back as far as possible is not
// overtaken by its end.
#define MARGIN (PAST_RING_KEYS + 5 * USEC_PER_SEC)

#define KEPT (24 * 3600 * USEC_PER_SEC) // what viewers are told of recordings without a limit

struct rewind_media {
    struct stream_media base; // first
    struct frame_sink tap;
    struct stream_media *of; // owned
    struct rewind_media_config config;
    struct past_ring *ring;  // owned
    struct media_feed *feed; // owned; of the tap; NULL: not started
};

static struct rewind_media *of_tap(struct frame_sink *tap)
{
    return (struct rewind_media *)((char *)tap - offsetof(struct rewind_media, tap));
}

// A camera may change its size and its rate. The numbers of frames count the rate: those of before
// have no place among those that follow.
static void take_ladder(struct rewind_media *m)
{
    struct fps before = m->base.ladder.source_fps, now = m->of->ladder.source_fps;
    if (before.num != now.num || before.den != now.den)
        past_ring_clear(m->ring);
    m->base.ladder = m->of->ladder;
}

static void on_frame(struct frame_sink *tap, struct coded_frame *f, usec_t now)
{
    (void)now;
    struct rewind_media *m = of_tap(tap);
    if (m->config.is_passed_on)
        take_ladder(m);
    if (past_ring_frame(m->ring, f) && m->feed->ops->begin)
        m->feed->ops->begin(m->feed, f->size_id, f->number + 1);
}

static void on_audio(struct frame_sink *tap, struct coded_audio *c, usec_t now)
{
    (void)now;
    past_ring_audio(of_tap(tap)->ring, c);
}

static void on_end(struct frame_sink *tap, const char *why, usec_t now)
{
    (void)why;
    (void)tap;
    (void)now; // the past stays
}

static void on_highest(struct frame_sink *tap, usec_t now)
{
    struct rewind_media *m = of_tap(tap);
    (void)now;
    m->base.unencoded = m->of->unencoded; // the tap is told first: its feed is the oldest
}

static int start(struct stream_media *base, uv_loop_t *loop)
{
    static const struct frame_sink_ops tap = {
        .on_frame = on_frame, .on_audio = on_audio, .on_end = on_end, .on_highest = on_highest};
    struct rewind_media *m = (struct rewind_media *)base;
    int err = m->of->ops->start ? m->of->ops->start(m->of, loop) : 0;
    if (err)
        return err;
    m->tap.ops = &tap;
    // The first feed: frames are in the ring before a viewer gets them.
    struct media_feed_config config = {.loop = loop, .sink = &m->tap};
    m->feed = m->of->ops->feed_new(m->of, &config);
    if (!m->feed) {
        log_error("cannot keep the past of the stream: out of memory");
        return ERR_IO;
    }
    m->feed->takes_any_rate = true;
    if (m->config.is_passed_on) {
        for (int i = 0; i < m->of->ladder.size_count; i++)
            m->feed->ops->watch(m->feed, i, 1);
        m->feed->ops->watch_audio(m->feed, 1);
    }
    return 0;
}

static struct media_feed *feed_new(struct stream_media *base,
                                   const struct media_feed_config *config)
{
    const struct rewind_media *m = (struct rewind_media *)base;
    struct rewind_feed_config of = {.media = m->of,
                                    .ring = m->ring,
                                    .span = m->config.span,
                                    .record = m->config.record,
                                    .is_passed_on = m->config.is_passed_on,
                                    .feed = *config};
    return rewind_feed_new(&of);
}

static void describe(const struct stream_media *base, int size_id, struct sdp *out)
{
    const struct stream_media *of = ((const struct rewind_media *)base)->of;
    of->ops->describe(of, size_id, out);
}

static void stats(const struct stream_media *base, struct stream_stats *out)
{
    const struct stream_media *of = ((const struct rewind_media *)base)->of;
    of->ops->stats(of, out);
}

static void take(struct stream_media *base, struct picture_taker *t)
{
    struct stream_media *of = ((struct rewind_media *)base)->of;
    of->ops->take(of, t);
}

static void leave(struct stream_media *base, struct picture_taker *t)
{
    struct stream_media *of = ((struct rewind_media *)base)->of;
    of->ops->leave(of, t);
}

static bool is_over(const struct stream_media *base)
{
    const struct stream_media *of = ((const struct rewind_media *)base)->of;
    return of->ops->is_over && of->ops->is_over(of);
}

static bool away(const struct stream_media *base, struct media_away *out)
{
    const struct stream_media *of = ((const struct rewind_media *)base)->of;
    return of->ops->away && of->ops->away(of, out);
}

static void media_free(struct stream_media *base)
{
    struct rewind_media *m = (struct rewind_media *)base;
    if (m->feed)
        m->feed->ops->free(m->feed);
    m->of->ops->free(m->of);
    past_ring_free(m->ring);
    free((char *)(uintptr_t)m->config.record);
    free(m);
}

struct stream_media *rewind_media_new(struct stream_media *of,
                                      const struct rewind_media_config *config)
{
    static const struct stream_media_ops ops = {.start = start,
                                                .feed_new = feed_new,
                                                .describe = describe,
                                                .stats = stats,
                                                .take = take,
                                                .leave = leave,
                                                .is_over = is_over,
                                                .away = away,
                                                .free = media_free};
    assert(of->duration < 0 && of->codec == SDP_H264 && !of->relays);
    assert(!of->reorders || (config->is_passed_on && !config->record));
    assert(of->ops->describe && of->ops->stats && of->ops->take);
    struct rewind_media *m = calloc(1, sizeof(*m));
    struct past_ring_config ring = {.span = config->span + MARGIN, .bytes = config->bytes};
    char *record = config->record ? strdup(config->record) : NULL;
    if (m)
        m->ring = past_ring_new(&ring);
    if (!m || !m->ring || (config->record && !record)) {
        if (m)
            past_ring_free(m->ring);
        free(record);
        free(m);
        of->ops->free(of);
        log_error("cannot keep the past of the stream: out of memory");
        return NULL;
    }
    m->base = *of;
    m->base.ops = &ops;
    m->base.audio_track_count = 0; // the past has one track
    usec_t back = !record ? config->span : config->kept ? config->kept : KEPT;
    m->base.back = usec_to_sec(back);
    m->of = of;
    m->config = *config;
    m->config.record = record;
    return &m->base;
}
