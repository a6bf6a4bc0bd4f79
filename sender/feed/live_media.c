// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/live_media.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "sender/feed/live_feed.h"
#include "sender/policy/layer_refresh.h"

// So many frames of a file wait for the transport of its only viewer before the file waits, too:
// about two seconds, in which the encoder's rate follows the network.
enum { FULL_FRAMES = 64 };

struct live_viewer;

struct live_media {
    struct stream_media base;     // first
    struct live_feed *feed;       // owned
    struct live_viewer *viewers;  // borrowed
    int playing;                  // number of viewers that play
    struct picture_taker *takers; // borrowed
};

struct live_viewer {
    struct media_feed base;   // first
    struct live_media *media; // borrowed
    struct frame_sink *sink;  // borrowed; its number is the account of repair_budget.h
    struct live_viewer *next;
    bool plays;
    int waiting;      // frames that it got since none waited for its transport
    unsigned watched; // sizes, a bit each
    bool hears;
    int audio_track;     // that it hears
    int64_t audio_from;  // position from which on it gets that
    int64_t audio_end;   // end of the audio that it has got
    bool reports_losses; // while it watches
    struct layer_refresh refresh;
};

// ---- The feed of one viewer

static struct live_feed *feed_of(struct media_feed *f)
{
    return ((struct live_viewer *)f)->media->feed;
}

static int account_of(const struct media_feed *f)
{
    return ((const struct live_viewer *)f)->sink->number;
}

// Returns true if all sizes come from one encoder, and a viewer receives the smaller sizes, too.
static bool is_cumulative(const struct media_feed *f)
{
    return ((const struct live_viewer *)f)->media->base.codec == SDP_VP9;
}

// The size to start anew for a viewer that has nothing yet.
static int first_size(const struct media_feed *f, int size_id)
{
    return is_cumulative(f) ? 0 : size_id;
}

// Returns the first size that the viewer does not receive yet.
static int next_size(const struct live_viewer *v)
{
    int next = 0;
    while (v->watched >> next)
        next++;
    return next;
}

static void watch(struct media_feed *f, int size_id, int change)
{
    struct live_viewer *v = (struct live_viewer *)f;
    if (v->watched == 0)
        v->reports_losses = f->reports_losses;
    struct live_feed_viewer viewer = {account_of(f), v->reports_losses};
    int next = next_size(v);
    v->watched ^= 1u << size_id;
    if (!is_cumulative(f))
        live_feed_watch(feed_of(f), size_id, &viewer, change);
    else if (next == 0 || !v->watched)
        live_feed_watch(feed_of(f), 0, &viewer, change);
    else if (change > 0 && size_id >= next)
        live_feed_begin(feed_of(f), next, viewer.account, 0);
}

static void watch_audio(struct media_feed *f, int change)
{
    struct live_viewer *v = (struct live_viewer *)f;
    v->hears = change > 0;
    live_feed_watch_audio(feed_of(f), v->audio_track, change);
}

// The tracks' packets do not begin at the same positions: of the new one, those that overlap the
// audio that the viewer has got are left out.
static void set_audio_track(struct media_feed *f, int track)
{
    struct live_viewer *v = (struct live_viewer *)f;
    if (v->hears)
        live_feed_watch_audio(feed_of(f), track, +1);
    if (v->hears)
        live_feed_watch_audio(feed_of(f), v->audio_track, -1);
    v->audio_track = track;
    v->audio_from = v->audio_end;
}

// A file is held back by the transport of a viewer that is alone. Viewers that share one get it at
// its own pace.
static void hold_back(struct live_media *m)
{
    bool full = false;
    for (const struct live_viewer *v = m->viewers; v; v = v->next)
        full |= v->plays && v->waiting >= FULL_FRAMES;
    live_feed_set_full(m->feed, full && m->playing == 1);
}

static void play(struct media_feed *f, bool plays)
{
    struct live_viewer *v = (struct live_viewer *)f;
    v->media->playing += plays - v->plays;
    v->plays = plays;
    v->waiting = 0;
    hold_back(v->media);
}

static void drained(struct media_feed *f, usec_t now)
{
    struct live_viewer *v = (struct live_viewer *)f;
    (void)now;
    bool was_full = v->waiting >= FULL_FRAMES;
    v->waiting = 0;
    if (was_full)
        hold_back(v->media);
}

static void set_bitrate(struct media_feed *f, int size_id, int bps)
{
    live_feed_set_bitrate(feed_of(f), size_id, bps);
}

static void repair(struct media_feed *f, int size_id, int64_t number)
{
    live_feed_repair(feed_of(f), size_id, number, account_of(f));
}

static void request_key(struct media_feed *f, int size_id, usec_t now)
{
    struct live_viewer *v = (struct live_viewer *)f;
    if (is_cumulative(f))
        size_id = layer_refresh_size(&v->refresh, next_size(v), now);
    live_feed_request_key(feed_of(f), size_id, account_of(f), now);
}

