// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/layer_refs.h"

#include <assert.h>
#include <stddef.h>

#include "common/base/level.h"

void layer_refs_init(struct layer_refs *r, int layers, int dpb)
{
    assert(layers >= 1 && layers <= LEVEL_MAX_LAYERS);
    assert(dpb >= 1 << (layers - 1) && dpb <= LAYER_REFS_MAX_DPB);
    *r = (struct layer_refs){.layers = layers, .dpb = dpb, .key_number = -1};
}

// Index of the oldest frame in the history.
static int oldest(const struct layer_refs *r)
{
    return r->count > LAYER_REFS_HISTORY ? r->count - LAYER_REFS_HISTORY : 0;
}

static const struct layer_ref *at(const struct layer_refs *r, int i)
{
    return &r->frames[i % LAYER_REFS_HISTORY];
}

static struct layer_ref *slot(struct layer_refs *r, int i)
{
    return &r->frames[i % LAYER_REFS_HISTORY];
}

// Returns the newest frame that a frame of `temporal_id` may reference and that the encoder still
// holds; NULL if there is none. `even_lost`: also accept a frame that a viewer lacks.
static const struct layer_ref *newest(const struct layer_refs *r, int temporal_id, bool even_lost)
{
    int limit = temporal_id > 0 ? temporal_id : 1;
    for (int i = r->count - 1; i >= oldest(r); i--) {
        const struct layer_ref *f = at(r, i);
        if (r->stamp - f->stamp > r->dpb)
            return NULL;
        if (f->temporal_id < limit && !f->forgotten && (even_lost || !f->lost))
            return f;
    }
    return NULL;
}

struct layer_choice layer_refs_choose(const struct layer_refs *r, int temporal_id)
{
    assert(temporal_id >= 0 && temporal_id < r->layers);
    const struct layer_ref *f = newest(r, temporal_id, false);
    if (!f && temporal_id > 0)
        f = newest(r, temporal_id, true);
    if (!f)
        return (struct layer_choice){.key = true, .depends_on = -1, .stamp = -1, .forget_from = -1};
    return (struct layer_choice){
        .depends_on = f->number,
        .stamp = f->stamp,
        .forget_from = f->stamp + 1 < r->stamp ? f->stamp + 1 : -1,
    };
}

static void forget(struct layer_refs *r, const struct layer_choice *choice)
{
    if (choice->forget_from < 0)
        return;
    for (int i = r->count - 1; i >= oldest(r) && at(r, i)->stamp >= choice->forget_from; i--)
        slot(r, i)->forgotten = true;
}

void layer_refs_kept(struct layer_refs *r, int64_t number, int temporal_id,
                     const struct layer_choice *choice)
{
    assert(!choice->key || temporal_id == 0);
    forget(r, choice);
    bool lost = false;
    if (choice->key) {
        r->count = 0;
        r->key_number = number;
    } else {
        for (int i = r->count - 1; i >= oldest(r); i--)
            if (at(r, i)->number == choice->depends_on)
                lost = at(r, i)->lost;
    }
    *slot(r, r->count) = (struct layer_ref){.number = number,
                                            .stamp = r->stamp,
                                            .depends_on = choice->depends_on,
                                            .temporal_id = temporal_id,
                                            .lost = lost};
    r->count++;
    r->stamp++;
    if (temporal_id == 0)
        r->discarded = 0;
}

void layer_refs_discarded(struct layer_refs *r, const struct layer_choice *choice)
{
    forget(r, choice);
    r->stamp++;
    r->discarded++;
}

bool layer_refs_may_discard(const struct layer_refs *r, const struct layer_choice *choice)
{
    if (choice->key)
        return true;
    // The encoder's window must still hold this frame's reference at the next call.
    if (r->stamp + 1 - choice->stamp > r->dpb)
        return false;
    // It must also hold the newest T0 frame for a whole period plus all discarded calls.
    return r->discarded + 1 + (1 << (r->layers - 1)) <= r->dpb;
}

// Marks the frame and all frames that depend on it as lost. One pass suffices, as a frame's
// reference is older than the frame. Returns false if the frame is not in the history.
static bool mark_lost(struct layer_refs *r, int64_t number)
{
    bool found = false;
    for (int i = oldest(r); i < r->count; i++) {
        struct layer_ref *f = slot(r, i);
        if (f->number == number) {
            f->lost = true;
            found = true;
        }
        for (int j = oldest(r); found && j < i && !f->lost; j++)
            f->lost = at(r, j)->lost && at(r, j)->number == f->depends_on;
    }
    return found;
}

enum layer_loss layer_refs_lost(struct layer_refs *r, int64_t number)
{
    if (r->key_number < 0 || number < r->key_number)
        return LAYER_LOSS_HARMLESS; // no later frame depends on frames before the key frame
    if (number < at(r, oldest(r))->number)
        return LAYER_LOSS_NEEDS_KEY; // too old: its dependent frames are unknown
    int64_t before[LEVEL_MAX_LAYERS];
    for (int t = 0; t < r->layers; t++)
        before[t] = layer_refs_choose(r, t).depends_on;
    if (!mark_lost(r, number))
        return LAYER_LOSS_HARMLESS; // the encoder skipped that frame
    if (!newest(r, 0, false))
        return LAYER_LOSS_NEEDS_KEY;
    for (int t = 0; t < r->layers; t++)
        if (layer_refs_choose(r, t).depends_on != before[t])
            return LAYER_LOSS_REPAIRED;
    return LAYER_LOSS_HARMLESS;
}

enum layer_loss layer_refs_loss(const struct layer_refs *r, int64_t number)
{
    struct layer_refs trial = *r;
    return layer_refs_lost(&trial, number);
}
