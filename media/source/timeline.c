// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/timeline.h"

#include <string.h>

// Packets that are apart by less are one run.
#define JOINS (1 * USEC_PER_SEC)
// The end that a container names is rounded, or estimated; so is a part of it.
#define END_SLACK (10 * USEC_PER_SEC)

// Time stamps are within +-LIMIT, so that no sum or difference of them overflows.
#define LIMIT (INT64_MAX / 8)

static usec_t bounded(usec_t t)
{
    return t < -LIMIT ? -LIMIT : t > LIMIT ? LIMIT : t;
}

void timeline_init(struct timeline *t, bool clock_jumps, usec_t end)
{
    *t = (struct timeline){.clock_jumps = clock_jumps,
                           .end = end == USEC_NEVER ? end : bounded(end)};
}

void timeline_restart(struct timeline *t)
{
    t->count = 0;
}

// Returns the newest run of the stream, or NULL.
static struct timeline_run *newest(struct timeline *t, int stream)
{
    for (int i = t->count - 1; i >= 0; i--)
        if (t->runs[i].stream == stream)
            return &t->runs[i];
    return NULL;
}

void timeline_add(struct timeline *t, int stream, usec_t from, usec_t duration)
{
    from = bounded(from);
    usec_t to = bounded(from + bounded(duration < 0 ? 0 : duration));
    struct timeline_run *r = newest(t, stream);
    if (r && from >= r->to - JOINS && from <= r->to + JOINS) {
        r->to = usec_max(r->to, to);
        return;
    }
    if (t->count == TIMELINE_RUNS)
        memmove(t->runs, t->runs + 1, (size_t)--t->count * sizeof(*t->runs));
    t->runs[t->count++] = (struct timeline_run){.stream = stream, .from = from, .to = to};
}

static usec_t apart(usec_t a, usec_t b)
{
    return a > b ? a - b : b - a;
}

// The pictures' clock has jumped. Each stream's newest run is kept, as it may continue: streams
// jump at different places of the file. Another clock may have the same times again, so a run that
// is nearer to the picture before the jump counts no more.
static void leave_clock(struct timeline *t, usec_t before, usec_t at)
{
    int kept = 0;
    for (int i = 0; i < t->count; i++) {
        struct timeline_run r = t->runs[i];
        if (newest(t, r.stream) != &t->runs[i])
            continue; // older ones are of the clock that is left
        r.is_past |= apart(r.to, at) > apart(r.to, before);
        t->runs[kept++] = r; // at or before its place, so that `newest` still finds the others
    }
    t->count = kept;
}

// Returns true if the time from `end`, at which all streams break off, until `at` passes.
static bool passes(const struct timeline *t, usec_t end, usec_t at)
{
    usec_t max = t->clock_jumps ? TIMELINE_BREAK : TIMELINE_SILENCE;
    bool is_named = t->end == USEC_NEVER || at <= t->end + END_SLACK;
    return at - end <= TIMELINE_BREAK || (at - end <= max && is_named);
}

// Returns the end of what continues after `from`, and begins before `until`.
static usec_t reach(const struct timeline *t, usec_t from, usec_t until)
{
    usec_t end = from;
    for (int i = 0; i < t->count; i++) { // a run more in each turn
        usec_t next = end;
        for (int k = 0; k < t->count; k++) {
            const struct timeline_run *r = &t->runs[k];
            if (!r->is_past && r->from < until && r->to > next && passes(t, end, r->from))
                next = r->to;
        }
        if (next == end)
            break;
        end = next;
    }
    return end;
}

usec_t timeline_step(struct timeline *t, usec_t before, usec_t at)
{
    before = bounded(before);
    at = bounded(at);
    usec_t gap = at - before;
    if (gap >= -TIMELINE_BACKWARD && gap <= TIMELINE_BREAK)
        return gap;
    bool is_ahead = gap > 0;
    usec_t end = reach(t, before, is_ahead ? at : INT64_MAX);
    if (is_ahead && passes(t, end, at))
        return gap;
    leave_clock(t, before, at);
    return end - before > TIMELINE_SLACK ? end - before : 0;
}

usec_t timeline_end(const struct timeline *t, usec_t from)
{
    from = bounded(from);
    usec_t end = reach(t, from, INT64_MAX);
    return end - from > TIMELINE_SLACK ? end : from;
}

usec_t timeline_begin(const struct timeline *t, usec_t picture, usec_t other)
{
    picture = bounded(picture);
    bool leads = other != USEC_NEVER && picture - bounded(other) > TIMELINE_SLACK &&
                 passes(t, bounded(other), picture);
    return leads ? bounded(other) : picture;
}
