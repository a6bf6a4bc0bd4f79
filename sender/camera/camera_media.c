// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/camera/camera_media.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"
#include "common/net/mailbox.h"
#include "common/net/timer.h"
#include "sender/camera/camera_audio.h"
#include "sender/camera/group_still.h"
#include "sender/policy/camera_pair.h"
#include "sender/policy/frame_group.h"

// The frames of a group and, for each, a packet or two of audio.
enum { WAITING = 4 * FRAME_GROUP_FRAMES, WAITING_BYTES = 2 * FRAME_GROUP_BYTES };

// New viewers decode the group faster than it came, and their queues are bounded.
#define TICK (20 * USEC_PER_MSEC)
static const double DECODED = 250e6; // pixels a second that a viewer is taken to decode
static const double MAX_RATE = 250;  // frames a second
#define STILL_LIMIT (5 * USEC_PER_SEC)
static const double STILL_SECONDS = 1;       // that decoding may take
static const size_t TICK_BYTES = 256 * 1024; // 100 Mbit/s

// A message to the loop. One of the pointers but `of` is not NULL; or `fps` is not 0; or `ends`; or
// `gone`: the camera's thread ends.
struct item {
    struct camera_stream *of;       // borrowed; that it is of. NULL: of none
    struct coded_frame *frame;      // one reference
    struct coded_audio *audio;      // one reference
    struct camera_picture *picture; // owned
    struct picture *still;          // one reference; `is_still`
    struct fps fps;                 // of the numbers from now on
    bool is_still;                  // of group_still; NULL: it did not decode
    bool ends;                      // the media, for good
    bool gone;
};

struct camera_viewer {
    struct media_feed base;     // first
    struct camera_media *media; // borrowed
    struct frame_sink *sink;    // borrowed
    struct camera_viewer *next;
    struct {
        bool watches;
        bool begins; // gets the group from the timer, and is behind the camera
        int given;   // frames of the group; `begins`
    } sizes[CAMERA_STREAMS];
    bool hears;
};

// A stream of the camera, and the size of its index.
struct camera_stream {
    struct camera_media *media; // borrowed
    struct camera *camera;      // owned
    struct camera_picture picture;
    struct fps fps;           // of its numbers
    struct fps untold;        // the camera's thread alone: that the loop is to learn; 0: none
    struct frame_group group; // of the size
    uint64_t keys, bytes;     // so far
};

struct camera_media {
    struct stream_media base; // first
    struct camera_stream streams[CAMERA_STREAMS];
    int stream_count;
    const struct camera_stream *sound; // borrowed; whose audio is sent
    struct camera_pair pair;           // of two streams
    usec_t origin;                     // of their media times
    struct mailbox *mailbox;           // owned; NULL before the start
    struct timer *timer;               // owned; viewers begin
    struct camera_viewer *viewers;     // borrowed
    struct picture_taker *takers;      // borrowed
    struct group_still *stills;        // owned; from the first taker on
    usec_t decoding_until;             // it has a group, at most until then; 0: it has none
    bool closed;                       // it waits for the cameras' threads
    int gone;                          // of these, those that have ended
    bool is_over;                      // the media has ended for good
    char why[160];                     // written before `is_over`: it broke off; "": it did not
};

// ---- From the camera's thread

static void item_free(void *arg)
{
    struct item *item = arg;
    coded_frame_unref(item->frame);
    coded_audio_unref(item->audio);
    free(item->picture);
    picture_unref(item->still);
    free(item);
}

static size_t bytes_of(const struct item *item)
{
    size_t picture = item->still ? (size_t)item->still->width * item->still->height * 3 / 2 : 0;
    return (item->frame ? item->frame->bytes : 0) + (item->audio ? sizeof(*item->audio) : 0) +
           picture;
}

// Takes over what `content` owns. A full mailbox drops frames; viewers then wait for a key frame.
// Returns false if it did.
static bool post(const struct camera_media *m, struct item content)
{
    struct item *item = malloc(sizeof(*item));
    if (item)
        *item = content;
    if (item && mailbox_post_bytes(m->mailbox, item, bytes_of(item), WAITING_BYTES))
        return true;
    coded_frame_unref(content.frame);
    coded_audio_unref(content.audio);
    free(content.picture);
    picture_unref(content.still);
    free(item);
    return false;
}

