// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/frame_packets.h"

#include "common/base/seq.h"

void frame_packets_init(struct frame_packets *p)
{
    p->newest = -1;
    for (int i = 0; i < FRAME_PACKETS_WINDOW; i++)
        p->spans[i].number = -1;
}

static const struct frame_span *span_of(const struct frame_packets *p, int64_t number)
{
    const struct frame_span *s = &p->spans[(uint64_t)number % FRAME_PACKETS_WINDOW];
    return s->number == number ? s : NULL;
}

void frame_packets_add(struct frame_packets *p, const struct adu_ext *adu, int64_t ext_seq)
{
    int64_t number = p->newest < 0 ? adu->frame : seq32_extend(p->newest, adu->frame);
    if (number < 0)
        return;
    // Packets are never so late: numbers that far back are those of a source that began anew.
    if (number > p->newest || number <= p->newest - FRAME_PACKETS_WINDOW)
        p->newest = number;
    struct frame_span *s = &p->spans[(uint64_t)number % FRAME_PACKETS_WINDOW];
    if (s->number != number)
        *s = (struct frame_span){.number = number, .first_seq = ext_seq, .last_seq = ext_seq};
    s->packets++;
    if (ext_seq < s->first_seq)
        s->first_seq = ext_seq;
    if (ext_seq > s->last_seq)
        s->last_seq = ext_seq;
    s->begun |= adu->first;
    s->ended |= adu->last;
}

// The nearest frame in a direction of which something came.
static const struct frame_span *neighbour(const struct frame_packets *p, int64_t number, int step)
{
    int64_t oldest = p->newest - FRAME_PACKETS_WINDOW + 1;
    for (int64_t n = number + step; n >= 0 && n >= oldest && n <= p->newest; n += step) {
        const struct frame_span *s = span_of(p, n);
        if (s)
            return s;
    }
    return NULL;
}

// Packets missing between two frames that are not one's end or the other's beginning.
static int64_t hole_between(const struct frame_span *before, const struct frame_span *after)
{
    return after->first_seq - before->last_seq - 1 - !before->ended - !after->begun;
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
        return PACKETS_UNSENT; // what stands before it has another frame's number
    if (!after)
        return PACKETS_AHEAD;
    return after->first_seq > s->last_seq + 1 ? PACKETS_GAP : PACKETS_UNSENT;
}

enum packets_say frame_packets_of(const struct frame_packets *p, int64_t number)
{
    if (number < 0 || number <= p->newest - FRAME_PACKETS_WINDOW)
        return PACKETS_UNKNOWN;
    if (number > p->newest)
        return PACKETS_AHEAD;
    const struct frame_span *s = span_of(p, number);
    const struct frame_span *before = neighbour(p, number, -1);
    const struct frame_span *after = neighbour(p, number, 1);
    if (s)
        return partly_there(s, before, after);
    if (!before || !after)
        return PACKETS_UNKNOWN;
    return hole_between(before, after) > 0 ? PACKETS_GAP : PACKETS_UNSENT;
}