static void begin(struct media_feed *f, int size_id, int64_t from)
{
    live_feed_begin(feed_of(f), first_size(f, size_id), account_of(f), from);
}

static bool is_alone(const struct media_feed *f)
{
    const struct live_viewer *v = (const struct live_viewer *)f;
    return v->media->playing == v->plays;
}

static enum media_placed place(struct media_feed *f, const struct media_seek *to,
                               struct media_place *out, usec_t now)
{
    int64_t number, first = ERR_UNSUPPORTED;
    out->seconds = usec_to_sec(live_feed_position(feed_of(f), &number));
    if (to && fabs(to->seconds - out->seconds) > 0.001)
        first = live_feed_seek(feed_of(f), (usec_t)(to->seconds * 1e6), to->ahead);
    bool sought = first >= 0;
    if (sought) {
        out->seconds = to->seconds;
        number = first;
        drained(f, now); // what waits is dropped
    }
    out->frames =
        (struct rtsp_frames){.first = number, .show = number, .ahead = sought && to->ahead};
    return sought ? MEDIA_SOUGHT : MEDIA_CONTINUES;
}

static void set_speed(struct media_feed *f, double speed)
{
    live_feed_set_speed(feed_of(f), speed);
}

static void viewer_free(struct media_feed *f)
{
    struct live_viewer *v = (struct live_viewer *)f;
    struct live_viewer **at = &v->media->viewers;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    free(v);
}

#define OF_ALL                                                                                     \
    .watch = watch, .watch_audio = watch_audio, .play = play, .set_bitrate = set_bitrate,          \
    .repair = repair, .request_key = request_key, .begin = begin, .is_alone = is_alone,            \
    .set_audio_track = set_audio_track, .free = viewer_free

static const struct media_feed_ops device_ops = {OF_ALL};
static const struct media_feed_ops file_ops = {OF_ALL, .place = place, .set_speed = set_speed,
                                               .drained = drained};

// ---- The media of all viewers

// Sending to hundreds of viewers takes milliseconds, so each call gets the current time.
static void on_frame(void *ctx, struct coded_frame *f, usec_t now)
{
    (void)now;
    struct live_media *m = ctx;
    bool is_file = m->base.duration >= 0;
    for (struct live_viewer *v = m->viewers; v; v = v->next) {
        v->waiting += is_file && v->plays; // before `drained`
        v->sink->ops->on_frame(v->sink, f, clock_now());
        if (v->waiting < FULL_FRAMES)
            continue;
        if (!v->sink->ops->has_waiting || !v->sink->ops->has_waiting(v->sink))
            v->waiting = 0; // they were of a size or layer that it does not get
        hold_back(m);
    }
}

static void on_audio(void *ctx, struct coded_audio *c, usec_t now)
{
    const struct live_media *m = ctx;
    for (struct live_viewer *v = m->viewers; v; v = v->next) {
        if (c->track != v->audio_track || c->position < v->audio_from)
            continue;
        v->audio_end = c->position + AUDIO_PACKET;
        v->sink->ops->on_audio(v->sink, c, now);
    }
}

static void on_picture(void *ctx, struct picture *p, usec_t now)
{
    struct live_media *m = ctx;
    struct picture_taker *t = m->takers;
    const struct taken_picture taken = {.picture = p, .err = p ? 0 : ERR_END};
    m->takers = NULL; // those that come meanwhile want the next one
    for (struct picture_taker *next; t; t = next) {
        next = t->next;
        t->on_picture(t, &taken, now);
    }
}

static void on_top(void *ctx, int size_id, usec_t now)
{
    struct live_media *m = ctx;
    int highest = m->base.ladder.level_count - 1;
    while (highest > 0 && m->base.ladder.levels[highest].size_id > size_id)
        highest--;
    m->base.unencoded = m->base.ladder.level_count - 1 - highest;
    for (struct live_viewer *v = m->viewers; v; v = v->next)
        if (v->sink->ops->on_highest)
            v->sink->ops->on_highest(v->sink, now);
}

static void on_end(void *ctx, const char *why, usec_t now)
{
    const struct live_media *m = ctx;
    live_feed_take(m->feed, false);
    on_picture(ctx, NULL, now);
    for (struct live_viewer *v = m->viewers; v; v = v->next)
        v->sink->ops->on_end(v->sink, why, now);
}

static bool is_over(const struct stream_media *m)
{
    return live_feed_is_over(((const struct live_media *)m)->feed);
}

static int start(struct stream_media *m, uv_loop_t *loop)
{
    return live_feed_start(((struct live_media *)m)->feed, loop);
}