// Posts an item that owns nothing, and waits while the mailbox is full: it drains.
static void post_surely(const struct camera_media *m, struct item content)
{
    struct timespec pause = {.tv_nsec = (long)(10 * USEC_PER_MSEC * 1000)};
    while (!post(m, content))
        nanosleep(&pause, NULL);
}

static bool post_of(void *stream, struct item content)
{
    content.of = stream;
    return post(content.of->media, content);
}

// The frames that follow count at the rate: they must not come without it.
static void on_rate(void *ctx, struct fps fps)
{
    struct camera_stream *s = ctx;
    s->untold = post_of(s, (struct item){.fps = fps}) ? (struct fps){0} : fps;
}

static void on_frame(void *ctx, struct coded_frame *f)
{
    struct camera_stream *s = ctx;
    if (s->untold.num)
        on_rate(s, s->untold);
    if (s->untold.num)
        coded_frame_unref(f);
    else
        post_of(s, (struct item){.frame = f});
}

static void on_audio(void *ctx, struct coded_audio *c)
{
    post_of(ctx, (struct item){.audio = c});
}

static void on_picture(void *ctx, const struct camera_picture *p)
{
    struct camera_picture *copy = malloc(sizeof(*copy));
    if (!copy)
        return;
    *copy = *p;
    post_of(ctx, (struct item){.picture = copy});
}

// On the thread of group_still. If the mailbox is full, the takers wait for another picture.
static void on_still(void *ctx, struct picture *p)
{
    post(ctx, (struct item){.still = p, .is_still = true});
}

static void on_end(void *ctx, const char *why)
{
    struct camera_media *m = ((struct camera_stream *)ctx)->media;
    snprintf(m->why, sizeof(m->why), "%s", why ? why : "");
    post_surely(m, (struct item){.ends = true});
}

static void on_gone(void *ctx)
{
    post_surely(ctx, (struct item){.gone = true});
}

// ---- On the loop

static bool is_away(const struct camera_stream *s)
{
    struct camera_stats now;
    camera_stats(s->camera, &now);
    return now.is_away;
}

// Returns true if the picture that viewers see is minutes old.
static bool is_all_away(const struct camera_media *m)
{
    bool away = true;
    for (int i = 0; i < m->stream_count; i++)
        away &= is_away(&m->streams[i]);
    return away;
}

// Decodes the newest picture for the takers, of the smallest size; of a group that takes long, its
// key frame's. Without a group it waits for the next frame.
static void make_still(struct camera_media *m)
{
    usec_t now = clock_now();
    const struct frame_group *g = &m->streams[0].group;
    if (!m->takers || now < m->decoding_until || !g->count)
        return;
    int from = m->pair.from[0];
    const struct camera_stream *s = &m->streams[from < 0 ? 0 : from]; // whose frames they are
    double pixels = (double)s->picture.width * s->picture.height;
    bool is_long = g->count * pixels > STILL_SECONDS * DECODED;
    bool reorders = false;
    for (int i = 0; i < m->stream_count; i++)
        reorders |= camera_reorders(m->streams[i].camera);
    enum decoder_order order = reorders ? DECODER_AS_SHOWN : DECODER_PLAIN;
    if (!m->stills)
        m->stills = group_still_new(order, on_still, m);
    int count = is_long ? 1 : g->count;
    if (m->stills && group_still_decode(m->stills, g, count))
        m->decoding_until = now + STILL_LIMIT;
}

static void give_still(struct camera_media *m, struct picture *p, usec_t now)
{
    struct picture_taker *t = m->takers;
    const struct taken_picture taken = {.picture = p, .err = p ? 0 : ERR_END};
    m->takers = NULL; // those that come meanwhile want the next one
    m->decoding_until = 0;
    for (struct picture_taker *next; t; t = next) {
        next = t->next;
        t->on_picture(t, &taken, now);
    }
}

