// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/loss_attribution.h"

#include "common/base/seq.h"

void loss_attribution_init(struct loss_attribution *p, struct frame_history *history)
{
    *p = (struct loss_attribution){.history = history, .newest = -1};
}

// Returns NULL if no packet of the frame arrived.
static const struct frame_span *span_of(const struct loss_attribution *p, int64_t number)
{
    const struct frame_record *r = frame_history_find(p->history, number);
    return r && r->span.packets > 0 ? &r->span : NULL;
}

void loss_attribution_add(struct loss_attribution *p, const struct adu_ext *adu, int64_t ext_seq)
{
    int64_t number = p->newest < 0 ? adu->frame : seq32_extend(p->newest, adu->frame);
    if (number < 0)
        return;
    // Packets are never that late: a number so far back shows that the source restarted.
    if (number > p->newest || number <= p->newest - LOSS_ATTRIBUTION_WINDOW)
        p->newest = number;
    int apart = adu->reorder < 0 ? -adu->reorder : adu->reorder;
    bool believed = apart <= LOSS_ATTRIBUTION_REACH; // a larger distance would make the search for
                                                     // neighbours long
    if (believed && apart > p->reach)
        p->reach = apart;
    struct frame_span *s = &frame_history_make(p->history, number)->span;
    if (s->packets == 0)
        *s = (struct frame_span){.slot = number + (believed ? adu->reorder : 0),
                                 .first_seq = ext_seq,
                                 .last_seq = ext_seq};
    s->packets++;
    if (ext_seq < s->first_seq)
        s->first_seq = ext_seq;
    if (ext_seq >= s->last_seq) {
        s->last_seq = ext_seq;
        s->ended = adu->last; // a layer ends: another of the picture may follow
    }
    s->begun |= adu->first && !adu->on_lower;
}

// Returns the nearest received frame before (`step` -1) or after (`step` 1) a slot.
static const struct frame_span *neighbour(const struct loss_attribution *p, int64_t slot, int step)
{
    int64_t oldest = p->newest - LOSS_ATTRIBUTION_WINDOW + 1;
    int64_t left = step < 0 ? slot + p->reach - oldest : p->newest - slot + p->reach;
    const struct frame_span *nearest = NULL;
    for (int64_t n = slot - step * p->reach; left >= 0; n += step, left--) {
        if (nearest && step * (n - nearest->slot) > p->reach)
            break;
        const struct frame_span *s = n >= 0 ? span_of(p, n) : NULL;
        if (s && step * (s->slot - slot) > 0 && (!nearest || step * (s->slot - nearest->slot) < 0))
            nearest = s;
    }
    return nearest;
}

// Returns the packets missing between two frames, without the end of the first and the begin of the
// second.
static int64_t hole_between(const struct loss_attribution *p, const struct frame_span *before,
                            const struct frame_span *after)
{
    int64_t hole = after->first_seq - before->last_seq - 1 - !before->ended - !after->begun;
    for (int64_t n = before->slot - p->reach; n <= after->slot + p->reach; n++) {
        const struct frame_span *s = span_of(p, n);
        if (s && s->slot > before->slot && s->slot < after->slot)
            hole -= s->packets;
    }
    return hole;
}

static enum packets_say partly_there(const struct frame_span *s, const struct frame_span *before,
                                     const struct frame_span *after)
{
    if (s->packets < s->last_seq - s->first_seq + 1)
        return PACKETS_GAP;
    if (!s->begun && (!before || s->first_seq > before->last_seq + 1))
        return PACKETS_GAP;
    if (s->begun && s->ended)
        return PACKETS_WHOLE;
    if (s->ended)
        return PACKETS_UNSENT; // the packet before it belongs to another frame
    if (!after)
        return PACKETS_AHEAD;
    return after->first_seq > s->last_seq + 1 ? PACKETS_GAP : PACKETS_UNSENT;
}

enum packets_say loss_attribution_of(const struct loss_attribution *p, int64_t number)
{
    if (number < 0 || number <= p->newest - LOSS_ATTRIBUTION_WINDOW)
        return PACKETS_UNKNOWN;
    if (number > p->newest)
        return PACKETS_AHEAD;
    const struct frame_span *s = span_of(p, number);
    if (s)
        return partly_there(s, neighbour(p, s->slot, -1), neighbour(p, s->slot, 1));
    const struct frame_span *before = neighbour(p, number - p->reach, -1);
    const struct frame_span *after = neighbour(p, number + p->reach, 1);
    if (before && !after)
        return PACKETS_AHEAD;
    if (!before)
        return PACKETS_UNKNOWN;
    return hole_between(p, before, after) > 0 ? PACKETS_GAP : PACKETS_UNSENT;
}
