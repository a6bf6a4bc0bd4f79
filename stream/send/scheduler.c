// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/scheduler.h"

#include <assert.h>
#include <string.h>

static const usec_t DELAY_WINDOW = 10 * USEC_PER_SEC;

void scheduler_init(struct scheduler *s, usec_t bound, int layers, bool reliable)
{
    memset(s, 0, sizeof(*s));
    s->reliable = reliable;
    windowed_min_init(&s->delay, DELAY_WINDOW);
    scheduler_set_bound(s, bound);
    scheduler_set_layers(s, layers);
}

void scheduler_set_bound(struct scheduler *s, usec_t bound)
{
    assert(bound > 0);
    s->bound = bound;
}

void scheduler_set_layers(struct scheduler *s, int layers)
{
    assert(layers >= 1 && layers <= SCHEDULER_MAX_LAYERS);
    s->layers = layers;
    memset(s->memory, 0xff, sizeof(s->memory)); // all -1
}

static struct scheduler_frame *frame_at(struct scheduler *s, int i)
{
    return &s->frames[(s->head + i) % SCHEDULER_MAX_FRAMES];
}

static int64_t *memory_of(struct scheduler *s, int64_t number)
{
    return &s->memory[number & (SCHEDULER_MEMORY - 1)];
}

static void give_up(struct scheduler *s, const struct scheduler_frame *f, enum drop_cause cause)
{
    // the caller fetches dropped frames after each call
    assert(s->dropped_count <= SCHEDULER_MAX_FRAMES);
    s->dropped[s->dropped_count] = *f;
    s->dropped_cause[s->dropped_count++] = cause;
    if (cause != DROP_FLUSHED) // frames after a flush do not depend on flushed ones
        *memory_of(s, f->number) = f->number;
    s->counters.dropped[cause][f->temporal_id]++;
}

static bool is_broken(struct scheduler *s, const struct scheduler_frame *f)
{
    return f->depends_on >= 0 && *memory_of(s, f->depends_on) == f->depends_on;
}

// Returns the highest layer that may stay queued when the oldest waiting frame has this age.
static int layers_kept(const struct scheduler *s, usec_t age)
{
    int top = s->layers - 1;
    while (top > 0 && age > s->bound * (s->layers - top) / s->layers)
        top--;
    return top;
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
        s->begun = false;
    give_up(s, &f, cause);
}

// Applies the law to all waiting frames. One pass in order suffices, as a dropped frame breaks
// later frames only.
static void trim(struct scheduler *s, usec_t now)
{
    bool keep_first = s->begun && s->reliable;
    int first_waiting = s->begun ? 1 : 0;
    usec_t age = s->count > first_waiting ? now - frame_at(s, first_waiting)->due : 0;
    int top = layers_kept(s, age);
    for (int i = 0; i < s->count;) {
        const struct scheduler_frame *f = frame_at(s, i);
        bool begun = i == 0 && s->begun;
        if (begun && keep_first)
            i++;
        else if (now - f->due > s->bound)
            drop_at(s, i, DROP_DEADLINE);
        else if (!begun && is_broken(s, f))
            drop_at(s, i, DROP_BROKEN);
        else if (!begun && f->temporal_id > top)
            drop_at(s, i, DROP_LAYER);
        else
            i++;
    }
}

void scheduler_push(struct scheduler *s, const struct scheduler_frame *f, usec_t now)
{
    assert(f->temporal_id >= 0 && f->temporal_id < SCHEDULER_MAX_LAYERS);
    s->counters.queued[f->temporal_id]++;
    trim(s, now); // late frames must not block a new one
    if (s->count == SCHEDULER_MAX_FRAMES) {
        give_up(s, f, DROP_FULL);
        return;
    }
    struct scheduler_frame *added = frame_at(s, s->count++);
    *added = *f;
    windowed_min_add(&s->delay, usec_max(0, now - f->captured), now);
    added->due = f->captured + windowed_min_read(&s->delay);
    s->bytes += f->bytes;
    if (*memory_of(s, f->number) == f->number)
        *memory_of(s, f->number) = -1; // the frame is queued again
    trim(s, now);
}

const struct scheduler_frame *scheduler_next(struct scheduler *s, usec_t now)
{
    trim(s, now);
    if (!s->count)
        return NULL;
    s->begun = true;
    return frame_at(s, 0);
}

void scheduler_done(struct scheduler *s)
{
    assert(s->begun && s->count);
    s->counters.sent[frame_at(s, 0)->temporal_id]++;
    s->bytes -= frame_at(s, 0)->bytes;
    s->head = (s->head + 1) % SCHEDULER_MAX_FRAMES;
    s->count--;
    s->begun = false;
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
    if (!s->dropped_count)
        return false;
    *f = s->dropped[0];
    *cause = s->dropped_cause[0];
    s->dropped_count--;
    memmove(s->dropped, s->dropped + 1, (size_t)s->dropped_count * sizeof(*s->dropped));
    memmove(s->dropped_cause, s->dropped_cause + 1,
            (size_t)s->dropped_count * sizeof(*s->dropped_cause));
    return true;
}

const struct scheduler_frame *scheduler_first_waiting(const struct scheduler *s)
{
    int first = s->begun ? 1 : 0;
    return s->count > first ? &s->frames[(s->head + first) % SCHEDULER_MAX_FRAMES] : NULL;
}

usec_t scheduler_waiting(const struct scheduler *s, usec_t now)
{
    return s->count ? usec_max(0, now - s->frames[s->head].due) : 0;
}