// Sending to hundreds of viewers takes milliseconds, so each call gets the current time.
static void send_frame(struct camera_media *m, struct coded_frame *f)
{
    struct camera_stream *s = &m->streams[f->size_id];
    frame_group_add(&s->group, f);
    if (f->size_id == 0)
        make_still(m);
    bool is_anew = s->group.count <= 1; // a key frame, or too long a group
    s->keys += f->key;
    s->bytes += f->bytes;
    for (struct camera_viewer *v = m->viewers, *next; v; v = next) {
        next = v->next;
        if (is_anew)
            v->sizes[f->size_id].begins = false;
        if (v->sizes[f->size_id].watches && !v->sizes[f->size_id].begins)
            v->sink->ops->on_frame(v->sink, f, clock_now());
    }
}

// Gives a frame of one of two streams, of which there is no other reference, its number and times
// at the rate of both.
static void number_frame(const struct camera_media *m, struct coded_frame *f,
                         const struct camera_pair_frame *counted)
{
    struct fps rate = m->base.ladder.source_fps;
    f->number = counted->number;
    f->depends_on = counted->depends_on;
    usec_t time = usec_of_frames(f->number, rate.num, rate.den);
    f->pts = f->captured - m->origin;
    f->shown_after = f->pts - time;
}

// The same picture as a frame of another size. NULL: no memory.
static struct coded_frame *copy_for(int size_id, const struct coded_frame *f)
{
    struct coded_frame *copy = coded_frame_new(f->bytes);
    if (!copy)
        return NULL;
    uint8_t *data = copy->data;
    memcpy(data, f->data, f->bytes);
    *copy = *f;
    copy->references = 1;
    copy->size_id = size_id;
    copy->data = data;
    return copy;
}

// A frame of one of two streams came. While the other one is away, this is sent as both.
static void send_pair(struct camera_media *m, struct camera_stream *of, struct coded_frame *f)
{
    struct camera_pair_frame counted = {f->number, f->depends_on, f->key};
    f->size_id = (int)(of - m->streams);
    camera_pair_count(&m->pair, f->size_id, &counted, of->fps, m->base.ladder.source_fps);
    number_frame(m, f, &counted);
    bool other_away = is_away(&m->streams[!f->size_id]);
    unsigned sizes = camera_pair_take(&m->pair, f->size_id, &counted, other_away);
    for (int i = 0; i < CAMERA_STREAMS; i++) {
        if (!(sizes & 1u << i))
            continue;
        struct coded_frame *out = i == f->size_id ? coded_frame_ref(f) : copy_for(i, f);
        if (out)
            send_frame(m, out);
        coded_frame_unref(out);
    }
}

static void send_audio(struct camera_media *m, struct coded_audio *c, usec_t now)
{
    for (struct camera_viewer *v = m->viewers, *next; v; v = next) {
        next = v->next;
        if (v->hears)
            v->sink->ops->on_audio(v->sink, c, now);
    }
}

// The SDP of the next viewers has the size; those that are here read it in the parameter sets.
static void take_picture(struct camera_media *m, struct camera_stream *of,
                         const struct camera_picture *p)
{
    of->picture = *p;
    struct ladder *l = &m->base.ladder;
    struct size_spec *size = &l->sizes[of - m->streams];
    size->width = p->width;
    size->height = p->height;
    l->source_width = l->sizes[l->size_count - 1].width;
    l->source_height = l->sizes[l->size_count - 1].height;
}

// What the viewers were told of the rate does not hold any more: their sessions end. Players
// connect again, as live media has no end of its own.
static void take_rate(struct camera_media *m, struct camera_stream *of, struct fps fps, usec_t now)
{
    struct ladder *l = &m->base.ladder;
    if (fps.num == of->fps.num && fps.den == of->fps.den)
        return;
    of->fps = l->sizes[of - m->streams].fps = l->source_fps = fps;
    if (m->stream_count == CAMERA_STREAMS) {
        l->source_fps = camera_pair_rate(m->streams[CAMERA_MAIN].fps, m->streams[CAMERA_SUB].fps);
        camera_pair_init(&m->pair);
        for (int i = 0; i < CAMERA_STREAMS; i++) // their numbers are at the rate before
            frame_group_clear(&m->streams[i].group);
    }
    for (struct camera_viewer *v = m->viewers, *next; v; v = next) {
        next = v->next;
        if (v->base.takes_any_rate)
            continue;
        memset(v->sizes, 0, sizeof(v->sizes));
        v->hears = false;
        v->sink->ops->on_end(v->sink, "the camera's frame rate has changed", now);
    }
}

