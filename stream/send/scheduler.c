// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/scheduler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

static const usec_t DELAY_WINDOW = 10 * USEC_PER_SEC;
static const usec_t STARVED = 500 * USEC_PER_MSEC;
enum { FIRST_ROOM = 64 }; // frames; doubled when needed

const char *scheduler_mode_name(enum scheduler_mode mode)
{
    static const char *const names[SCHEDULER_MODES] = {"priority", "deadline", "fifo"};
    return names[mode];
}

static struct scheduler_frame *frame_at(struct scheduler *s, int i)
{
    return &s->frames[(s->head + i) % s->room];
}

// ---- Memory

static int set_room(struct scheduler *s, int room)
{
    struct scheduler_frame *frames = malloc((size_t)room * sizeof(*frames));
    size_t drops = (size_t)room + 1;
    struct scheduler_drop *dropped = frames ? realloc(s->dropped, drops * sizeof(*dropped)) : NULL;
    if (!dropped) {
        free(frames);
        return ERR_NO_MEMORY;
    }
    for (int i = 0; i < s->count; i++)
        frames[i] = *frame_at(s, i);
    free(s->frames);
    s->frames = frames;
    s->dropped = dropped;
    s->head = 0;
    s->room = room;
    return 0;
}

int scheduler_init(struct scheduler *s, const struct scheduler_config *config)
{
    memset(s, 0, sizeof(*s));
    s->config = *config;
    s->sizes = config->cumulative ? LADDER_MAX_SIZES : 1;
    if (!s->config.limit_bytes)
        s->config.limit_bytes = SCHEDULER_LIMIT_BYTES;
    windowed_min_init(&s->delay, DELAY_WINDOW);
    scheduler_set_bound(s, config->bound);
    scheduler_set_layers(s, config->layers);
    return set_room(s, FIRST_ROOM);
}

void scheduler_destroy(struct scheduler *s)
{
    free(s->frames);
    free(s->dropped);
    *s = (struct scheduler){0};
}

// ---- The law

void scheduler_set_bound(struct scheduler *s, usec_t bound)
{
    assert(bound > 0);
    s->config.bound = bound;
}

void scheduler_set_reliable(struct scheduler *s, bool reliable)
{
    s->config.reliable = reliable;
}

void scheduler_set_layers(struct scheduler *s, int layers)
{
    assert(layers >= 1 && layers <= SCHEDULER_MAX_LAYERS);
    s->config.layers = layers;
    memset(s->memory, 0xff, sizeof(s->memory)); // all -1
}

void scheduler_set_sizes(struct scheduler *s, int sizes)
{
    assert(sizes >= 1 && sizes <= LADDER_MAX_SIZES);
    if (s->config.cumulative)
        s->sizes = sizes;
}

void scheduler_begin(struct scheduler *s)
{
    s->starting = true;
    s->start_skips = s->begun;
    s->start_until = s->shift = 0;
}

static int64_t name_of(int64_t number, int size_id)
{
    return number * LADDER_MAX_SIZES + size_id;
}

static int64_t *memory_of(struct scheduler *s, int64_t name)
{
    return &s->memory[name & (SCHEDULER_MEMORY - 1)];
}

static bool was_dropped(struct scheduler *s, int64_t number, int size_id)
{
    int64_t name = name_of(number, size_id);
    return *memory_of(s, name) == name;
}

static void give_up(struct scheduler *s, const struct scheduler_frame *f, enum drop_cause cause)
{
    // the caller fetches dropped frames after each call
    assert(s->dropped_end <= s->room);
    s->dropped[s->dropped_end++] = (struct scheduler_drop){*f, cause};
    int64_t name = name_of(f->number, f->size_id);
    if (cause != DROP_FLUSHED) // frames after a flush do not depend on flushed ones
        *memory_of(s, name) = name;
    s->counters.dropped[cause][f->temporal_id]++;
}

static bool is_broken(struct scheduler *s, const struct scheduler_frame *f)
{
    return (f->depends_on >= 0 && was_dropped(s, f->depends_on, f->size_id)) ||
           (f->on_lower && was_dropped(s, f->number, f->size_id - 1));
}

