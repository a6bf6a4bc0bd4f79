// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/video/frame_reporter.h"

#include "common/base/seq.h"
#include "stream/outcome/stall_classifier.h"
#include "stream/playout/level_schedule.h"

void frame_reporter_init(struct frame_reporter *t, const struct frame_reporter_config *config)
{
    t->config = *config;
    t->passed = t->first = t->newest_number = -1;
    freeze_watch_init(&t->freezes, config->ladder, config->ledger, config->playout);
    for (int i = 0; i < FRAME_REPORTER_NOTES; i++)
        t->notes[i].number = -1;
}

static struct frame_note *note_of(struct frame_reporter *t, int64_t number)
{
    return &t->notes[(uint64_t)number % FRAME_REPORTER_NOTES];
}

int frame_reporter_level(const struct frame_reporter *t, const struct received_frame *f)
{
    bool believed = level_schedule_is_of(t->config.ladder, f->level, f->size_id, f->temporal_id);
    return believed ? f->level : playout_level_at(t->config.playout, f->number);
}

// Our wall clock at `when` as the sender's would show it; a latency is the difference to the
// sender's stamp.
static usec_t sender_wall(const struct frame_reporter *t, usec_t wall_ahead, usec_t when)
{
    return wall_ahead + when + t->config.clock->offset;
}

static usec_t latency_to(const struct frame_reporter *t, usec_t wall_ahead, usec_t when,
                         usec_t stamp)
{
    bool known = t->config.clock->known && stamp;
    return known ? sender_wall(t, wall_ahead, when) - stamp : QOE_UNKNOWN;
}

struct live_arrival frame_reporter_arrived(struct frame_reporter *t, const struct received_frame *f,
                                           usec_t wall_ahead, usec_t now)
{
    struct qoe_frame e = {.number = f->number,
                          .level = frame_reporter_level(t, f),
                          .bytes = f->bytes,
                          .latency = latency_to(t, wall_ahead, f->last_arrived, f->capture_wall),
                          .encoder = QOE_UNKNOWN,
                          .transport = QOE_UNKNOWN};
    usec_t arrived_wall = sender_wall(t, wall_ahead, f->last_arrived);
    usec_t written = seq32_extend(arrived_wall, f->first_written_us);
    if (f->capture_wall) // both stamps are the sender's: no clock needs to be known
        e.encoder = usec_max(0, written - f->capture_wall); // B frames: it may be ahead of its time
    if (t->config.clock->known)
        e.transport = arrived_wall - written;
    qoe_on_frame(t->config.qoe, &e, now);
    *note_of(t, f->number) = (struct frame_note){.number = f->number,
                                                 .bytes = (int64_t)f->bytes,
                                                 .arrived = f->last_arrived,
                                                 .encoder = e.encoder,
                                                 .transport = e.transport,
                                                 .level = e.level};
    return (struct live_arrival){.media = playout_pts(t->config.playout, f->number),
                                 .encoder = e.encoder,
                                 .transport = e.transport};
}

// Adds what is known of its arrival.
static void tell_fate(struct frame_reporter *t, struct event_frame e, usec_t now)
{
    const struct frame_note *n = note_of(t, e.number);
    bool noted = n->number == e.number;
    e.level = noted ? n->level : playout_level_at(t->config.playout, e.number);
    e.bytes = noted ? n->bytes : -1;
    e.arrived = noted ? n->arrived : QOE_UNKNOWN;
    trace_frame(t->config.events, &e, now);
}

static struct qoe_media_edge edge(const struct frame_reporter *t, const struct qoe_media_edge *of,
                                  int64_t number, int64_t to)
{
    usec_t media = playout_pts(t->config.playout, to) - playout_pts(t->config.playout, number);
    struct qoe_media_edge e = *of;
    e.shown += media;
    if (e.captured != QOE_UNKNOWN)
        e.captured += media;
    return e;
}

// Returns true if the sender's numbers went on after the last picture, but its clock and the
// viewer's show that it stood still. The sender's clock alone may have been set. The media's gap is
// longer than the viewer's by the latency that the viewer lost: at most what the last picture had
// waited here, and STALL_SILENCE for the changes in the sender and on the way.
static bool stood_still(const struct frame_reporter *t, const struct qoe_media_edge *end,
                        const struct qoe_media_edge *begin)
{
    if (t->newest_number < 0 || end->captured == QOE_UNKNOWN || begin->captured == QOE_UNKNOWN)
        return false;
    usec_t media = begin->captured - end->captured;
    usec_t gap = begin->shown - end->shown;
    return media > STALL_SILENCE && gap > STALL_SILENCE &&
           media <= gap + t->newest_waited + STALL_SILENCE;
}

