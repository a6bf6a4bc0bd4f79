// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/rewind_feed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/clock.h"
#include "common/net/timer.h"
#include "server/policy/number_shift.h"

#define PRESENT      USEC_PER_SEC       // a target that is nearer than this is the present
#define REPAIR_EVERY (USEC_PER_SEC / 2) // min. interval of repairs of all needed frames

struct rewind_feed {
    struct media_feed base; // first
    struct frame_sink sink; // of `of`
    struct rewind_feed_config config;
    struct media_feed *of; // owned: the feed of the present
    int64_t period;        // number_shift_period
    struct timer *timer;   // owned; in the past: the next item is due
    int watched;           // number of sizes
    int64_t newest;        // number of the newest frame of the present that came; -1: none
    int64_t next;          // above all numbers that were delivered
    int64_t shift;         // of the numbers that are delivered now
    int64_t from;          // the first number that has this shift
    bool ended;            // the present has
    // The past
    bool is_past;
    bool waits;      // all items of the ring were delivered
    int64_t at;      // serial number of the next item
    int64_t first;   // of the item at which it began
    usec_t delay;    // between the capture of an item and its delivery
    usec_t repaired; // last repair of all frames that the newest one needs
};

static struct rewind_feed *of_sink(struct frame_sink *sink)
{
    return (struct rewind_feed *)((char *)sink - offsetof(struct rewind_feed, sink));
}

static struct frame_sink *viewer_of(const struct rewind_feed *f)
{
    return f->config.feed.sink;
}

// Returns the feed of the present, for which this viewer has its account (live_media).
static struct media_feed *present(struct rewind_feed *f)
{
    f->sink.number = viewer_of(f)->number;
    return f->of;
}

// ---- What is delivered

// Returns the frame with this viewer's number, captured `delay` later. NULL: no memory.
static struct coded_frame *shifted(const struct rewind_feed *f, struct coded_frame *from,
                                   usec_t delay)
{
    if (f->shift == 0 && delay == 0)
        return coded_frame_ref(from);
    struct coded_frame *to = coded_frame_new(from->bytes);
    if (!to)
        return NULL;
    int references = to->references;
    uint8_t *data = to->data;
    *to = *from;
    to->references = references;
    to->data = data;
    memcpy(data, from->data, from->bytes);
    to->number = from->number + f->shift;
    to->depends_on = from->depends_on < 0 ? -1 : from->depends_on + f->shift;
    to->captured = from->captured + delay;
    to->capture_wall = from->capture_wall + delay;
    return to;
}

static void give_frame(struct rewind_feed *f, struct coded_frame *from, usec_t delay, usec_t now)
{
    struct coded_frame *frame = shifted(f, from, delay);
    if (!frame)
        return;
    if (frame->number >= f->next)
        f->next = frame->number + 1;
    viewer_of(f)->ops->on_frame(viewer_of(f), frame, now);
    coded_frame_unref(frame);
}

static void give_audio(struct rewind_feed *f, struct coded_audio *from, usec_t delay, usec_t now)
{
    if (f->shift == 0 && delay == 0) {
        viewer_of(f)->ops->on_audio(viewer_of(f), from, now);
        return;
    }
    struct coded_audio *to = coded_audio_new();
    if (!to)
        return;
    struct fps fps = f->config.media->ladder.source_fps;
    memcpy(to->data, from->data, from->bytes);
    to->bytes = from->bytes;
    to->position = from->position + audio_samples(number_shift_media(f->shift, fps));
    to->captured = from->captured + delay;
    to->capture_wall = from->capture_wall + delay;
    viewer_of(f)->ops->on_audio(viewer_of(f), to, now);
    coded_audio_unref(to);
}

// ---- The past

static bool goes_on(const struct rewind_feed *f)
{
    return f->is_past && f->watched > 0;
}

// Returns the item at `at`; if it has left the ring, goes on at the oldest start. NULL: none yet.
static const struct past_item *next_item(struct rewind_feed *f, usec_t now)
{
    const struct past_item *i = past_ring_at(f->config.ring, f->at);
    if (i || f->at >= past_ring_end(f->config.ring))
        return i;
    int64_t oldest = past_ring_find(f->config.ring, 0, 0);
    if (oldest < 0)
        return NULL;
    i = past_ring_at(f->config.ring, oldest);
    f->at = oldest;
    f->delay = now - i->captured;
    return i;
}