// A frame's place among the layers: no frame depends on one of a higher place.
static int layer_of(const struct scheduler *s, const struct scheduler_frame *f)
{
    return s->config.cumulative ? f->size_id * s->config.layers + f->temporal_id : f->temporal_id;
}

// Returns the highest layer that may stay queued when the oldest waiting frame has this age.
static int layers_kept(const struct scheduler *s, usec_t age)
{
    int temporal = s->config.layers > 2 ? s->config.layers : 2;
    int top = s->sizes * s->config.layers - 1;
    int last = top;
    while (top > 0 && age > s->config.bound * (last + (temporal - 1) * (last - top)) /
                                ((usec_t)temporal * last))
        top--;
    return top;
}

// What the first frames of stored media wait delays the viewer's start, and so the time of all that
// follow.
static void shift_start(struct scheduler *s, usec_t now)
{
    if (!s->starting || s->count <= s->start_skips)
        return;
    const struct scheduler_frame *first = frame_at(s, s->start_skips);
    if (!s->start_until)
        s->start_until = first->captured + s->config.bound / 2;
    s->shift = usec_max(s->shift, usec_min(now - first->due, 2 * s->config.bound));
}

static usec_t age_of(const struct scheduler *s, const struct scheduler_frame *f, usec_t now)
{
    return now - f->due - s->shift;
}

// Applies the law to all waiting frames. One pass in order suffices, as a dropped frame breaks
// later frames only.
static void trim(struct scheduler *s, usec_t now)
{
    if (s->config.mode == SCHEDULER_FIFO)
        return;
    shift_start(s, now);
    int first_waiting = s->begun ? 1 : 0;
    usec_t age = s->count > first_waiting ? age_of(s, frame_at(s, first_waiting), now) : 0;
    int top = s->config.mode == SCHEDULER_PRIORITY ? layers_kept(s, age) : INT32_MAX;
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        struct scheduler_frame f = *frame_at(s, i);
        bool begun = i < first_waiting;
        enum drop_cause cause = DROP_CAUSES; // none
        if (!(begun && s->config.reliable) && age_of(s, &f, now) > s->config.bound)
            cause = DROP_DEADLINE;
        else if (begun ? !s->config.reliable && was_dropped(s, f.number, f.size_id)
                       : is_broken(s, &f))
            cause = DROP_BROKEN;
        else if (!begun && layer_of(s, &f) > top && age_of(s, &f, now) >= 0)
            cause = DROP_LAYER;
        if (cause == DROP_CAUSES) {
            if (kept < i)
                *frame_at(s, kept) = f;
            kept++;
            continue;
        }
        s->bytes -= f.bytes;
        if (begun)
            s->begun = s->start_skips = false;
        if (cause == DROP_DEADLINE && !s->late_since)
            s->late_since = now;
        give_up(s, &f, cause);
    }
    s->count = kept;
}

// Removes frame i from the queue and adds it to the dropped frames.
static void drop_at(struct scheduler *s, int i, enum drop_cause cause)
{
    struct scheduler_frame f = *frame_at(s, i);
    s->bytes -= f.bytes;
    for (int k = i; k + 1 < s->count; k++)
        *frame_at(s, k) = *frame_at(s, k + 1);
    s->count--;
    if (i == 0)
        s->begun = s->start_skips = false;
    give_up(s, &f, cause);
}

static bool fits(const struct scheduler *s, const struct scheduler_frame *f)
{
    return s->count < SCHEDULER_MAX_FRAMES && f->bytes <= s->config.limit_bytes &&
           s->bytes <= s->config.limit_bytes - f->bytes;
}

// Returns the newest waiting frame of the highest layer above that of `f`; -1: there is none.
static int above(struct scheduler *s, const struct scheduler_frame *f)
{
    int layer = layer_of(s, f), found = -1;
    for (int i = s->count - 1; i >= (s->begun ? 1 : 0); i--) {
        if (layer_of(s, frame_at(s, i)) > layer) {
            layer = layer_of(s, frame_at(s, i));
            found = i;
        }
    }
    return found;
}

// Returns true if there is room for `f` now.
static bool make_room(struct scheduler *s, const struct scheduler_frame *f)
{
    for (int i; !fits(s, f) && s->config.mode == SCHEDULER_PRIORITY && (i = above(s, f)) >= 0;)
        drop_at(s, i, DROP_FULL);
    return fits(s, f) && (s->count < s->room || set_room(s, 2 * s->room) == 0);
}