static void note_live(struct frame_reporter *t, const struct play_frame *f)
{
    struct qoe_media_edge begin = {.captured = f->capture_wall ? f->capture_wall : QOE_UNKNOWN,
                                   .shown = f->shown_at,
                                   .level = f->level};
    if (t->first >= 0) {
        struct qoe_media_edge first = edge(t, &begin, f->number, t->first);
        trace_missed(t->config.events, qoe_on_live_begin(t->config.qoe, &first), f->shown_at);
        t->first = -1;
    } else {
        struct qoe_media_edge end = edge(t, &t->newest, t->newest_number, f->number);
        if (stood_still(t, &end, &begin)) {
            qoe_on_live_end(t->config.qoe, &end);
            trace_missed(t->config.events, qoe_on_live_begin(t->config.qoe, &begin), f->shown_at);
        }
    }
    t->newest = begin;
    t->newest_number = f->number;
    t->newest_waited = usec_max(0, f->shown_at - f->last_arrived);
}

void frame_reporter_stop(struct frame_reporter *t)
{
    enum freeze_cause why;
    if (freeze_watch_missing(&t->freezes, t->passed, &why))
        qoe_on_missing(t->config.qoe, why);
    if (!t->config.live || t->newest_number < 0 || t->passed < 0)
        return;
    struct qoe_media_edge end = edge(t, &t->newest, t->newest_number, t->passed);
    qoe_on_live_end(t->config.qoe, &end);
}

void frame_reporter_shown(struct frame_reporter *t, const struct play_frame *f, usec_t wall_ahead,
                          usec_t now)
{
    const struct frame_note *n = note_of(t, f->number);
    bool noted = n->number == f->number;
    struct qoe_shown e = {.number = f->number,
                          .level = f->level,
                          .bytes = f->bytes,
                          .latency = latency_to(t, wall_ahead, f->shown_at, f->capture_wall),
                          .buffer = f->handed_over - f->last_arrived,
                          .decoder = f->decode_time,
                          .display = f->shown_at - f->decoded_at,
                          .encoder = noted ? n->encoder : QOE_UNKNOWN,
                          .transport = noted ? n->transport : QOE_UNKNOWN};
    freeze_watch_shown(&t->freezes, &e);
    if (t->config.live)
        note_live(t, f);
    trace_freeze(t->config.events, qoe_on_shown(t->config.qoe, &e, f->shown_at), f->shown_at);
    frame_outcomes_shown(t->config.ledger, f->number);
    struct event_frame told = {.number = f->number,
                               .captured =
                                   e.latency == QOE_UNKNOWN ? QOE_UNKNOWN : f->shown_at - e.latency,
                               .shown = f->shown_at};
    tell_fate(t, told, now);
}

void frame_reporter_not_shown(struct frame_reporter *t, int64_t number, enum frame_end end,
                              usec_t now)
{
    struct not_shown why = frame_outcomes_ended(t->config.ledger, number, end);
    if (end == FRAME_END_LOST)
        qoe_on_lost(t->config.qoe);
    else if (end == FRAME_END_UNDECODABLE || end == FRAME_END_FAILED)
        qoe_on_undecodable(t->config.qoe);
    else
        qoe_on_late(t->config.qoe);
    tell_fate(t, (struct event_frame){.number = number, .dropped = &why}, now);
}

void frame_reporter_skipped(struct frame_reporter *t, int64_t number, usec_t now)
{
    struct not_shown why = {
        .number = number, .cause = CAUSE_SKIPPED, .root = CAUSE_SKIPPED, .needs = -1};
    frame_outcomes_skipped(t->config.ledger, 1);
    qoe_on_skipped(t->config.qoe);
    tell_fate(t, (struct event_frame){.number = number, .dropped = &why}, now);
}

void frame_reporter_action(struct frame_reporter *t, const struct playout_action *a, usec_t now)
{
    if (a->kind == PLAYOUT_START && t->passed >= 0 && a->number > t->passed) {
        uint64_t frames = playout_expected(t->config.playout, t->passed, a->number);
        frame_outcomes_skipped(t->config.ledger, frames);
        if (frames)
            trace_skipped(t->config.events, t->passed, a->number, frames, now);
    }
    if (a->kind == PLAYOUT_START && t->passed < 0)
        t->first = a->number;
    if (a->kind == PLAYOUT_START)
        t->passed = a->number;
    else if (t->passed >= 0 && (a->kind == PLAYOUT_DECODE_AND_SHOW || a->kind == PLAYOUT_LOST ||
                                a->kind == PLAYOUT_LATE || a->kind == PLAYOUT_SKIPPED))
        t->passed = a->number >= t->passed ? a->number + 1 : t->passed;
}

void frame_reporter_moved(struct frame_reporter *t)
{
    t->passed = -1;
    freeze_watch_moved(&t->freezes);
}
