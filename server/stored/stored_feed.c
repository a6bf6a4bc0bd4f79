// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stored/stored_feed.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/net/timer.h"
#include "server/policy/frame_clock.h"
#include "server/policy/scale.h"

#define MAX_BEHIND   (USEC_PER_SEC / 2) // max. delay to catch up; a longer one shifts the time line
#define RETRY        (20 * USEC_PER_MSEC) // delay until a retry if the cache had no room
#define REPAIR_EVERY (USEC_PER_SEC / 2)   // min. interval of repairs of all needed frames
#define BURST        2.0                  // multiple of the media's pace until the lead is reached
#define SCALED_LEAD  (USEC_PER_SEC / 2)   // the lead of fast forward and rewind
#define NO_GATE      -1

struct stored_feed {
    struct media_feed base; // first
    struct stored_feed_config config;
    struct stored_waiter waiter;
    const struct stored_info *info;    // borrowed from the cache
    struct timer *timer;               // owned
    const struct stored_group *group;  // held: the group of the next frame
    const struct stored_group *before; // held: the group before `group`, for repairs
    int watchers[LADDER_MAX_SIZES];
    bool running;
    bool has_deadline; // frames that wait too long for the network are dropped: the viewer said how
                       // long; false: the next ones are held back while some wait
    bool awaits_room;  // frames wait for the network: `drained` follows
    double speed;
    // At another scale than 1 slots take 1 / |scale| of their time. Backwards slot 0 is the first
    // one of group `turn`, and each group of slots is a group before it.
    double scale;
    int64_t turn;
    struct level level;                            // of the viewer, when it set the scale
    struct scale_budget budgets[LADDER_MAX_SIZES]; // of the watched sizes
    int until[LADDER_MAX_SIZES];                   // in this group, as scale_budget_take says
    int64_t first_number;                          // number of the media's frame 0, of slot 0
    int64_t at;                                    // the next slot
    int64_t show; // frames before this one are sent only if it depends on them; -1: none
    // At the media's pace slot `begin` is due at `origin`; it was sent from `start` on. Earlier
    // slots are sent at once.
    int64_t begin;
    double origin;
    double start;
    // The slot at which the viewer's decision about the level is awaited, until `gate_until` at
    // most once it is reached; NO_GATE.
    int64_t gate;
    usec_t gate_wait;
    usec_t gate_until;         // 0: not reached yet
    bool decided;              // the gate opens
    int audio_track;           // that the viewer hears
    int64_t audio_from;        // position from which on it is sent
    int64_t audio_end;         // end of the audio that was sent
    usec_t stopped;            // when the last viewer left; 0: never
    usec_t repaired;           // last repair of all frames that the newest one needs
    struct frame_ranges *only; // owned; NULL: all frames
};

static double media_time(const struct stored_feed *f, int64_t frames)
{
    double pace = f->speed * fabs(f->scale);
    return (double)frames * USEC_PER_SEC / fps_value(f->info->sdp.ladder.source_fps) / pace;
}

static double due_of(const struct stored_feed *f, int64_t slot)
{
    return f->origin + media_time(f, slot - f->begin);
}

static bool is_at_gate(const struct stored_feed *f)
{
    return f->at == f->gate && !f->decided && f->gate_until;
}

// Returns when slot `at` is sent.
static double given_at(const struct stored_feed *f)
{
    if (is_at_gate(f))
        return (double)f->gate_until;
    double burst = f->start + media_time(f, f->at - f->begin) / BURST;
    double ahead = due_of(f, f->at) - (double)(f->scale == 1 ? STORED_FEED_LEAD : SCALED_LEAD);
    return f->at < f->begin ? f->start : burst > ahead ? burst : ahead;
}

// Restarts the time line at slot `at`, which is sent now.
static void anchor(struct stored_feed *f, usec_t now)
{
    f->origin = due_of(f, f->at);
    f->begin = f->at;
    f->start = (double)now;
}

// Returns true if slot `at` may be sent: the gate is not there, or it opens. What follows keeps its
// time, and is paced from now on.
static bool pass_gate(struct stored_feed *f, usec_t now)
{
    if (f->at != f->gate)
        return true;
    if (!f->gate_until)
        f->gate_until = now + f->gate_wait;
    if (!f->decided && now < f->gate_until)
        return false;
    f->gate = NO_GATE;
    anchor(f, now);
    return true;
}

