// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/outcome/stall_classifier.h"

#include "common/base/seq.h"

void stall_classifier_init(struct stall_classifier *w, usec_t interval)
{
    *w = (struct stall_classifier){.outage = usec_max(STALL_SILENCE, 3 * interval)};
}

void stall_classifier_forget(struct stall_classifier *w)
{
    w->started = false;
    w->was_silent = false;
    w->behind = w->waited = 0;
    w->made_late = w->is_slow = false;
}

// Returns true if the silence arose because nothing was sent.
static bool sender_was_silent(const struct stall_classifier *w, const struct rtp_packet *p,
                              int64_t ext_seq, usec_t silence)
{
    usec_t unwritten = (usec_t)(p->adu.written_us - w->last_written_us);
    return ext_seq == w->last_seq + 1 && unwritten >= silence / 4 * 3 && w->waited < silence / 4;
}

static void note_delay(struct stall_classifier *w, const struct rtp_packet *p, usec_t arrived)
{
    int32_t delay = (int32_t)((uint32_t)arrived - p->adu.written_us);
    if (!w->started || (int32_t)((uint32_t)delay - (uint32_t)w->least_delay_us) < 0)
        w->least_delay_us = delay;
    w->behind = (usec_t)((uint32_t)delay - (uint32_t)w->least_delay_us) + w->waited;
}

static void note_made(struct stall_classifier *w, const struct made_ext *m)
{
    usec_t made = m->ms * USEC_PER_MSEC;
    w->least_made = w->has_made ? usec_min(w->least_made, made) : made;
    w->has_made = true;
    w->is_slow = m->is_slow;
    w->made_late = m->is_slow || made - w->least_made >= STALL_BEHIND;
}

void stall_classifier_packet(struct stall_classifier *w, const struct rtp_packet *p,
                             int64_t ext_seq, usec_t arrived)
{
    if (p->has_made)
        note_made(w, &p->made);
    if (p->has_capture) {
        usec_t after = seq32_extend(p->capture_wall, p->adu.written_us) - p->capture_wall;
        w->waited = usec_max(0, after - (p->has_made ? p->made.ms * USEC_PER_MSEC : 0));
    }
    usec_t silence = w->started ? arrived - w->last_arrived : 0;
    if (silence > w->outage) {
        w->was_silent = true;
        w->silence_ended = arrived;
        w->silence_cause = sender_was_silent(w, p, ext_seq, silence) ? STALL_SENDER : STALL_OUTAGE;
    }
    note_delay(w, p, arrived);
    if (!w->started || ext_seq > w->last_seq) {
        w->last_seq = ext_seq;
        w->last_written_us = p->adu.written_us;
    }
    w->last_arrived = arrived;
    w->started = true;
    w->came = true;
    w->most_behind = usec_max(w->most_behind, w->behind);
}

usec_t stall_classifier_silence(const struct stall_classifier *w, usec_t now)
{
    return w->started ? usec_max(0, now - w->last_arrived) : -1;
}

void stall_classifier_late(struct stall_classifier *w, usec_t from, usec_t now)
{
    w->late_from = from;
    w->late_until = now;
    w->late += now - usec_max(from, w->stalled_at); // read only while the stall lasts
}

static enum stall_cause judge(const struct stall_classifier *w, enum packets_say say, usec_t now)
{
    if (w->late > 0 && w->late >= (now - w->stalled_at) / 2)
        return STALL_DISPLAY;
    if (stall_classifier_silence(w, now) > w->outage)
        return w->is_slow ? STALL_SENDER : STALL_OUTAGE;
    if (w->was_silent && now - w->silence_ended < STALL_MEMORY)
        return w->silence_cause;
    if (say == PACKETS_GAP)
        return STALL_NETWORK;
    bool in_time = w->most_behind < STALL_BEHIND && (w->came || w->made_late);
    return in_time ? STALL_SENDER : STALL_TRANSPORT;
}

enum stall_cause stall_classifier_begin(struct stall_classifier *w, enum packets_say say, usec_t at,
                                        usec_t now)
{
    w->stalled_at = at;
    w->late = usec_max(0, w->late_until - usec_max(at, w->late_from));
    w->came = false;
    w->most_behind = w->behind;
    w->cause = judge(w, say, now);
    return w->cause;
}

enum stall_cause stall_classifier_end(struct stall_classifier *w, enum packets_say say, usec_t now)
{
    if (w->came || w->late > 0 || stall_classifier_silence(w, now) > w->outage)
        w->cause = judge(w, say, now);
    return w->cause;
}