static bool begins(const struct camera_viewer *v)
{
    bool does = false;
    for (int i = 0; i < CAMERA_STREAMS; i++)
        does |= v->sizes[i].begins;
    return does;
}

static void end_viewer(struct camera_viewer *v, usec_t now)
{
    const struct camera_media *m = v->media;
    memset(v->sizes, 0, sizeof(v->sizes));
    v->hears = false;
    v->sink->ops->on_end(v->sink, *m->why ? m->why : NULL, now);
}

// Viewers that begin get the rest of the group first.
static void take_end(struct camera_media *m, usec_t now)
{
    m->is_over = true;
    give_still(m, NULL, now);
    for (struct camera_viewer *v = m->viewers, *next; v; v = next) {
        next = v->next;
        if (!begins(v))
            end_viewer(v, now);
    }
}

static void free_all(struct camera_media *m)
{
    for (int i = 0; i < m->stream_count; i++)
        camera_free(m->streams[i].camera);
    mailbox_free(m->mailbox);
    free(m);
}

static void on_item(void *ctx, void *arg, usec_t now)
{
    struct camera_media *m = ctx;
    struct item *item = arg;
    bool gone = item->gone;
    if (!m->closed && item->frame && m->stream_count == CAMERA_STREAMS)
        send_pair(m, item->of, item->frame);
    else if (!m->closed && item->frame)
        send_frame(m, item->frame);
    else if (!m->closed && item->audio)
        send_audio(m, item->audio, now);
    else if (!m->closed && item->picture)
        take_picture(m, item->of, item->picture);
    else if (!m->closed && item->fps.num)
        take_rate(m, item->of, item->fps, now);
    else if (!m->closed && item->is_still)
        give_still(m, is_all_away(m) ? NULL : item->still, now);
    else if (!m->closed && item->ends)
        take_end(m, now);
    item_free(item);
    if (gone && ++m->gone == m->stream_count)
        free_all(m);
}

// Returns the frames of a tick.
static int pace_of(const struct camera_stream *s)
{
    double pixels = (double)s->picture.width * s->picture.height;
    double least = 2 * fps_value(s->fps);
    double rate = fmin(fmax(DECODED / fmax(pixels, 1), least), MAX_RATE);
    return (int)ceil(rate * usec_to_sec(TICK));
}

// Gives the viewer some of the frames since the last key frame, as its network carries them: one
// that is dropped costs all that follow. If the network is slower than the camera, the next key
// frame ends the group.
static void give_some(struct camera_viewer *v, int size_id)
{
    const struct camera_stream *s = &v->media->streams[size_id];
    const struct frame_sink_ops *sink = v->sink->ops;
    size_t bytes = 0;
    if (sink->has_waiting && sink->has_waiting(v->sink))
        return;
    v->base.gives_past = true;
    // The viewer may stop watching the size inside on_frame.
    for (int i = pace_of(s); i > 0 && v->sizes[size_id].begins &&
                             v->sizes[size_id].given < s->group.count && bytes < TICK_BYTES;
         i--) {
        struct coded_frame *f = s->group.frames[v->sizes[size_id].given++];
        bytes += f->bytes;
        sink->on_frame(v->sink, f, clock_now());
    }
    v->base.gives_past = false;
    if (v->sizes[size_id].given >= s->group.count)
        v->sizes[size_id].begins = false;
}

static void on_tick(void *ctx, usec_t now)
{
    struct camera_media *m = ctx;
    bool more = false;
    for (struct camera_viewer *v = m->viewers, *next; v; v = next) {
        next = v->next;
        bool begun = begins(v);
        for (int i = 0; i < m->stream_count; i++)
            if (v->sizes[i].begins)
                give_some(v, i);
        more |= begins(v);
        if (m->is_over && begun && !begins(v))
            end_viewer(v, now);
    }
    if (more)
        timer_set(m->timer, now + TICK);
}

