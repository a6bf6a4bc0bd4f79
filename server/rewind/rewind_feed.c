// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/rewind/rewind_feed.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "media/rtp/h264.h"
#include "server/policy/number_shift.h"
#include "server/rewind/past_reader.h"
#include "server/rewind/policy/past_numbers.h"

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
    int size_id;           // the newest one of them
    int64_t newest;        // number of the newest frame of the present that came; -1: none
    int64_t next;          // above all numbers that were delivered
    int64_t shift;         // of the numbers that are delivered now
    int64_t from;          // the first number that has this shift
    bool ended;            // the present has
    char broken[256];      // it broke off, and why; empty: it did not
    // The past
    bool is_past;
    bool waits;      // all items of the ring were delivered
    int64_t at;      // serial number of the next item
    int64_t first;   // of the item at which it began
    usec_t delay;    // between the capture of an item and its delivery
    usec_t repaired; // last repair of all frames that the newest one needs
    // The past that is read from the recording; then `at` and `first` have no meaning
    struct past_reader *reader; // owned; NULL: it was not needed yet
    bool is_recorded;
    bool seeks;       // `place` waits for the answer
    bool is_answered; // with `answer`
    int answer;
    usec_t sought;              // when it was asked for
    struct record_group *group; // owned; NULL: none yet
    int item;                   // the next one of the group
    bool is_asked;              // for the group after it
    struct past_numbers numbers;
    usec_t wall_offset;    // wall clock minus monotonic clock at the seek
    struct past_item made; // owned: of the next item; neither: not made yet
    int64_t number;        // of the newest frame, captured at `numbered`
    usec_t numbered;
    int64_t position; // of the newest audio packet; -1: none yet
    usec_t retry;     // nothing follows: when to ask again
    usec_t starved;   // since when nothing comes; 0: something does
};