// The time line is late. With a deadline it shifts. Without, frames were only held back: they catch
// up at BURST until they are early again, so the time line shifts by no more than it has to.
static void catch_up(struct stored_feed *f, double late, usec_t now)
{
    if (f->has_deadline) {
        f->origin += late;
        f->start += late;
        return;
    }
    anchor(f, now);
    f->origin = fmax(f->origin, (double)now);
}

static bool has_room(const struct stored_feed *f)
{
    const struct frame_sink *sink = f->config.sink;
    return f->has_deadline || !sink->ops->has_waiting || !sink->ops->has_waiting(sink);
}

static void drop_groups(struct stored_feed *f)
{
    stored_cache_drop(f->config.cache, f->group);
    stored_cache_drop(f->config.cache, f->before);
    f->group = f->before = NULL;
}

static bool is_back(const struct stored_feed *f)
{
    return f->scale < 0;
}

// Returns the group of slot `at`; < 0: rewind has passed the beginning.
static int64_t group_now(const struct stored_feed *f)
{
    int64_t group = f->at / f->info->plan.gop;
    return is_back(f) ? f->turn - group : group;
}

// Returns the first slot of a group.
static int64_t slot_of(const struct stored_feed *f, int64_t group)
{
    return (is_back(f) ? f->turn - group : group) * f->info->plan.gop;
}

// Returns the place in the film of a slot.
static int64_t film_frame(const struct stored_feed *f, int64_t slot)
{
    int64_t frame = is_back(f) ? f->turn * f->info->plan.gop - slot : slot;
    return frame < 0 ? 0 : frame;
}

static unsigned sizes_of(const struct stored_feed *f)
{
    unsigned sizes = 0;
    for (int i = 0; i < f->info->sdp.ladder.size_count; i++)
        sizes |= (unsigned)(f->watchers[i] > 0) << i;
    return sizes;
}

// Gets the group of slot `at`. Returns false if it is not in memory yet, or *broken.
static bool has_group(struct stored_feed *f, bool *broken)
{
    int64_t index = group_now(f);
    *broken = false;
    if (f->group && f->group->index == index)
        return true;
    const struct stored_group *g = stored_cache_hold(f->config.cache, index, sizes_of(f), broken);
    if (!g)
        return false;
    stored_cache_drop(f->config.cache, f->before);
    f->before = f->group;
    f->group = g;
    if (!is_back(f) || index > 0)
        stored_cache_want(f->config.cache, index + (is_back(f) ? -1 : 1), sizes_of(f));
    return true;
}

// Returns when slot `slot` would be captured if the media were live at the viewer's speed. So time
// stamps are as regular as the media, however early frames are sent. Audio sync and readers of RTCP
// sender reports depend on that.
static usec_t wall_of(const struct stored_feed *f, int64_t slot, usec_t now)
{
    return clock_wall() + (usec_t)due_of(f, slot) - now;
}

// Returns a copy of a frame with this viewer's number and times. NULL: no such frame, or no memory.
static struct coded_frame *copy_of(const struct stored_feed *f, const struct stored_group *g,
                                   int size_id, int place, usec_t now)
{
    const struct coded_frame *from = g->at[size_id][place];
    struct coded_frame *to = from ? coded_frame_new(from->bytes) : NULL;
    if (!to)
        return NULL;
    const struct stored_place *plan =
        &stored_plan_shape(&f->info->plan, g->index)->places[size_id][place];
    struct fps fps = f->info->sdp.ladder.source_fps;
    int64_t group = slot_of(f, g->index);
    memcpy(to->data, from->data, from->bytes);
    memcpy(to->nals, from->nals, (size_t)from->nal_count * sizeof(*from->nals));
    to->nal_count = from->nal_count;
    to->size_id = size_id;
    to->temporal_id = from->temporal_id;
    to->key = from->key;
    to->number = f->first_number + group + place;
    to->reorder = from->reorder;
    to->depends_on = plan->depends < 0 ? -1 : f->first_number + group + plan->depends;
    to->pts = usec_of_frames(g->index * f->info->plan.gop + place, fps.num, fps.den);
    to->captured = usec_max((usec_t)due_of(f, group + plan->slot), now);
    to->capture_wall = wall_of(f, group + place, now);
    return to;
}