static struct media_feed *feed_new(struct stream_media *base,
                                   const struct media_feed_config *config)
{
    struct live_media *m = (struct live_media *)base;
    struct live_viewer *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    bool is_file = base->duration >= 0;
    *v = (struct live_viewer){.base.ops = is_file ? &file_ops : &device_ops,
                              .base.stands_still = is_file,
                              .base.is_film = is_file,
                              .base.reorders = base->reorders,
                              .media = m,
                              .audio_from = INT64_MIN,
                              .audio_end = INT64_MIN,
                              .sink = config->sink};
    struct live_viewer **at = &m->viewers;
    while (*at) // viewers get a frame in the order in which they joined
        at = &(*at)->next;
    *at = v;
    return &v->base;
}

static void take(struct stream_media *base, struct picture_taker *t)
{
    struct live_media *m = (struct live_media *)base;
    t->next = m->takers;
    m->takers = t;
    live_feed_take(m->feed, true);
}

static void leave(struct stream_media *base, struct picture_taker *t)
{
    struct live_media *m = (struct live_media *)base;
    struct picture_taker **at = &m->takers;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    if (!m->takers)
        live_feed_take(m->feed, false);
}

static void describe(const struct stream_media *m, int size_id, struct sdp *out)
{
    const struct live_feed *feed = ((const struct live_media *)m)->feed;
    snprintf(out->sprop, sizeof(out->sprop), "%s", live_feed_sprop(feed, size_id));
    snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%s",
             live_feed_profile(feed, size_id));
}

static void stats(const struct stream_media *m, struct stream_stats *out)
{
    struct live_feed *feed = ((const struct live_media *)m)->feed;
    out->encoder_count = m->ladder.size_count;
    for (int i = 0; i < out->encoder_count; i++) {
        const struct size_spec *size = &m->ladder.sizes[i];
        struct encoder_stats *e = &out->encoders[i];
        *e = (struct encoder_stats){.width = size->width,
                                    .height = size->height,
                                    .fps = fps_value(size->fps),
                                    .bitrate_bps = ladder_size_bitrate(&m->ladder, i),
                                    .passes = ladder_size_passes(&m->ladder, i)};
        live_feed_stats_of_size(feed, i, &e->stats);
    }
    if (live_feed_stats_of_audio(feed, &out->audio))
        out->audio_bps = m->audio_bps;
}

static void media_free(struct stream_media *m)
{
    live_feed_free(((struct live_media *)m)->feed);
    free(m);
}

// Returns after how many pictures all sizes have a frame of their base layer again, where they can
// start.
static int step_of(const struct ladder *l)
{
    int step = 1;
    for (int i = 0; i < l->size_count; i++) {
        const struct size_spec *size = &l->sizes[i];
        int apart = (int)ceil(fps_value(l->source_fps) / fps_value(size->fps) - 0.01);
        int period = apart << (size->layers - 1);
        step = period > step ? period : step;
    }
    return step;
}

struct stream_media *live_media_new(struct source *source, const struct ladder *ladder,
                                    enum sdp_codec codec, const struct video_engine *engine)
{
    static const struct stream_media_ops ops = {.start = start,
                                                .feed_new = feed_new,
                                                .describe = describe,
                                                .stats = stats,
                                                .take = take,
                                                .leave = leave,
                                                .is_over = is_over,
                                                .free = media_free};
    static const struct live_feed_events events = {.on_frame = on_frame,
                                                   .on_audio = on_audio,
                                                   .on_picture = on_picture,
                                                   .on_top = on_top,
                                                   .on_end = on_end};
    struct live_media *m = calloc(1, sizeof(*m));
    if (!m) {
        source_free(source);
        return NULL;
    }
    m->base = (struct stream_media){.ops = &ops,
                                    .ladder = *ladder,
                                    .kind = source->kind,
                                    .duration = source->duration,
                                    .codec = codec,
                                    .encodes = true,
                                    .reorders = ladder->passes && source->coded.reorders};
    // SDP, JSON and Prometheus require UTF-8
    utf8_copy(source->name, m->base.title, sizeof(m->base.title));
    source->seek_step = step_of(ladder);
    source->shows_way = true;
    m->feed = live_feed_new(source, ladder, codec, engine, &events, m);
    if (m->feed)
        return &m->base;
    free(m);
    return NULL;
}

void live_media_lower_when_slow(struct stream_media *m)
{
    live_feed_lower_when_slow(((struct live_media *)m)->feed);
}

int live_media_add_audio(struct stream_media *m, struct audio_source *audio, int bitrate_bps)
{
    char name[sizeof(audio->track)];
    snprintf(name, sizeof(name), "%s", audio->track);
    int err = live_feed_add_audio(((struct live_media *)m)->feed, audio, bitrate_bps);
    if (err)
        return err;
    m->audio_bps = bitrate_bps;
    utf8_copy(name, m->audio_tracks[m->audio_track_count++], SDP_TRACK_NAME);
    return 0;
}
