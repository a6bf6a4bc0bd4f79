// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/frame_outcomes.h"

#include <stdlib.h>

enum {
    MAX_STEPS = FRAME_OUTCOMES_WINDOW, // from reference to reference
};

enum note_state {
    NOTE_ARRIVED,
    NOTE_REFUSED,
    NOTE_HANDED, // and all that became of it but a failure
    NOTE_NOT_SHOWN,
};

struct note {
    int64_t number; // -1: empty
    int64_t depends_on;
    enum note_state state;
    enum frame_cause root; // of NOTE_NOT_SHOWN
};

struct frame_outcomes {
    struct frame_totals totals;
    struct loss_attribution packets;
    struct note notes[FRAME_OUTCOMES_WINDOW];
};

struct frame_outcomes *frame_outcomes_new(void)
{
    struct frame_outcomes *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    loss_attribution_init(&l->packets);
    for (int i = 0; i < FRAME_OUTCOMES_WINDOW; i++)
        l->notes[i].number = -1;
    return l;
}

void frame_outcomes_free(struct frame_outcomes *l)
{
    free(l);
}

static const struct note *note_of(const struct frame_outcomes *l, int64_t number)
{
    const struct note *n = &l->notes[(uint64_t)number % FRAME_OUTCOMES_WINDOW];
    return number >= 0 && n->number == number ? n : NULL;
}

static struct note *make_note(struct frame_outcomes *l, int64_t number)
{
    struct note *n = &l->notes[(uint64_t)number % FRAME_OUTCOMES_WINDOW];
    if (n->number != number)
        *n = (struct note){.number = number, .depends_on = -1};
    return n;
}

void frame_outcomes_packet(struct frame_outcomes *l, const struct adu_ext *adu, int64_t ext_seq)
{
    loss_attribution_add(&l->packets, adu, ext_seq);
}

void frame_outcomes_arrived(struct frame_outcomes *l, const struct received_frame *f)
{
    const struct note *known = note_of(l, f->number);
    if (known && known->state != NOTE_ARRIVED)
        return; // its fate is known, or the number's in another size
    struct note *n = make_note(l, f->number);
    n->depends_on = f->key ? -1 : f->depends_on;
    n->state = NOTE_ARRIVED;
}

void frame_outcomes_refused(struct frame_outcomes *l, int64_t number)
{
    const struct note *known = note_of(l, number);
    if (known && known->state == NOTE_ARRIVED)
        make_note(l, number)->state = NOTE_REFUSED;
}

void frame_outcomes_handed(struct frame_outcomes *l, int64_t number)
{
    make_note(l, number)->state = NOTE_HANDED;
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
        return CAUSE_DECODER; // all of it came, and is not what RFC 6184 says
    case PACKETS_UNSENT:
    case PACKETS_UNKNOWN:
        break;
    }
    return CAUSE_SENDER;
}

// Why is `number`, which others need, not there?
static enum frame_cause root_of(const struct frame_outcomes *l, int64_t number)
{
    for (int i = 0; i < MAX_STEPS; i++) {
        const struct note *n = note_of(l, number);
        if (!n)
            return cause_of_packets(l, number);
        if (n->state == NOTE_NOT_SHOWN)
            return n->root;
        if (n->state == NOTE_HANDED)
            return CAUSE_DECODER; // it fails there, and that is told later
        if (n->state == NOTE_REFUSED || n->depends_on < 0 || n->depends_on == number)
            return CAUSE_SKIPPED;
        number = n->depends_on;
    }
    return CAUSE_SENDER; // no key frame before
}

static bool is_missing(const struct frame_outcomes *l, int64_t number)
{
    const struct note *n = note_of(l, number);
    return number >= 0 && (!n || n->state != NOTE_HANDED);
}

// Passed over, and not whole now: lost, never sent - or whole, but left in the buffer.
static struct not_shown passed_over(const struct frame_outcomes *l, int64_t number)
{
    struct not_shown out = {.number = number, .needs = -1};
    const struct note *n = note_of(l, number);
    if (!n) {
        out.cause = cause_of_packets(l, number);
    } else if (n->state == NOTE_ARRIVED && is_missing(l, n->depends_on)) {
        out.cause = CAUSE_DEPENDENCY;
        out.needs = n->depends_on;
    } else {
        out.cause = CAUSE_SKIPPED;
    }
    return out;
}

static struct not_shown judge(const struct frame_outcomes *l, int64_t number, enum frame_end end)
{
    const struct note *n = note_of(l, number);
    int64_t needs = n ? n->depends_on : -1;
    struct not_shown out = {.number = number, .cause = CAUSE_DECODER, .needs = -1};
    switch (end) {
    case FRAME_END_LOST:
        return passed_over(l, number);
    case FRAME_END_LATE:
        out.cause = CAUSE_LATE;
        return out;
    case FRAME_END_UNSEEN:
        out.cause = CAUSE_DISPLAY;
        return out;
    case FRAME_END_SLOW:
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

struct not_shown frame_outcomes_ended(struct frame_outcomes *l, int64_t number, enum frame_end end)
{
    struct not_shown out = judge(l, number, end);
    out.root = out.cause == CAUSE_DEPENDENCY ? root_of(l, out.needs) : out.cause;
    l->totals.expected++;
    l->totals.by_cause[out.cause]++;
    l->totals.by_root[out.root]++;
    // What the decoder made a picture of serves those that need it, seen or not.
    if (end != FRAME_END_UNSEEN) {
        struct note *n = make_note(l, number);
        n->state = NOTE_NOT_SHOWN;
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

bool frame_outcomes_root(const struct frame_outcomes *l, int64_t number, enum frame_cause *root)
{
    const struct note *n = note_of(l, number);
    if (number < 0 || (n && n->state == NOTE_HANDED))
        return false;
    *root = root_of(l, number);
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