// Returns true if something of slot `at` is requested by `only`.
static bool is_wanted(const struct stored_feed *f)
{
    const struct stored_plan *plan = &f->info->plan;
    int64_t group = f->at - f->at % plan->gop;
    const struct stored_shape *shape = stored_plan_shape(plan, group / plan->gop);
    if (frame_ranges_have(f->only, FRAMES_AUDIO, f->at))
        return true;
    for (int i = 0; i < f->info->sdp.ladder.size_count; i++) {
        int place = shape->decoded[i][f->at - group];
        if (f->watchers[i] && place != STORED_NO_FRAME &&
            frame_ranges_have(f->only, FRAMES_VIDEO, group + place))
            return true;
    }
    return false;
}

// Passes slots that are not requested; they take no time. Frames leave their slots by less than a
// period.
static void skip_unwanted(struct stored_feed *f)
{
    while (f->only && f->at < f->info->origin.frames && !is_wanted(f)) {
        int64_t next = frame_ranges_next(f->only, f->at - f->info->plan.period);
        int64_t to = next < 0 ? f->info->origin.frames : next - f->info->plan.period;
        to = to > f->at ? to : f->at + 1;
        f->begin += to - f->at;
        f->at = to;
    }
}

// The viewer has the frames that these depend on, so they need no key frame first.
static void deliver(struct stored_feed *f, struct coded_frame *frame, usec_t now)
{
    if (f->only)
        f->config.sink->ops->on_again(f->config.sink, frame, now);
    else
        f->config.sink->ops->on_frame(f->config.sink, frame, now);
}

static size_t bytes_at(const void *ctx, int size_id, int place)
{
    const struct stored_group *g = ctx;
    const struct coded_frame *frame = g->at[size_id][place];
    return frame ? frame->bytes : 0;
}

// Returns the rate that normal play of the size has.
static int rate_of(const struct stored_feed *f, int size_id)
{
    const struct ladder *l = &f->info->sdp.ladder;
    int bps = 0;
    if (f->level.size_id == size_id)
        return f->level.bitrate_bps;
    for (int i = 0; i < l->level_count; i++)
        if (l->levels[i].size_id == size_id && l->levels[i].bitrate_bps > bps)
            bps = l->levels[i].bitrate_bps;
    return bps;
}

// Decides which frames of the held group are sent, at another scale than 1.
static void choose(struct stored_feed *f, const struct stored_shape *shape)
{
    struct fps fps = f->info->sdp.ladder.source_fps;
    for (int i = 0; i < f->info->sdp.ladder.size_count; i++) {
        const struct scale_group group = {.shape = shape,
                                          .size_id = i,
                                          .bytes = bytes_at,
                                          .ctx = f->group,
                                          .length = usec_of_frames(shape->frames, fps.num, fps.den),
                                          .bps = rate_of(f, i),
                                          .scale = f->scale};
        f->until[i] = f->watchers[i] ? scale_budget_take(&f->budgets[i], &group) : 0;
    }
}

// Returns true if the frame of a slot of the group is sent at another scale than 1.
static bool is_chosen(const struct stored_feed *f, const struct stored_shape *shape, int size_id,
                      int slot)
{
    int place = shape->decoded[size_id][slot];
    return f->watchers[size_id] && place != STORED_NO_FRAME && place < f->until[size_id] &&
           shape->places[size_id][place].temporal_id == 0;
}

// Goes to the next slot of which something is sent, or to the next group.
static void pass_unchosen(struct stored_feed *f, const struct stored_shape *shape)
{
    bool found = false;
    while (!found && f->at % f->info->plan.gop) {
        int slot = (int)(f->at % f->info->plan.gop);
        for (int i = 0; slot < shape->frames && i < f->info->sdp.ladder.size_count; i++)
            found |= is_chosen(f, shape, i, slot);
        f->at += !found;
    }
}

