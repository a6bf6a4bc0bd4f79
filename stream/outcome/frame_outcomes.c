// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/frame_outcomes.h"

#include <stdlib.h>

struct frame_outcomes {
    struct frame_totals totals;
    struct frame_history *history; // borrowed
    struct loss_attribution packets;
    enum frame_cause unsent; // of frames that were never sent
};

struct frame_outcomes *frame_outcomes_new(struct frame_history *history)
{
    struct frame_outcomes *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->history = history;
    l->unsent = CAUSE_SENDER;
    loss_attribution_init(&l->packets, history);
    return l;
}

void frame_outcomes_free(struct frame_outcomes *l)
{
    free(l);
}

void frame_outcomes_set_relayed(struct frame_outcomes *l)
{
    l->unsent = CAUSE_PROXY;
}

// Returns NULL if only packets of the frame are known.
static const struct frame_outcome *outcome_of(const struct frame_outcomes *l, int64_t number)
{
    const struct frame_record *r = frame_history_find(l->history, number);
    return r && r->outcome.state != FRAME_UNSEEN ? &r->outcome : NULL;
}

static struct frame_outcome *make_outcome(struct frame_outcomes *l, int64_t number)
{
    return &frame_history_make(l->history, number)->outcome;
}

void frame_outcomes_packet(struct frame_outcomes *l, const struct adu_ext *adu, int64_t ext_seq)
{
    loss_attribution_add(&l->packets, adu, ext_seq);
}

void frame_outcomes_arrived(struct frame_record *record, const struct received_frame *f)
{
    struct frame_outcome *n = &record->outcome;
    if (n->state != FRAME_UNSEEN && n->state != FRAME_ARRIVED)
        return; // its outcome is known, or that of the same number in another size
    n->depends_on = f->key ? -1 : f->depends_on;
    n->state = FRAME_ARRIVED;
}

void frame_outcomes_refused(struct frame_outcomes *l, int64_t number)
{
    const struct frame_outcome *known = outcome_of(l, number);
    if (known && known->state == FRAME_ARRIVED)
        make_outcome(l, number)->state = FRAME_REFUSED;
}

void frame_outcomes_handed(struct frame_outcomes *l, int64_t number)
{
    make_outcome(l, number)->state = FRAME_HANDED;
}

void frame_outcomes_shown(struct frame_outcomes *l, int64_t number)
{
    (void)number;
    l->totals.expected++;
    l->totals.shown++;
}

static enum frame_cause cause_of_packets(const struct frame_outcomes *l, int64_t number)
{
    switch (loss_attribution_of(&l->packets, number)) {
    case PACKETS_GAP:
        return CAUSE_NETWORK;
    case PACKETS_AHEAD:
        return CAUSE_LATE;
    case PACKETS_WHOLE:
        return CAUSE_DECODER; // all packets arrived, but violate RFC 6184
    case PACKETS_UNSENT:
    case PACKETS_UNKNOWN:
        break;
    }
    return l->unsent;
}

// Returns the root cause why frame `number`, on which others depend, is missing.
static enum frame_cause root_of(const struct frame_outcomes *l, int64_t number)
{
    for (int i = 0; i < FRAME_HISTORY_WINDOW; i++) {
        const struct frame_outcome *n = outcome_of(l, number);
        if (!n)
            return cause_of_packets(l, number);
        if (n->state == FRAME_NOT_SHOWN)
            return n->root;
        if (n->state == FRAME_HANDED)
            return CAUSE_DECODER; // it was released, so decoding fails; the decoder reports that
                                  // later
        if (n->state == FRAME_REFUSED || n->depends_on < 0 || n->depends_on == number)
            return CAUSE_SKIPPED;
        number = n->depends_on;
    }
    return l->unsent; // no key frame precedes it
}

static bool is_missing(const struct frame_outcomes *l, int64_t number)
{
    const struct frame_outcome *n = outcome_of(l, number);
    return number >= 0 && (!n || n->state != FRAME_HANDED);
}

// Returns the cause for a frame that was passed over: lost, never sent, or whole but not released.
static struct not_shown passed_over(const struct frame_outcomes *l, int64_t number)
{
    struct not_shown out = {.number = number, .needs = -1};
    const struct frame_outcome *n = outcome_of(l, number);
    if (!n) {
        out.cause = cause_of_packets(l, number);
    } else if (n->state == FRAME_ARRIVED && is_missing(l, n->depends_on)) {
        out.cause = CAUSE_DEPENDENCY;
        out.needs = n->depends_on;
    } else {
        out.cause = CAUSE_SKIPPED;
    }
    return out;
}

static struct not_shown judge(const struct frame_outcomes *l, int64_t number, enum frame_end end,
                              bool was_late)
{
    const struct frame_outcome *n = outcome_of(l, number);
    int64_t needs = n ? n->depends_on : -1;
    struct not_shown out = {.number = number, .cause = CAUSE_DECODER, .needs = -1};
    switch (end) {
    case FRAME_END_LOST:
        out = passed_over(l, number);
        if (was_late && out.cause != CAUSE_DEPENDENCY)
            out.cause = CAUSE_DISPLAY;
        return out;
    case FRAME_END_LATE:
        out.cause = was_late ? CAUSE_DISPLAY : CAUSE_LATE;
        return out;
    case FRAME_END_UNSEEN:
    case FRAME_END_SLOW:
        out.cause = CAUSE_DISPLAY;
        return out;
    case FRAME_END_UNDECODABLE:
        if (needs < 0)
            return out;
        break;
    case FRAME_END_FAILED:
        if (!is_missing(l, needs))
            return out;
        break;
    }
    out.cause = CAUSE_DEPENDENCY;
    out.needs = needs;
    return out;
}

struct not_shown frame_outcomes_ended(struct frame_outcomes *l, int64_t number, enum frame_end end,
                                      bool was_late)
{
    struct not_shown out = judge(l, number, end, was_late);
    out.root = out.cause == CAUSE_DEPENDENCY ? root_of(l, out.needs) : out.cause;
    l->totals.expected++;
    l->totals.by_cause[out.cause]++;
    l->totals.by_root[out.root]++;
    // A decoded picture serves as a reference even if it was not displayed.
    if (end != FRAME_END_UNSEEN) {
        struct frame_outcome *n = make_outcome(l, number);
        n->state = FRAME_NOT_SHOWN;
        n->root = out.root;
    }
    return out;
}

void frame_outcomes_skipped(struct frame_outcomes *l, uint64_t frames)
{
    l->totals.expected += frames;
    l->totals.by_cause[CAUSE_SKIPPED] += frames;
    l->totals.by_root[CAUSE_SKIPPED] += frames;
}

bool frame_outcomes_root(const struct frame_outcomes *l, int64_t number, bool was_late,
                         enum frame_cause *root)
{
    const struct frame_outcome *n = outcome_of(l, number);
    if (number < 0 || (n && n->state == FRAME_HANDED))
        return false;
    bool is_decided = n && n->state != FRAME_ARRIVED;
    *root = was_late && !is_decided ? CAUSE_DISPLAY : root_of(l, number);
    return true;
}

enum packets_say frame_outcomes_packets(const struct frame_outcomes *l, int64_t number)
{
    return loss_attribution_of(&l->packets, number);
}

const struct frame_totals *frame_outcomes_totals(const struct frame_outcomes *l)
{
    return &l->totals;
}