static struct rewind_feed *of_sink(const struct frame_sink *sink)
{
    return (struct rewind_feed *)((uintptr_t)sink - offsetof(struct rewind_feed, sink));
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

// ---- The recording

#define POLL  (5 * USEC_PER_MSEC)   // interval of looking for an answer of the reader
#define RETRY (100 * USEC_PER_MSEC) // until something follows what was recorded last
#define LIMIT (6 * USEC_PER_SEC)    // max. wait for the disk; below MEDIA_PLACE_LIMIT
#define GAP   (2 * USEC_PER_SEC)    // a longer pause of the recording is left out

static bool is_nal_start(const uint8_t *d)
{
    return d[0] == 0 && d[1] == 0 && d[2] == 0 && d[3] == 1;
}

// Finds the NAL units of a frame. Returns false if they are too many, or none.
static bool find_nals(struct coded_frame *f)
{
    for (size_t at = 0; at + 4 < f->bytes; at++) {
        if (!is_nal_start(f->data + at))
            continue;
        if (f->nal_count == CODED_FRAME_MAX_NALS)
            return false;
        struct nal *n = &f->nals[f->nal_count++];
        n->offset = (uint32_t)at + 4;
        size_t end = n->offset;
        while (end < f->bytes && !(end + 4 < f->bytes && is_nal_start(f->data + end)))
            end++;
        n->len = (uint32_t)(end - n->offset);
        at = end - 1;
    }
    return f->nal_count > 0;
}

static bool is_referenced(const struct coded_frame *f)
{
    bool referenced = false;
    for (int i = 0; i < f->nal_count; i++) {
        enum h264_nal_type type = h264_nal_type_of(f->data[f->nals[i].offset]);
        if (type >= H264_SLICE && type <= H264_IDR)
            referenced |= (f->data[f->nals[i].offset] & H264_NAL_REF_IDC) != 0;
    }
    return referenced;
}

static struct coded_frame *recorded_frame(struct rewind_feed *f, const struct record_past_item *i)
{
    struct coded_frame *to = coded_frame_new(i->len);
    if (!to)
        return NULL;
    memcpy(to->data, i->data, i->len);
    if (!find_nals(to)) {
        coded_frame_unref(to);
        return NULL;
    }
    struct past_number n = past_numbers_take(&f->numbers, i->key, is_referenced(to), i->wall);
    struct fps fps = f->config.media->ladder.source_fps;
    to->number = n.number;
    to->depends_on = n.depends_on;
    to->temporal_id = n.temporal_id;
    to->key = i->key;
    to->size_id = f->config.media->ladder.size_count - 1;
    to->starts = f->config.media->ladder.size_count;
    to->pts = usec_of_frames(n.number, fps.num, fps.den);
    to->capture_wall = i->wall;
    to->captured = i->wall - f->wall_offset;
    f->number = n.number;
    f->numbered = to->captured;
    return to;
}

// Times of a recording are rounded, positions of packets join: Opus packets are multiples of 2.5
// ms.
static struct coded_audio *recorded_audio(struct rewind_feed *f, const struct record_past_item *i)
{
    enum { UNIT = AUDIO_RATE / 400, JOINED = AUDIO_RATE / 50 };
    struct coded_audio *to = i->len <= AUDIO_PACKET_MAX_BYTES ? coded_audio_new() : NULL;
    if (!to)
        return NULL;
    struct fps fps = f->config.media->ladder.source_fps;
    memcpy(to->data, i->data, i->len);
    to->bytes = i->len;
    to->capture_wall = i->wall;
    to->captured = i->wall - f->wall_offset;
    to->position = audio_samples(number_shift_media(f->number, fps) + to->captured - f->numbered);
    int64_t step = to->position - f->position;
    if (f->position >= 0 && step > 0 && step < 4 * JOINED)
        to->position = f->position + (step + UNIT / 2) / UNIT * UNIT;
    f->position = to->position;
    return to;
}

static void drop_made(struct rewind_feed *f)
{
    coded_frame_unref(f->made.frame);
    coded_audio_unref(f->made.audio);
    f->made = (struct past_item){0};
}

static void drop_recorded(struct rewind_feed *f)
{
    drop_made(f);
    record_group_free(f->group);
    f->group = NULL;
    f->item = 0;
    f->is_recorded = f->seeks = f->is_answered = f->is_asked = false;
    f->retry = f->starved = 0;
}

static void ask_next(struct rewind_feed *f)
{
    past_reader_next(f->reader);
    f->is_asked = true;
}

// Looks for the next group, and asks for the one after it. Returns what past_reader_poll does.
static int take_group(struct rewind_feed *f, usec_t now)
{
    struct record_group *next = NULL;
    if (!f->is_asked && now < f->retry)
        return ERR_END;
    if (!f->is_asked)
        ask_next(f);
    int err = past_reader_poll(f->reader, &next);
    if (err == ERR_AGAIN)
        return err;
    f->is_asked = false;
    f->retry = err == ERR_END ? now + RETRY : 0;
    if (err)
        return err;
    record_group_free(f->group);
    f->group = next;
    f->item = 0;
    ask_next(f);
    return 0;
}

// Returns the next item of the recording; NULL: it is not there yet, or *ended.
static const struct past_item *next_recorded(struct rewind_feed *f, bool *ended, usec_t now)
{
    while (!f->made.frame && !f->made.audio) {
        int err = f->group && f->item < f->group->count ? 0 : take_group(f, now);
        *ended = err && err != ERR_AGAIN && err != ERR_END;
        if (err || f->item >= f->group->count)
            return NULL;
        const struct record_past_item *i = &f->group->items[f->item++];
        if (f->number < 0 && (i->is_audio || !i->key)) // it begins at a key frame
            continue;
        if (i->is_audio)
            f->made.audio = recorded_audio(f, i);
        else
            f->made.frame = recorded_frame(f, i);
        f->made.captured = i->wall - f->wall_offset;
    }
    // The wall clock may have been set back within the recording, or the disk was slow: then what
    // follows would be delivered all at once.
    usec_t early = f->made.captured + f->delay - now;
    if (f->made.frame && f->made.frame->key && (early > GAP || early < -GAP))
        f->delay = now - f->made.captured;
    return &f->made;
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

static const struct past_item *item_now(struct rewind_feed *f, bool *ended, usec_t now)
{
    *ended = false;
    return f->is_recorded ? next_recorded(f, ended, now) : next_item(f, now);
}

static void give(struct rewind_feed *f, const struct past_item *i, usec_t now)
{
    struct past_item made = *i;
    if (f->is_recorded)
        f->made = (struct past_item){0}; // now it is owned here
    else
        f->at++;
    bool owned = f->is_recorded;
    if (made.frame)
        give_frame(f, made.frame, f->delay, now);
    else
        give_audio(f, made.audio, f->delay, now);
    if (owned) {
        coded_frame_unref(made.frame);
        coded_audio_unref(made.audio);
    }
}

static void set_shift(struct rewind_feed *f, int64_t first)
{
    f->shift = number_shift_of(f->period, first, f->next);
    f->from = first + f->shift;
}

// Returns the number of the present's first frame. What is encoded here begins with a new key
// frame; a camera's begins with the newest one that there is, and the feed of the present gives the
// frames since then at once.
static int64_t present_number(const struct rewind_feed *f)
{
    int64_t end = past_ring_end(f->config.ring);
    int64_t key = f->config.is_passed_on ? past_ring_start_of(f->config.ring, f->size_id, end) : -1;
    if (key >= 0)
        return past_ring_at(f->config.ring, key)->frame->number;
    for (int64_t s = past_ring_end(f->config.ring) - 1; s >= past_ring_begin(f->config.ring); s--)
        if (past_ring_at(f->config.ring, s)->frame)
            return past_ring_at(f->config.ring, s)->frame->number + 1;
    return f->newest + 1;
}

// The next frames are those of the present.
static void to_present(struct rewind_feed *f)
{
    drop_recorded(f);
    f->is_past = f->waits = false;
    timer_set(f->timer, f->ended ? clock_now() : USEC_NEVER); // then `run` reports the end
    set_shift(f, present_number(f));
    if (f->config.is_passed_on)
        f->of->ops->begin(present(f), f->size_id, f->from - f->shift);
}

// The disk was asked for a place.
static void await_place(struct rewind_feed *f, usec_t now)
{
    struct record_group *group = NULL;
    int err = past_reader_poll(f->reader, &group);
    if (err == ERR_AGAIN && now - f->sought < LIMIT) {
        timer_set(f->timer, now + POLL);
        return;
    }
    record_group_free(f->group);
    f->group = group;
    f->item = 0;
    f->is_answered = true;
    f->is_asked = false;
    f->answer = err == ERR_AGAIN ? ERR_TIMED_OUT : err;
    viewer_of(f)->ops->on_placed(viewer_of(f), now);
}

static void run(void *ctx, usec_t now)
{
    struct rewind_feed *f = ctx;
    const struct past_item *i;
    bool ended = false;
    if (f->seeks) {
        if (!f->is_answered)
            await_place(f, now);
        return;
    }
    if (!f->is_past && f->ended) {
        viewer_of(f)->ops->on_end(viewer_of(f), *f->broken ? f->broken : NULL, now);
        return;
    }
    while (goes_on(f) && (i = item_now(f, &ended, now)) && i->captured + f->delay <= now)
        give(f, i, now);
    if (!goes_on(f))
        return;
    i = item_now(f, &ended, now);
    f->waits = !i && !f->is_recorded;
    if (i || !f->starved)
        f->starved = i ? 0 : now;
    usec_t poll = f->is_recorded ? now + POLL : USEC_NEVER;
    timer_set(f->timer, i ? i->captured + f->delay : poll);
    if (!i && f->is_recorded && (ended || now - f->starved > LIMIT)) // nothing more is recorded
        to_present(f);
    if (!i && f->waits && f->ended)
        viewer_of(f)->ops->on_end(viewer_of(f), *f->broken ? f->broken : NULL, now);
}

static void fill_past(const struct rewind_feed *f, usec_t wall, struct media_place *out)
{
    out->wall = wall;
    out->behind = f->delay;
    out->frames.first = out->frames.show = f->from;
}

static enum media_placed go_live(struct rewind_feed *f, struct media_place *out)
{
    if (!f->is_past)
        return MEDIA_NOWHERE;
    to_present(f);
    out->frames.first = out->frames.show = f->from;
    return MEDIA_SOUGHT;
}

static enum media_placed go_in_memory(struct rewind_feed *f, int64_t serial,
                                      struct media_place *out, usec_t now)
{
    const struct past_item *i = past_ring_at(f->config.ring, serial);
    drop_recorded(f);
    f->is_past = true;
    f->at = f->first = serial;
    f->delay = now - i->captured;
    f->repaired = now;
    set_shift(f, i->frame->number);
    timer_set(f->timer, f->watched > 0 ? now : USEC_NEVER);
    fill_past(f, i->frame->capture_wall, out);
    return MEDIA_SOUGHT;
}

// The disk has answered. Returns false if it found nothing.
static bool go_in_recording(struct rewind_feed *f, struct media_place *out, usec_t now)
{
    const struct ladder *l = &f->config.media->ladder;
    const struct past_item *i = NULL;
    bool ended;
    f->seeks = f->is_answered = false;
    f->wall_offset = clock_wall() - now;
    f->number = f->position = -1;
    past_numbers_init(&f->numbers, l, l->size_count - 1, f->next);
    if (!f->answer)
        i = next_recorded(f, &ended, now);
    if (!i || !i->frame) {
        drop_recorded(f);
        return false;
    }
    f->is_past = f->is_recorded = true;
    f->waits = false;
    f->at = -1; // no place in memory
    f->shift = 0;
    f->from = i->frame->number;
    f->delay = now - i->captured;
    timer_set(f->timer, f->watched > 0 ? now : USEC_NEVER);
    fill_past(f, i->frame->capture_wall, out);
    return true;
}

static bool ask_recording(struct rewind_feed *f, usec_t time, usec_t now)
{
    if (!f->reader)
        f->reader = past_reader_new(f->config.record);
    if (!f->reader)
        return false;
    drop_recorded(f);
    past_reader_seek(f->reader, clock_wall() - (now - time));
    f->seeks = f->is_asked = true;
    f->sought = now;
    timer_set(f->timer, now + POLL);
    return true;
}

static enum media_placed go_back(struct rewind_feed *f, int size_id, usec_t time,
                                 struct media_place *out, usec_t now)
{
    if (f->seeks && !f->is_answered)
        return MEDIA_WAITS;
    bool was_asked = f->seeks;
    if (was_asked && go_in_recording(f, out, now))
        return MEDIA_SOUGHT;
    if (was_asked && f->answer == ERR_TIMED_OUT) {
        out->refusal.status = 503;
        snprintf(out->refusal.text, sizeof(out->refusal.text),
                 "the disk with the recording does not respond");
        f->delay += now - f->sought; // nothing was delivered meanwhile
        timer_set(f->timer, now);
        if (f->is_past && f->at < 0) // it was in the recording
            to_present(f);
        return MEDIA_REFUSED;
    }
    if (!f->config.record)
        time = usec_max(time, now - f->config.span);
    int64_t serial = past_ring_find(f->config.ring, size_id, time);
    bool has_it = serial >= 0 && past_ring_at(f->config.ring, serial)->captured <= time;
    if (!has_it && f->config.record && !was_asked && ask_recording(f, time, now))
        return MEDIA_WAITS;
    if (serial < 0) // no viewer has watched yet
        return go_live(f, out);
    return go_in_memory(f, serial, out, now);
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
    if (!f->is_past && !f->seeks)
        return MEDIA_NOWHERE;
    const struct past_item *i = past_ring_at(f->config.ring, f->at);
    usec_t at = f->is_recorded ? f->numbered : i ? i->captured : now - f->delay;
    if (f->seeks || f->watched == 0) // after a pause
        return go_back(f, to ? to->level->size_id : 0, at, out, now);
    fill_past(f, clock_wall() - (now - at), out);
    out->frames.first = out->frames.show = f->next;
    return MEDIA_CONTINUES;
}

// ---- From the present

static void on_frame(struct frame_sink *sink, struct coded_frame *frame, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    if (frame->number > f->newest)
        f->newest = frame->number;
    f->base.gives_past = f->of->gives_past;
    // A number below `from` is that of another frame, or of none: what depends on it is lost, and
    // the sender requests a key frame for what depends on that.
    if (!f->is_past && (frame->depends_on < 0 || frame->depends_on + f->shift >= f->from))
        give_frame(f, frame, 0, now);
    f->base.gives_past = false;
    if (f->is_past && f->waits)
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

static void on_highest(struct frame_sink *sink, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    if (viewer_of(f)->ops->on_highest)
        viewer_of(f)->ops->on_highest(viewer_of(f), now);
}

static bool has_waiting(const struct frame_sink *sink)
{
    const struct frame_sink *viewer = viewer_of(of_sink(sink));
    return viewer->ops->has_waiting && viewer->ops->has_waiting(viewer);
}

static void on_end(struct frame_sink *sink, const char *why, usec_t now)
{
    struct rewind_feed *f = of_sink(sink);
    f->ended = true;
    snprintf(f->broken, sizeof(f->broken), "%s", why ? why : "");
    if (!f->is_past || f->waits)
        viewer_of(f)->ops->on_end(viewer_of(f), *f->broken ? f->broken : NULL, now);
}

// ---- From the viewer

static void watch(struct media_feed *feed, int size_id, int change)
{
    struct rewind_feed *f = (struct rewind_feed *)feed;
    bool before = f->watched > 0;
    f->watched += change;
    assert(f->watched >= 0);
    if (change > 0)
        f->size_id = size_id;
    f->of->reports_losses = feed->reports_losses;
    f->of->takes_any_rate = feed->takes_any_rate;
    f->of->ops->watch(present(f), size_id, change);
    if (f->is_past && !f->seeks && before != (f->watched > 0))
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
    if (f->is_recorded || now - f->repaired < REPAIR_EVERY || serial < f->first)
        return; // a recording has the next key frame soon
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
        f->of->ops->begin(present(f), size_id,
                          from > f->from ? from - f->shift : f->from - f->shift);
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
    drop_recorded(f);
    past_reader_free(f->reader);
    timer_free(f->timer);
    free(f);
}

struct media_feed *rewind_feed_new(const struct rewind_feed_config *config)
{
    static const struct media_feed_ops encoded = {.watch = watch,
                                                  .watch_audio = watch_audio,
                                                  .play = play,
                                                  .set_bitrate = set_bitrate,
                                                  .repair = repair,
                                                  .request_key = request_key,
                                                  .begin = begin,
                                                  .is_alone = is_alone,
                                                  .place = place,
                                                  .free = feed_free};
    static const struct media_feed_ops passed_on = {.watch = watch,
                                                    .watch_audio = watch_audio,
                                                    .play = play,
                                                    .request_key = request_key,
                                                    .begin = begin,
                                                    .is_alone = is_alone,
                                                    .place = place,
                                                    .free = feed_free};
    static const struct frame_sink_ops sink = {.on_frame = on_frame,
                                               .on_again = on_again,
                                               .on_audio = on_audio,
                                               .on_end = on_end,
                                               .has_waiting = has_waiting,
                                               .on_highest = on_highest};
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
    f->base.ops = config->is_passed_on ? &passed_on : &encoded;
    return &f->base;
}