// The source has become slower if a frame arrives late although none waits here, and STARVED after
// another one that was dropped for that, without one in time between them. To drop this frame as
// well would make no later one timelier: the least delay begins anew, and the frame leaves. What a
// source delivers late at once, after it stood still, is dropped: those behind it are in time.
static void follow_source(struct scheduler *s, const struct scheduler_frame *f, usec_t now)
{
    if (windowed_min_read(&s->delay) == USEC_NEVER)
        return; // the first frame
    usec_t delay = now - f->captured;
    bool is_late = delay - windowed_min_read(&s->delay) - s->shift > s->config.bound;
    bool lasts = s->late_since && now - s->late_since >= STARVED;
    if (is_late && lasts && s->count == 0 && !is_broken(s, f))
        windowed_min_init(&s->delay, DELAY_WINDOW);
}

void scheduler_push(struct scheduler *s, const struct scheduler_frame *f, usec_t now)
{
    assert(f->temporal_id >= 0 && f->temporal_id < SCHEDULER_MAX_LAYERS);
    assert(f->size_id >= 0 && f->size_id < LADDER_MAX_SIZES);
    s->counters.queued[f->temporal_id]++;
    trim(s, now); // late frames must not block a new one
    if (!make_room(s, f)) {
        give_up(s, f, DROP_FULL);
        return;
    }
    follow_source(s, f, now);
    struct scheduler_frame *added = frame_at(s, s->count++);
    *added = *f;
    windowed_min_add(&s->delay, usec_max(0, now - f->captured), now);
    added->due = f->past ? now : f->captured + windowed_min_read(&s->delay);
    added->came = now;
    s->bytes += f->bytes;
    if (was_dropped(s, f->number, f->size_id))
        *memory_of(s, name_of(f->number, f->size_id)) = -1; // the frame is queued again
    trim(s, now);
}

const struct scheduler_frame *scheduler_first(const struct scheduler *s)
{
    return s->count ? &s->frames[s->head] : NULL;
}

const struct scheduler_frame *scheduler_next(struct scheduler *s, usec_t now)
{
    trim(s, now);
    if (!s->count)
        return NULL;
    s->late_since = 0;
    s->begun = true;
    return frame_at(s, 0);
}

void scheduler_done(struct scheduler *s)
{
    assert(s->begun && s->count);
    s->starting &= s->start_skips || frame_at(s, 0)->captured < s->start_until;
    s->start_skips = false;
    s->counters.sent[frame_at(s, 0)->temporal_id]++;
    s->bytes -= frame_at(s, 0)->bytes;
    s->head = (s->head + 1) % s->room;
    s->count--;
    s->begun = false;
}

bool scheduler_broke(struct scheduler *s, int64_t number, int size_id)
{
    if (was_dropped(s, number, size_id))
        return false;
    int64_t name = name_of(number, size_id);
    *memory_of(s, name) = name;
    return true;
}

void scheduler_flush(struct scheduler *s, int64_t from)
{
    for (int i = s->count - 1; i >= (s->begun ? 1 : 0); i--)
        if (frame_at(s, i)->number >= from)
            drop_at(s, i, DROP_FLUSHED);
}

void scheduler_clear(struct scheduler *s)
{
    while (s->count)
        drop_at(s, s->count - 1, DROP_FLUSHED);
}

bool scheduler_dropped(struct scheduler *s, struct scheduler_frame *f, enum drop_cause *cause)
{
    if (s->dropped_first == s->dropped_end) {
        s->dropped_first = s->dropped_end = 0;
        return false;
    }
    const struct scheduler_drop *d = &s->dropped[s->dropped_first++];
    *f = d->frame;
    *cause = d->cause;
    return true;
}

// ---- Reading

const struct scheduler_frame *scheduler_first_waiting(const struct scheduler *s)
{
    int first = s->begun ? 1 : 0;
    return s->count > first ? &s->frames[(s->head + first) % s->room] : NULL;
}

usec_t scheduler_waiting(const struct scheduler *s, usec_t now)
{
    const struct scheduler_frame *f = &s->frames[s->head];
    return s->count ? usec_max(0, usec_min(age_of(s, f, now), now - f->came)) : 0;
}
