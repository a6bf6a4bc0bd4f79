// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_gate.h"

static void forget(struct record_gate *g)
{
    for (int i = 0; i < RECORD_GATE_SEEN; i++)
        g->seen[i].number = -1;
}

void record_gate_init(struct record_gate *g, usec_t segment, usec_t key_every)
{
    *g = (struct record_gate){
        .segment = segment, .key_every = key_every, .waits = true, .requested = -RECORD_GATE_AGAIN};
    forget(g);
}

static bool is_known(const struct record_gate *g, const struct record_candidate *f)
{
    bool known = false;
    for (int i = 0; i < RECORD_GATE_SEEN && !known; i++)
        known = g->seen[i].number == f->depends_on && g->seen[i].size_id == f->size_id;
    return f->depends_on >= 0 && known;
}

enum record_verdict record_gate_frame(struct record_gate *g, const struct record_candidate *f)
{
    if (!f->key && (g->waits || !is_known(g, f))) {
        // A lost frame of an upper layer costs its own layer only; a lost reference costs all that
        // follows.
        g->waits |= f->time - g->last_frame >= RECORD_GATE_PATIENCE;
        return RECORD_SKIP;
    }
    bool begins =
        f->key && (!g->has_begun || (g->segment && f->time - g->file_begun >= g->segment));
    if (f->key) {
        forget(g);
        g->waits = false;
        g->last_key = f->time;
        g->requested = f->time - RECORD_GATE_AGAIN;
    }
    if (begins) {
        g->has_begun = true;
        g->file_begun = f->time;
    }
    g->last_frame = f->time;
    g->seen[g->at].number = f->number;
    g->seen[g->at].size_id = f->size_id;
    g->at = (g->at + 1) % RECORD_GATE_SEEN;
    return begins ? RECORD_BEGIN : RECORD_FRAME;
}

void record_gate_lost(struct record_gate *g)
{
    g->waits = true;
}

bool record_gate_wants_key(struct record_gate *g, bool needs, usec_t time)
{
    bool is_over = g->has_begun && g->segment && time - g->file_begun >= g->segment;
    bool is_old = g->has_begun && g->key_every && time - g->last_key >= g->key_every;
    if (!needs && !g->waits && !is_over && !is_old)
        return false;
    if (time - g->requested < RECORD_GATE_AGAIN)
        return false;
    g->requested = time;
    return true;
}