static void run(void *ctx, usec_t now)
{
    struct rewind_feed *f = ctx;
    const struct past_item *i;
    while (goes_on(f) && (i = next_item(f, now)) && i->captured + f->delay <= now) {
        f->at++;
        if (i->frame)
            give_frame(f, i->frame, f->delay, now);
        else
            give_audio(f, i->audio, f->delay, now);
    }
    if (!goes_on(f))
        return;
    i = next_item(f, now);
    f->waits = !i;
    timer_set(f->timer, i ? i->captured + f->delay : USEC_NEVER);
    if (!i && f->ended)
        viewer_of(f)->ops->on_end(viewer_of(f), now);
}

static void set_shift(struct rewind_feed *f, int64_t first)
{
    f->shift = number_shift_of(f->period, first, f->next);
    f->from = first + f->shift;
}

static void fill_past(const struct rewind_feed *f, const struct past_item *i,
                      struct media_place *out)
{
    out->wall = i->frame ? i->frame->capture_wall : i->audio->capture_wall;
    out->behind = f->delay;
    out->frames.first = out->frames.show = f->from;
}

static int64_t newest_number(const struct rewind_feed *f)
{
    for (int64_t s = past_ring_end(f->config.ring) - 1; s >= past_ring_begin(f->config.ring); s--)
        if (past_ring_at(f->config.ring, s)->frame)
            return past_ring_at(f->config.ring, s)->frame->number;
    return f->newest;
}

static enum media_placed go_live(struct rewind_feed *f, struct media_place *out)
{
    if (!f->is_past)
        return MEDIA_NOWHERE;
    f->is_past = f->waits = false;
    timer_set(f->timer, USEC_NEVER);
    set_shift(f, newest_number(f) + 1);
    out->frames.first = out->frames.show = f->from;
    return MEDIA_SOUGHT;
}

static enum media_placed go_back(struct rewind_feed *f, int size_id, usec_t time,
                                 struct media_place *out, usec_t now)
{
    time = usec_max(time, now - f->config.span);
    int64_t serial = past_ring_find(f->config.ring, size_id, time);
    if (serial < 0) // no viewer has watched yet
        return go_live(f, out);
    const struct past_item *i = past_ring_at(f->config.ring, serial);
    f->is_past = true;
    f->at = f->first = serial;
    f->delay = now - i->captured;
    f->repaired = now;
    set_shift(f, i->frame->number);
    timer_set(f->timer, f->watched > 0 ? now : USEC_NEVER);
    fill_past(f, i, out);
    return MEDIA_SOUGHT;
}

static enum media_placed place(struct media_feed *feed, const struct media_seek *to,
                               struct media_place *out, usec_t now)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    out->scale = 1;
    bool seeks = to && to->wall;
    usec_t time = now;
    if (seeks && to->wall != USEC_NEVER)
        time = now - (clock_wall() - to->wall);
    if (seeks)
        return time > now - PRESENT ? go_live(f, out)
                                    : go_back(f, to->level->size_id, time, out, now);
    if (!f->is_past)
        return MEDIA_NOWHERE;
    const struct past_item *i = past_ring_at(f->config.ring, f->at);
    if (!i || f->watched == 0) // after a pause
        return go_back(f, to ? to->level->size_id : 0, i ? i->captured : now - f->delay, out, now);
    fill_past(f, i, out);
    out->frames.first = out->frames.show = f->next;
    return MEDIA_CONTINUES;
}

// ---- From the present

static void on_frame(struct frame_sink *sink, struct coded_frame *frame, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    if (frame->number > f->newest)
        f->newest = frame->number;
    if (!f->is_past)
        give_frame(f, frame, 0, now);
    else if (f->waits)
        run(f, now);
}

static void on_again(struct frame_sink *sink, struct coded_frame *frame, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    struct coded_frame *again = f->is_past ? NULL : shifted(f, frame, 0);
    if (again && again->number >= f->from)
        viewer_of(f)->ops->on_again(viewer_of(f), again, now);
    coded_frame_unref(again);
}

