// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/encode_load.h"

#include <assert.h>

// A window that lasts so long has a gap: no viewer watched, or the whole machine slept.
#define MAX_WINDOW (3 * ENCODE_LOAD_WINDOW)
enum { MAX_HALVINGS = 4 }; // 120 to 7.5 frames a second
static const double PROMPT_SHARE = 0.75;
static const double HEAVY = 0.5; // of the frames came: one window is enough

static double rate_of(const struct encode_load *l, int size_id)
{
    return fps_value(l->ladder->sizes[size_id].fps);
}

static int every(const struct encode_load *l, const struct encode_load_step *s, int size_id)
{
    int n = 1;
    for (int i = 0; i < s->halvings && rate_of(l, size_id) >= 2.0 * n * s->least_rate; i++)
        n *= 2;
    return n;
}

// Returns the pixels a second of the size.
static double cost_of_size(const struct encode_load *l, const struct encode_load_step *s,
                           int size_id)
{
    const struct size_spec *size = &l->ladder->sizes[size_id];
    return (double)size->width * size->height * rate_of(l, size_id) / every(l, s, size_id);
}

// Returns what the viewers of the watched sizes cost at this step: those above its top get that.
static double cost(const struct encode_load *l, const struct encode_load_step *s)
{
    unsigned sizes = 0;
    double sum = 0;
    for (int i = 0; i < l->ladder->size_count; i++)
        if (l->windows[i].watched)
            sizes |= 1u << (i < s->top ? i : s->top);
    for (int i = 0; i < l->ladder->size_count; i++)
        if (sizes >> i & 1)
            sum += cost_of_size(l, s, i);
    return sum;
}

static void add_step(struct encode_load *l, struct encode_load_step s)
{
    assert(l->step_count < ENCODE_LOAD_STEPS);
    l->steps[l->step_count++] = s;
}

// Adds the steps that halve the rate of a size that is still encoded.
static void add_halvings(struct encode_load *l, int least_rate)
{
    struct encode_load_step s = l->steps[l->step_count - 1];
    s.least_rate = least_rate;
    for (; s.halvings <= MAX_HALVINGS; s.halvings++) {
        bool halves = false;
        for (int i = 0; i <= s.top; i++)
            halves |= every(l, &s, i) > every(l, &l->steps[l->step_count - 1], i);
        if (halves)
            add_step(l, s);
    }
}

static void restart(struct encode_load *l)
{
    for (int i = 0; i < l->ladder->size_count; i++)
        l->windows[i] = (struct encode_load_window){.watched = l->windows[i].watched};
    l->has_time_from = USEC_NEVER;
    l->warnings = 0;
}

void encode_load_init(struct encode_load *l, const struct ladder *ladder)
{
    *l = (struct encode_load){
        .ladder = ladder, .patience = ENCODE_LOAD_PATIENCE, .tried_at = USEC_NEVER};
    add_step(l, (struct encode_load_step){.top = ladder->size_count - 1,
                                          .least_rate = ENCODE_LOAD_RATE});
    add_halvings(l, ENCODE_LOAD_RATE);
    for (int top = ladder->size_count - 2; top >= 0 && !ladder->cumulative; top--) {
        struct encode_load_step s = l->steps[l->step_count - 1];
        s.top = top;
        add_step(l, s);
    }
    add_halvings(l, ENCODE_LOAD_LEAST_RATE);
    restart(l);
}

void encode_load_watch(struct encode_load *l, int size_id, bool watched)
{
    l->windows[size_id] = (struct encode_load_window){.watched = watched};
    l->has_time_from = USEC_NEVER;
}

static void judge_trial(struct encode_load *l, bool failed, usec_t now)
{
    if (l->tried_at == USEC_NEVER || (!failed && now - l->tried_at < ENCODE_LOAD_TRIAL))
        return;
    l->tried_at = USEC_NEVER;
    if (failed) {
        l->failed = l->tried;
        l->patience = usec_min(2 * l->patience, ENCODE_LOAD_MAX_PATIENCE);
    } else if (l->tried <= l->failed) {
        l->patience = ENCODE_LOAD_PATIENCE;
    }
}

static bool step_down(struct encode_load *l, usec_t now)
{
    double before = cost(l, &l->steps[l->step]);
    int next = l->step + 1;
    while (next < l->step_count && !(cost(l, &l->steps[next]) < before))
        next++;
    judge_trial(l, true, now);
    restart(l);
    if (next == l->step_count)
        return false;
    l->step = next;
    return true;
}

// Returns how many times as much the step above costs as this one, if its top has viewers.
static double growth(const struct encode_load *l)
{
    const struct encode_load_step *now = &l->steps[l->step], *next = now - 1;
    return cost_of_size(l, next, next->top) / cost_of_size(l, now, now->top);
}

static bool all_have_time(const struct encode_load *l)
{
    for (int i = 0; i < l->ladder->size_count; i++)
        if (l->windows[i].watched && !l->windows[i].has_time)
            return false;
    return true;
}

static bool step_up(struct encode_load *l, usec_t now)
{
    if (l->step == 0 || !all_have_time(l)) {
        l->has_time_from = USEC_NEVER;
        return false;
    }
    if (l->has_time_from == USEC_NEVER)
        l->has_time_from = now - ENCODE_LOAD_WINDOW; // of the window that has just ended
    if (now - l->has_time_from < l->patience)
        return false;
    l->tried = --l->step;
    l->tried_at = now;
    restart(l);
    return true;
}

// A window of the size has ended.
static bool judge(struct encode_load *l, int size_id, usec_t now)
{
    struct encode_load_window w = l->windows[size_id];
    double lasted = usec_to_sec(now - w.begun_at);
    double interval = encode_load_every(l, size_id) / rate_of(l, size_id);
    double kept = w.frames * interval / lasted;
    usec_t late = usec_max(ENCODE_LOAD_LATE, (usec_t)(2e6 * interval));
    l->windows[size_id] = (struct encode_load_window){
        .watched = true, .begun = true, .begun_at = now, .least_late = USEC_NEVER};
    if (now - w.begun_at > MAX_WINDOW)
        return false;
    if (kept < ENCODE_LOAD_KEPT || w.least_late > late) {
        l->has_time_from = USEC_NEVER;
        l->warnings++;
        return (l->step > 0 || kept < HEAVY || l->warnings > 1) && step_down(l, now);
    }
    l->warnings = 0;
    judge_trial(l, false, now);
    l->windows[size_id].has_time = l->step > 0 && w.prompt >= PROMPT_SHARE * w.frames &&
                                   usec_to_sec(w.busy) * growth(l) <= ENCODE_LOAD_BUSY * lasted;
    return step_up(l, now);
}

bool encode_load_came(struct encode_load *l, const struct encode_load_frame *f, usec_t now)
{
    struct encode_load_window *w = &l->windows[f->size_id];
    if (!w->watched)
        return false;
    if (!w->begun) {
        w->begun = true;
        w->begun_at = now;
        w->least_late = USEC_NEVER;
        return false;
    }
    w->frames++;
    w->busy += f->took;
    w->prompt += f->late - f->took <= ENCODE_LOAD_PROMPT;
    w->least_late = usec_min(w->least_late, f->late);
    return now - w->begun_at >= ENCODE_LOAD_WINDOW && judge(l, f->size_id, now);
}

int encode_load_every(const struct encode_load *l, int size_id)
{
    return every(l, &l->steps[l->step], size_id);
}

int encode_load_top(const struct encode_load *l)
{
    return l->steps[l->step].top;
}

int encode_load_steps(const struct encode_load *l)
{
    return l->step;
}