static int start(struct stream_media *base, uv_loop_t *loop)
{
    static const struct camera_sink sink = {.on_frame = on_frame,
                                            .on_audio = on_audio,
                                            .on_picture = on_picture,
                                            .on_rate = on_rate,
                                            .on_end = on_end};
    static const struct camera_sink silent = {
        .on_frame = on_frame, .on_picture = on_picture, .on_rate = on_rate, .on_end = on_end};
    struct camera_media *m = (struct camera_media *)base;
    m->timer = timer_new(loop, on_tick, m);
    m->mailbox = m->timer ? mailbox_new(loop, WAITING, on_item, item_free, m) : NULL;
    if (!m->mailbox) {
        log_error("cannot start the camera: out of memory");
        return ERR_IO;
    }
    for (int i = 0; i < m->stream_count; i++) {
        struct camera_stream *s = &m->streams[i];
        camera_attach(s->camera, s == m->sound ? &sink : &silent, s);
    }
    return 0;
}

// ---- The feed of one viewer

// Gives the viewer the group of the size.
static void begin_size(struct camera_viewer *v, int size_id)
{
    v->sizes[size_id].begins = v->sizes[size_id].watches;
    v->sizes[size_id].given = 0;
    if (v->sizes[size_id].begins)
        timer_set(v->media->timer, 0);
}

// A viewer of the other size comes at the next key frame: the pictures before it are old to it.
static void watch(struct media_feed *f, int size_id, int change)
{
    struct camera_viewer *v = (struct camera_viewer *)f;
    bool switches = v->sizes[0].watches || v->sizes[CAMERA_STREAMS - 1].watches;
    v->sizes[size_id].watches = change > 0;
    v->sizes[size_id].begins = false;
    if (!switches)
        begin_size(v, size_id);
}

static void watch_audio(struct media_feed *f, int change)
{
    ((struct camera_viewer *)f)->hears = change > 0;
}

static void request_key(struct media_feed *f, int size_id, usec_t now)
{
    (void)now;
    camera_request_key(((struct camera_viewer *)f)->media->streams[size_id].camera);
}

// The frames since the newest key frame serve, if that is late enough. If not, the camera decides
// when; some make a key frame when they are asked.
static void begin(struct media_feed *f, int size_id, int64_t from)
{
    struct camera_viewer *v = (struct camera_viewer *)f;
    const struct frame_group *g = &v->media->streams[size_id].group;
    if (v->sizes[size_id].begins)
        return;
    if (g->count && g->frames[0]->number >= from)
        begin_size(v, size_id);
    else
        request_key(f, size_id, 0);
}

static void play(struct media_feed *f, bool plays)
{
    (void)f, (void)plays;
}

static bool is_alone(const struct media_feed *f)
{
    (void)f;
    return false; // the camera never waits for a viewer
}

static void viewer_free(struct media_feed *f)
{
    struct camera_viewer *v = (struct camera_viewer *)f;
    struct camera_viewer **at = &v->media->viewers;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    free(v);
}

static struct media_feed *feed_new(struct stream_media *base,
                                   const struct media_feed_config *config)
{
    static const struct media_feed_ops ops = {.watch = watch,
                                              .watch_audio = watch_audio,
                                              .play = play,
                                              .request_key = request_key,
                                              .begin = begin,
                                              .is_alone = is_alone,
                                              .free = viewer_free};
    struct camera_media *m = (struct camera_media *)base;
    struct camera_viewer *v = calloc(1, sizeof(*v));
    if (!v)
        return NULL;
    *v = (struct camera_viewer){
        .base = {.ops = &ops, .has_rates = m->stream_count > 1}, .media = m, .sink = config->sink};
    struct camera_viewer **at = &m->viewers;
    while (*at) // viewers get a frame in the order in which they joined
        at = &(*at)->next;
    *at = v;
    return &v->base;
}

// ---- The media of all viewers

static bool is_over(const struct stream_media *base)
{
    return ((const struct camera_media *)base)->is_over;
}

static void take(struct stream_media *base, struct picture_taker *t)
{
    struct camera_media *m = (struct camera_media *)base;
    t->next = m->takers;
    m->takers = t;
    make_still(m);
}

static void leave(struct stream_media *base, struct picture_taker *t)
{
    struct picture_taker **at = &((struct camera_media *)base)->takers;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
}

static void describe(const struct stream_media *base, int size_id, struct sdp *out)
{
    const struct camera_media *m = (const struct camera_media *)base;
    int from = m->pair.from[size_id];
    const struct camera_picture *p = &m->streams[from < 0 ? size_id : from].picture;
    snprintf(out->sprop, sizeof(out->sprop), "%s", p->sprop);
    snprintf(out->profile_level_id, sizeof(out->profile_level_id), "%s", p->profile_level_id);
}