static void give_scaled(struct stored_feed *f, usec_t now)
{
    const struct stored_shape *shape = stored_plan_shape(&f->info->plan, f->group->index);
    int slot = (int)(f->at % f->info->plan.gop);
    if (slot == 0)
        choose(f, shape);
    for (int i = 0; i < f->info->sdp.ladder.size_count; i++) {
        if (!is_chosen(f, shape, i, slot))
            continue;
        struct coded_frame *frame = copy_of(f, f->group, i, shape->decoded[i][slot], now);
        if (frame)
            deliver(f, frame, now);
        coded_frame_unref(frame);
    }
    f->at++;
    pass_unchosen(f, shape);
}

static void give(struct stored_feed *f, usec_t now)
{
    const struct stored_shape *shape = stored_plan_shape(&f->info->plan, f->group->index);
    int64_t group = f->group->index * f->info->plan.gop;
    int show = (int)(f->show - group); // negative if an earlier group holds f->show
    for (int i = 0; i < f->info->sdp.ladder.size_count; i++) {
        int place = shape->decoded[i][f->at - group];
        if (!f->watchers[i] || place == STORED_NO_FRAME ||
            (place < show && !stored_shape_needs(shape, i, show, place)) ||
            (f->only && !frame_ranges_have(f->only, FRAMES_VIDEO, group + place)))
            continue;
        struct coded_frame *frame = copy_of(f, f->group, i, place, now);
        if (frame)
            deliver(f, frame, now);
        coded_frame_unref(frame);
    }
}

// At the end of the media, goes back to its beginning. Returns false if the media does not loop.
static bool wrap(struct stored_feed *f)
{
    int64_t frames = f->info->origin.frames;
    if (is_back(f))
        return group_now(f) >= 0;
    skip_unwanted(f);
    if (f->at < frames)
        return true;
    if (!f->config.loop || f->only)
        return false;
    f->first_number += frames;
    f->begin -= frames;
    f->at = 0;
    f->show = -1;
    return true;
}

// Sends the audio of the time that a frame of slot `at` is shown.
static void give_audio(struct stored_feed *f, usec_t now)
{
    struct fps fps = f->info->sdp.ladder.source_fps;
    int64_t begin = audio_samples(usec_of_frames(f->at, fps.num, fps.den)), from = begin;
    int64_t to = audio_samples(usec_of_frames(f->at + 1, fps.num, fps.den));
    if (f->at == 0) // the encoder's delay puts the first packet before 0
        from = INT64_MIN;
    if (f->only && !frame_ranges_have(f->only, FRAMES_AUDIO, f->at))
        return;
    int count;
    struct coded_audio *const *audio = stored_group_audio(f->group, f->audio_track, &count);
    int64_t shift = audio_samples(usec_of_frames(f->first_number, fps.num, fps.den));
    for (int i = 0; i < count && f->at >= f->show; i++) {
        const struct coded_audio *c = audio[i];
        if (c->position < from || c->position >= to || c->position + shift < f->audio_from)
            continue;
        struct coded_audio *copy = coded_audio_new();
        if (!copy)
            return;
        memcpy(copy->data, c->data, c->bytes);
        copy->bytes = c->bytes;
        copy->position = c->position + shift;
        copy->track = f->audio_track;
        f->audio_end = copy->position + AUDIO_PACKET;
        copy->captured = usec_max((usec_t)due_of(f, f->at), now);
        double after = (double)(c->position - begin) / AUDIO_RATE;
        copy->capture_wall = wall_of(f, f->at, now) + (usec_t)(after * USEC_PER_SEC / f->speed);
        f->config.sink->ops->on_audio(f->config.sink, copy, now);
        coded_audio_unref(copy);
    }
}

static const char *broken_of(const struct stored_feed *f)
{
    return stored_cache_is_filled(f->config.cache)
               ? "origin: the rest of the film does not come"
               : "the film breaks off: a part of it cannot be read";
}