static void on_audio(struct frame_sink *sink, struct coded_audio *c, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    if (!f->is_past)
        give_audio(f, c, 0, now);
    else if (f->waits)
        run(f, now);
}

static void on_end(struct frame_sink *sink, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    f->ended = true;
    if (!f->is_past || f->waits)
        viewer_of(f)->ops->on_end(viewer_of(f), now);
}

// ---- From the viewer

static void watch(struct media_feed *feed, int size_id, int change)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    bool before = f->watched > 0;
    f->watched += change;
    assert(f->watched >= 0);
    f->of->reports_losses = feed->reports_losses;
    f->of->ops->watch(present(f), size_id, change);
    if (f->is_past && before != (f->watched > 0))
        timer_set(f->timer, f->watched > 0 ? clock_now() : USEC_NEVER);
}

static void watch_audio(struct media_feed *feed, int change)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    f->of->ops->watch_audio(present(f), change);
}

static void play(struct media_feed *feed, bool plays)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    f->of->ops->play(present(f), plays);
}

// In the past the network says nothing about what is encoded now.
static void set_bitrate(struct media_feed *feed, int size_id, int bps)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    f->of->ops->set_bitrate(present(f), size_id, f->is_past ? 0 : bps);
}

static void repair(struct media_feed *feed, int size_id, int64_t number)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    if (!f->is_past && number >= f->from)
        f->of->ops->repair(present(f), size_id, number - f->shift);
}

// Delivers the frames again that the newest one needs.
static void repeat(struct rewind_feed *f, int size_id, usec_t now)
{
    int64_t serial = past_ring_start_of(f->config.ring, size_id, f->at);
    if (now - f->repaired < REPAIR_EVERY || serial < f->first)
        return;
    f->repaired = now;
    for (; goes_on(f) && serial < f->at; serial++) {
        const struct past_item *i = past_ring_at(f->config.ring, serial);
        if (!i || !i->frame || i->frame->size_id != size_id)
            continue;
        struct coded_frame *again = shifted(f, i->frame, f->delay);
        if (!again)
            return;
        again->captured = now;
        viewer_of(f)->ops->on_again(viewer_of(f), again, now);
        coded_frame_unref(again);
    }
}

static void request_key(struct media_feed *feed, int size_id, usec_t now)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    if (f->is_past)
        repeat(f, size_id, now);
    else
        f->of->ops->request_key(present(f), size_id, now);
}

// The past has the key frames that it has.
static void begin(struct media_feed *feed, int size_id, int64_t from)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    if (!f->is_past)
        f->of->ops->begin(present(f), size_id, from > f->from ? from - f->shift : f->from - f->shift);
}

static bool is_alone(const struct media_feed *feed)
{
    const struct rewind_feed *f = (const struct rewind_feed *)feed;
    return f->of->ops->is_alone(f->of);
}

static void feed_free(struct media_feed *feed)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    f->of->ops->free(f->of);
    timer_free(f->timer);
    free(f);
}

struct media_feed *rewind_feed_new(const struct rewind_feed_config *config)
{
    static const struct media_feed_ops ops = {.watch = watch,
                                              .watch_audio = watch_audio,
                                              .play = play,
                                              .set_bitrate = set_bitrate,
                                              .repair = repair,
                                              .request_key = request_key,
                                              .begin = begin,
                                              .is_alone = is_alone,
                                              .place = place,
                                              .free = feed_free};
    static const struct frame_sink_ops sink = {
        .on_frame = on_frame, .on_again = on_again, .on_audio = on_audio, .on_end = on_end};
    struct rewind_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    *f = (struct rewind_feed){.sink.ops = &sink,
                              .config = *config,
                              .period = number_shift_period(&config->media->ladder),
                              .newest = -1};
    struct media_feed_config feed = config->feed;
    feed.sink = &f->sink;
    f->timer = timer_new(config->feed.loop, run, f);
    f->of = f->timer ? config->media->ops->feed_new(config->media, &feed) : NULL;
    if (!f->of) {
        timer_free(f->timer);
        free(f);
        return NULL;
    }
    f->base = *f->of;
    f->base.ops = &ops;
    return &f->base;
}
