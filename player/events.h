// SPDX-License-Identifier: GPL-2.0-or-later
// The trace for machines: one JSON object a line, {"t": seconds since the session's start, "event":
// name, ...}. Lines stand in the order of time: what is told late has the time of the line before.
// NaN is written as null. A write error is logged once, ends the trace, never the playback;
// events_free reports it. All functions accept e == NULL (no trace wanted) and do nothing. Not
// thread-safe.
#ifndef WEIR_PLAYER_EVENTS_H
#define WEIR_PLAYER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/usec.h"
#include "common/transport/transport.h"
#include "player/cause.h"
#include "player/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct events; // opaque

// `out` is borrowed until events_free, and made line-buffered, or fully buffered when `adus` are
// told: hand it over before anything was written to it. `start`: the session's start. NULL: no
// memory.
struct events *events_new(FILE *out, bool adus, usec_t start);
// Flushes; does not close `out`. 0, or ERR_IO when any line could not be written.
int events_free(struct events *e);

// The viewer went to `seconds` of the media, and saw it so long after asking.
void events_seek(struct events *e, double seconds, usec_t wait, usec_t now);
// `why` this transport of several; empty: there was no choice.
void events_connected(struct events *e, const char *url, const char *transport, const char *why,
                      usec_t now); // texts may be NULL
// The server was lost: attempt number `tries` follows in `wait`.
void events_reconnect(struct events *e, const char *why, int tries, usec_t wait, usec_t now);
// `by`: "pair", "media"; NaN: it could not be measured. `span`: so much media was; 0: none.
void events_capacity(struct events *e, double bps, const char *by, usec_t span, usec_t now);
void events_mode(struct events *e, const char *mode, usec_t now); // "buffering" "streaming"
void events_level(struct events *e, const struct qoe_switch *s, usec_t now);

// Live media went on, and brought nothing while the connection was lost or the sender stood still.
void events_missed(struct events *e, uint64_t frames, usec_t now);
// No new picture came for that long; NULL: nothing to tell.
void events_freeze(struct events *e, const struct qoe_freeze_entry *f, usec_t now);

void events_speed(struct events *e, double speed, usec_t now); // of playing, against the sender's
void events_skip(struct events *e, usec_t media, usec_t now);  // so much was left out to catch up

struct event_stall {
    enum stall_cause cause; // as far as it is known now
    int64_t number;         // of the frame waited for; -1 = null
    usec_t silence;         // since the last packet; -1 = null
};
void events_rebuffer_start(struct events *e, const struct event_stall *s, usec_t at);
// `cause`: as it is known in the end.
void events_rebuffer_end(struct events *e, enum stall_cause cause, usec_t stalled, usec_t at);

struct event_frame {
    int64_t number;
    int level;       // -1 = null
    int64_t bytes;   // -1 = null
    usec_t arrived;  // player's clock, written as seconds since start; QOE_UNKNOWN = null
    usec_t captured; // likewise
    usec_t shown;    // likewise
    const struct not_shown *dropped; // NULL: it was shown
};
// One line a frame, when its fate is known.
void events_frame(struct events *e, const struct event_frame *f, usec_t now);
// The player left out `frames` frames that the level has, from number `from` to before `to`: one
// line for all of them.
void events_skipped(struct events *e, int64_t from, int64_t to, uint64_t frames, usec_t now);

// The source's frame `number` was compared with the picture that stood in its place: frame `shown`.
void events_picture(struct events *e, int64_t number, int64_t shown, double ssim, usec_t now);

// Packets found lost since the last line.
void events_loss(struct events *e, uint64_t packets, uint64_t loss_events, usec_t now);
// Once a second. What a buffer held back is in the file afterwards.
void events_transport(struct events *e, const struct qoe_transport *s, usec_t now);

// MTP went from one mode to another. `from`: NULL when it is the first mode that is known.
void events_transport_mode(struct events *e, const char *from, const char *to, const char *why,
                           usec_t now);
// Once a second, of transports under a rate controller: what it allows (`allowed`, bit/s), and its
// own figures by their names.
void events_controller(struct events *e, const struct transport_info *info, usec_t now);

struct event_adu {
    int64_t number;
    usec_t written; // by the sender, on our monotonic clock; QOE_UNKNOWN = null
    usec_t read;    // by us; likewise
};
// One line a received ADU, if they are to be told. Its times are the monotonic clock's own, so that
// traces of other programs on the machine can be laid beside them.
void events_adu(struct events *e, const struct event_adu *a, usec_t now);

void events_ended(struct events *e, enum qoe_ended ended, const char *error, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