static void run(void *ctx, usec_t now)
{
    struct stored_feed *f = ctx;
    bool broken = false;
    f->awaits_room = false;
    while (f->running && wrap(f) && given_at(f) <= (double)now) {
        if (!pass_gate(f, now))
            continue;
        double late = (double)now - given_at(f);
        f->awaits_room = !has_room(f);
        if (f->awaits_room || !has_group(f, &broken))
            break;
        if (late > (double)MAX_BEHIND)
            catch_up(f, late, now);
        if (f->scale != 1) {
            give_scaled(f, now);
            continue;
        }
        give(f, now);
        give_audio(f, now);
        f->at++;
    }
    bool over = f->running && (broken || !wrap(f));
    bool waits = f->running && !over && given_at(f) <= (double)now;
    timer_set(f->timer, !f->running || over || f->awaits_room ? USEC_NEVER
                        : waits                               ? now + RETRY
                                                              : (usec_t)given_at(f) + 1);
    if (over)
        f->config.sink->ops->on_end(f->config.sink, broken ? broken_of(f) : NULL, now);
}

static void begin_at(struct stored_feed *f, int64_t slot, usec_t now)
{
    f->begin = slot;
    f->origin = f->start = (double)now;
    if (f->gate > slot) { // all up to there is sent at once
        f->origin += media_time(f, f->gate - slot);
        f->begin = f->gate;
    }
}

static void watch(struct media_feed *feed, int size_id, int change)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    f->watchers[size_id] += change;
    assert(f->watchers[size_id] >= 0);
    bool before = f->running;
    f->running = false;
    for (int i = 0; i < f->info->sdp.ladder.size_count; i++)
        f->running |= f->watchers[i] > 0;
    if (f->running == before)
        return;
    usec_t now = clock_now();
    if (!f->running) {
        f->stopped = now;
        timer_set(f->timer, USEC_NEVER);
        return;
    }
    if (!is_back(f) && f->at >= f->info->origin.frames) { // the media has ended: play it again
        f->first_number += f->info->origin.frames;
        f->at = f->begin = 0;
        f->show = -1;
        f->stopped = 0;
    }
    if (f->stopped) {
        f->origin += (double)(now - f->stopped);
        anchor(f, now);
    } else {
        begin_at(f, f->at < f->begin ? f->begin : f->at, now);
    }
    timer_set(f->timer, now);
}

static void set_speed(struct media_feed *feed, double speed)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    assert(speed >= FRAME_CLOCK_MIN_SPEED && speed <= STORED_FEED_MAX_SPEED);
    if (speed == f->speed)
        return;
    usec_t now = clock_now();
    if (f->at > f->begin) // also in a pause: earlier slots had the old speed
        anchor(f, now);
    f->speed = speed;
    if (f->running)
        timer_set(f->timer, now);
}

// Returns the frame of the film that a seek goes to.
static int64_t target_of(const struct stored_feed *f, double seconds)
{
    int64_t last = f->info->origin.frames - 1;
    int64_t target = isnan(seconds)
                         ? film_frame(f, f->show > f->at ? f->show : f->at)
                         : (int64_t)(seconds * fps_value(f->info->sdp.ladder.source_fps) + 0.001);
    return target < 0 ? 0 : target > last ? last : target;
}

// Fast forward and rewind begin with the next key frame in their direction.
static void set_scale(struct stored_feed *f, double scale, int64_t target, int64_t next,
                      const struct level *level)
{
    int64_t gop = f->info->plan.gop, last = (f->info->origin.frames - 1) / gop;
    int64_t group = (target + (scale > 0 ? gop - 1 : 0)) / gop;
    f->scale = scale;
    f->level = *level;
    memset(f->budgets, 0, sizeof(f->budgets));
    f->turn = group > last ? last : group;
    f->at = is_back(f) ? 0 : f->turn * gop;
    f->first_number = next - f->at;
}

