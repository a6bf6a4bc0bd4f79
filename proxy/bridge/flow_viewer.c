// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/bridge/flow_viewer.h"

#include <assert.h>

void flow_viewer_init(struct flow_viewer *v, const struct ladder *ladder)
{
    *v = (struct flow_viewer){.ladder = ladder, .current = FLOW_NONE, .next = FLOW_NONE};
    flow_viewer_set_level(v, ladder->level_count - 1);
    v->top = LEVEL_MAX_LAYERS;
}

void flow_viewer_set_level(struct flow_viewer *v, int level)
{
    assert(ladder_has_level(v->ladder, level));
    v->level = level;
}

void flow_viewer_join(struct flow_viewer *v, int flow, bool runs)
{
    if (v->current == FLOW_NONE || v->waits) {
        v->waits = runs && (v->current != flow || v->waits);
        v->current = flow;
        v->next = FLOW_NONE;
    } else {
        v->next = flow == v->current ? FLOW_NONE : flow;
    }
}

void flow_viewer_restart(struct flow_viewer *v, int flow)
{
    if (flow == v->current)
        v->waits = false;
}

void flow_viewer_leave(struct flow_viewer *v)
{
    v->current = v->next = FLOW_NONE;
    v->waits = false;
}

bool flow_viewer_waits(const struct flow_viewer *v, int flow)
{
    return flow == v->next || (flow == v->current && v->waits);
}

// Returns the level of this size with the layers 0 .. top; -1: there is none.
static int level_of(const struct ladder *l, int size_id, int top)
{
    for (int i = 0; i < l->level_count; i++)
        if (l->levels[i].size_id == size_id && l->levels[i].temporal_id == top)
            return i;
    return -1;
}

static enum flow_verdict take(struct flow_viewer *v, const struct received_frame *f, int *level)
{
    *level = f->level;
    const struct level *wanted = &v->ladder->levels[v->level];
    if (!ladder_has_level(v->ladder, f->level))
        return FLOW_TAKEN; // its bridge judges it
    const struct level *served = &v->ladder->levels[f->level];
    bool is_of_size = served->size_id == wanted->size_id;
    int top = is_of_size ? wanted->temporal_id : LEVEL_MAX_LAYERS;
    if (f->temporal_id == 0 || top < v->top)
        v->top = top;
    if (f->temporal_id > v->top)
        return FLOW_LEFT_OUT;
    int lower = v->top < served->temporal_id ? level_of(v->ladder, served->size_id, v->top) : -1;
    if (lower >= 0)
        *level = lower;
    return FLOW_TAKEN;
}

enum flow_verdict flow_viewer_take(struct flow_viewer *v, int flow, const struct received_frame *f,
                                   int *level)
{
    if (flow == v->next && f->key) {
        v->current = flow;
        v->next = FLOW_NONE;
        v->waits = false;
        (void)take(v, f, level);
        return FLOW_SWITCHED;
    }
    if (flow != v->current || (v->waits && !f->key))
        return FLOW_OTHER;
    bool starts = v->waits;
    v->waits = false;
    enum flow_verdict verdict = take(v, f, level);
    return starts ? FLOW_STARTED : verdict;
}