static void stats(const struct stream_media *base, struct stream_stats *out)
{
    const struct camera_media *m = (const struct camera_media *)base;
    out->encoder_count = m->stream_count;
    for (int i = 0; i < m->stream_count; i++) {
        const struct camera_stream *s = &m->streams[i];
        struct camera_stats now;
        camera_stats(s->camera, &now);
        out->encoders[i] = (struct encoder_stats){.width = s->picture.width,
                                                  .height = s->picture.height,
                                                  .fps = fps_value(s->fps),
                                                  .bitrate_bps = (int)now.rate_bps,
                                                  .stats = {.frames = now.frames,
                                                            .keys = s->keys,
                                                            .bytes = s->bytes,
                                                            .bitrate_bps = (int)now.rate_bps}};
    }
    out->audio_bps = m->base.audio_bps;
}

// Of two streams, the time at which the last one was lost.
static bool away(const struct stream_media *base, struct media_away *out)
{
    const struct camera_media *m = (const struct camera_media *)base;
    out->since = INT64_MIN;
    for (int i = 0; i < m->stream_count; i++) {
        struct camera_stats now;
        camera_stats(m->streams[i].camera, &now);
        if (!now.is_away)
            return false;
        if (now.away_since < out->since)
            continue;
        out->since = now.away_since;
        static_assert(sizeof(out->why) == sizeof(now.why), "the same text");
        memcpy(out->why, now.why, sizeof(out->why));
    }
    return true;
}

static void media_free(struct stream_media *base)
{
    struct camera_media *m = (struct camera_media *)base;
    group_still_free(m->stills);
    timer_free(m->timer);
    for (int i = 0; i < m->stream_count; i++)
        frame_group_clear(&m->streams[i].group);
    if (!m->mailbox) {
        free_all(m);
        return;
    }
    m->closed = true;
    for (int i = 0; i < m->stream_count; i++)
        camera_stop(m->streams[i].camera, on_gone, m);
}

struct stream_media *camera_media_new(struct camera *main, struct camera *sub)
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
    struct camera_media *m = calloc(1, sizeof(*m));
    if (!m) {
        log_error("cannot pass the camera on: out of memory");
        camera_free(main);
        camera_free(sub);
        return NULL;
    }
    // Pictures of two streams are shown at their times of capture, between those of their numbers.
    bool has_times = camera_reorders(main) || sub;
    m->origin = camera_origin(main);
    m->base = (struct stream_media){.ops = &ops,
                                    .kind = has_times ? SDP_SOURCE_RELAYED : SDP_SOURCE_CAMERA,
                                    .duration = -1,
                                    .codec = SDP_H264};
    camera_pair_init(&m->pair);
    struct ladder *l = &m->base.ladder;
    if (sub)
        m->streams[m->stream_count++].camera = sub;
    m->streams[m->stream_count++].camera = main;
    *l = (struct ladder){.size_count = m->stream_count, .level_count = m->stream_count};
    for (int i = 0; i < m->stream_count; i++) {
        struct camera_stream *s = &m->streams[i];
        s->media = m;
        s->fps = camera_fps(s->camera);
        camera_picture(s->camera, &s->picture);
        if (camera_audio_codec(s->camera))
            m->sound = s; // main's, if it has any
        int lower = i > 0 ? l->levels[i - 1].bitrate_bps : 0, own = camera_bitrate(s->camera);
        l->sizes[i] = (struct size_spec){.fps = s->fps, .layers = 1};
        l->levels[i] = (struct level){.size_id = i, .bitrate_bps = own > lower ? own : lower + 1};
        take_picture(m, s, &s->picture);
    }
    l->source_fps = sub ? camera_pair_rate(camera_fps(main), camera_fps(sub)) : camera_fps(main);
    m->base.audio_bps = m->sound ? CAMERA_AUDIO_BPS : 0;
    char name[sizeof(m->base.title)];
    camera_name(main, name, sizeof(name));
    utf8_copy(name, m->base.title, sizeof(m->base.title));
    return &m->base;
}