// Seeks to the frame of the level at or before the target.
static void seek(struct stored_feed *f, const struct media_seek *to, usec_t now)
{
    const struct stored_plan *plan = &f->info->plan;
    int64_t target = target_of(f, to->seconds);
    int64_t group = target - target % plan->gop;
    const struct stored_shape *shape = stored_plan_shape(plan, group / plan->gop);
    // Within a group, a T0 frame may have been sent before its slot, by less than a period.
    int64_t next = f->first_number + f->at + (f->at % plan->gop ? plan->period : 0);
    next += (plan->period - next % plan->period) % plan->period;
    f->scale = 1;
    f->gate = NO_GATE;
    f->first_number = next - group;
    f->at = group;
    f->show = -1;
    f->stopped = 0;
    drop_groups(f);
    if (to->scale != 1 && !f->only)
        set_scale(f, to->scale, target, next, to->level);
    begin_at(f, f->at, now);
    if (f->config.exact && f->scale == 1) {
        int place = stored_shape_at_level(shape, to->level, (int)(target - group));
        f->show = group + place;
        begin_at(f, group + shape->places[to->level->size_id][place].slot, now);
    }
    stored_cache_want(f->config.cache, group_now(f), sizes_of(f));
    if (f->running)
        timer_set(f->timer, now);
}

static enum media_placed place(struct media_feed *feed, const struct media_seek *to,
                               struct media_place *out, usec_t now)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    if (to)
        seek(f, to, now);
    int64_t show = f->show > f->at ? f->show : f->at;
    int64_t position = film_frame(f, show) % f->info->origin.frames; // at the end it is 0 again
    out->seconds = (double)position / fps_value(f->info->sdp.ladder.source_fps);
    out->frames = (struct rtsp_frames){
        .first = f->first_number + f->at, .show = f->first_number + show, .ahead = true};
    out->scale = f->scale;
    return to ? MEDIA_SOUGHT : MEDIA_CONTINUES;
}

static void rewind_to(struct media_feed *feed, int64_t slot)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    int64_t back = f->first_number + f->at - slot, frames = f->info->origin.frames;
    if (back <= 0 || back > frames)
        return;
    f->at -= back;
    if (f->scale != 1) // the choice of frames is made for whole groups
        f->at = f->at > 0 ? f->at - f->at % f->info->plan.gop : 0;
    if (f->at < 0) { // back across the loop's start
        f->at += frames;
        f->first_number -= frames;
        f->begin += frames;
    }
    f->audio_from = f->audio_end = INT64_MIN;
    drop_groups(f);
}

// The audio goes on where it is.
static bool again(struct media_feed *feed, int64_t from)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    int64_t slot = from - f->first_number;
    if (!f->running || f->scale != 1 || f->only || slot < 0 || slot > f->at ||
        slot % f->info->plan.gop != 0)
        return false;
    usec_t now = clock_now();
    f->at = slot;
    f->audio_from = f->audio_end;
    anchor(f, now);
    timer_set(f->timer, now);
    return true;
}

static bool repeat(struct stored_feed *f, int size_id, int64_t frame, usec_t now)
{
    int64_t group = frame / f->info->plan.gop;
    bool broken;
    const struct stored_group *g =
        stored_cache_hold(f->config.cache, group, 1u << size_id, &broken);
    struct coded_frame *copy =
        g ? copy_of(f, g, size_id, (int)(frame % f->info->plan.gop), now) : NULL;
    if (copy)
        f->config.sink->ops->on_again(f->config.sink, copy, now);
    coded_frame_unref(copy);
    stored_cache_drop(f->config.cache, g);
    return copy != NULL;
}

static bool was_given(const struct stored_feed *f, int size_id, int64_t frame)
{
    int64_t gop = f->info->plan.gop, group = frame / gop;
    if (frame >= f->info->origin.frames)
        return false;
    const struct stored_place *place =
        &stored_plan_shape(&f->info->plan, group)->places[size_id][frame % gop];
    return place->depends != STORED_NO_FRAME && group * gop + place->slot < f->at;
}

// Delivers a frame again, if its group is in memory; else the viewer requests it once more.
static bool give_again(struct media_feed *feed, int size_id, int64_t number, usec_t now)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    return !is_back(f) && number >= f->first_number &&
           was_given(f, size_id, number - f->first_number) &&
           repeat(f, size_id, number - f->first_number, now);
}

// Delivers all frames again on which the newest one depends.
static void request_key(struct media_feed *feed, int size_id, usec_t now)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    const struct stored_plan *plan = &f->info->plan;
    // Fast forward and rewind have the next key frame soon.
    if (f->at == 0 || f->scale != 1 || now - f->repaired < REPAIR_EVERY)
        return;
    f->repaired = now;
    int64_t index = (f->at - 1) / plan->gop;
    const struct stored_shape *shape = stored_plan_shape(plan, index);
    const int16_t *decoded = shape->decoded[size_id];
    int newest = (int)(f->at - 1 - index * plan->gop);
    while (newest >= 0 && decoded[newest] == STORED_NO_FRAME)
        newest--;
    for (int slot = 0; slot <= newest; slot++)
        if (decoded[slot] != STORED_NO_FRAME &&
            stored_shape_needs(shape, size_id, decoded[newest], decoded[slot]))
            (void)repeat(f, size_id, index * plan->gop + decoded[slot], now);
}

static void drained(struct media_feed *feed, usec_t now)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    if (f->awaits_room)
        timer_set(f->timer, now);
    f->awaits_room = false;
}

static void set_latency(struct media_feed *feed, int ms)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    (void)ms; // the sender's
    f->has_deadline = true;
    f->decided = true;
    drained(feed, clock_now());
}

// The tracks' packets do not begin at the same positions: of the new one, those that overlap the
// audio that was sent are left out.
static void set_audio_track(struct media_feed *feed, int track)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    f->audio_track = track;
    f->audio_from = f->audio_end;
}

static int64_t await_level(struct media_feed *feed, bool awaits)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    int64_t gop = f->info->plan.gop, show = f->show > f->at ? f->show : f->at;
    struct fps fps = f->info->sdp.ladder.source_fps;
    if (!awaits) {
        f->decided = true;
        if (f->at == f->gate && f->running)
            timer_set(f->timer, clock_now());
        return 0;
    }
    int64_t gate = (show + gop / 2 + gop - 1) / gop * gop;
    if (f->running || f->stopped || f->has_deadline || f->only || f->scale != 1 ||
        gate >= f->info->origin.frames)
        return 0;
    f->gate = gate;
    f->gate_wait = usec_of_frames(gop, fps.num, fps.den) / 2;
    f->gate_until = 0;
    f->decided = false;
    return f->first_number + gate;
}

static bool set_only(struct media_feed *feed, const struct frame_ranges *ranges)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    if (!f->only)
        f->only = malloc(sizeof(*f->only));
    if (!f->only)
        return false;
    *f->only = *ranges;
    return true;
}

static int film_table(struct media_feed *feed, const struct film_table **out, usec_t now)
{
    (void)now;
    return stored_cache_table(((struct stored_feed *)feed)->config.cache, out);
}

static void feed_free(struct media_feed *feed)
{
    struct stored_feed *f = (struct stored_feed *)feed;
    free(f->only);
    drop_groups(f);
    stored_cache_leave(f->config.cache, &f->waiter);
    timer_free(f->timer);
    free(f);
}

static const struct media_feed_ops ops = {.watch = watch,
                                          .give_again = give_again,
                                          .request_key = request_key,
                                          .rewind = rewind_to,
                                          .again = again,
                                          .drained = drained,
                                          .place = place,
                                          .set_speed = set_speed,
                                          .set_latency = set_latency,
                                          .set_audio_track = set_audio_track,
                                          .film_table = film_table,
                                          .only = set_only,
                                          .await_level = await_level,
                                          .free = feed_free};

struct media_feed *stored_feed_new(uv_loop_t *loop, const struct stored_feed_config *config)
{
    struct stored_feed *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->base.ops = &ops;
    f->base.reorders = true;
    f->base.scales = true;
    f->base.max_speed = STORED_FEED_MAX_SPEED;
    f->config = *config;
    f->info = stored_cache_info(config->cache);
    f->speed = f->scale = 1;
    f->show = -1;
    f->gate = NO_GATE;
    f->audio_from = f->audio_end = INT64_MIN;
    f->timer = timer_new(loop, run, f);
    if (!f->timer) {
        free(f);
        return NULL;
    }
    f->waiter = (struct stored_waiter){.on_change = run, .ctx = f};
    stored_cache_join(config->cache, &f->waiter);
    stored_cache_want(config->cache, 0, 0);
    return &f->base;
}
