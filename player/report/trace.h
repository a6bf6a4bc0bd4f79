// SPDX-License-Identifier: GPL-2.0-or-later
// The trace for machines: one JSON object a line, {"t": seconds since the session's start, "event":
// name, ...}. Lines stand in the order of time: what is told late has the time of the line before.
// NaN is written as null. A write error is logged once, ends the trace, never the playback;
// trace_free reports it. All functions accept e == NULL (no trace wanted) and do nothing. Not
// thread-safe.
#ifndef WEIR_PLAYER_REPORT_TRACE_H
#define WEIR_PLAYER_REPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/usec.h"
#include "common/transport/transport.h"
#include "stream/outcome/cause.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trace; // opaque

// `out` is borrowed until trace_free, and made line-buffered, or fully buffered when `adus` are
// told: hand it over before anything was written to it. `start`: the session's start. NULL: no
// memory.
struct trace *trace_new(FILE *out, bool adus, usec_t start);
// Flushes; does not close `out`. 0, or ERR_IO when any line could not be written.
int trace_free(struct trace *e);

// The viewer went to `seconds` of the media, and saw it so long after asking.
void trace_seek(struct trace *e, double seconds, usec_t wait, usec_t now);
// `why` this transport of several; empty: there was no choice.
void trace_connected(struct trace *e, const char *url, const char *transport, const char *why,
                     usec_t now); // texts may be NULL
// The server was lost: attempt number `tries` follows in `wait`.
void trace_reconnect(struct trace *e, const char *why, int tries, usec_t wait, usec_t now);
// `by`: "pair", "media"; NaN: it could not be measured. `span`: so much media was; 0: none.
void trace_capacity(struct trace *e, double bps, const char *by, usec_t span, usec_t now);
void trace_mode(struct trace *e, const char *mode, usec_t now); // "buffering" "streaming"
void trace_level(struct trace *e, const struct qoe_switch *s, usec_t now);

// Live media went on, and brought nothing while the connection was lost or the sender stood still.
void trace_missed(struct trace *e, uint64_t frames, usec_t now);
// No new picture came for that long; NULL: nothing to tell.
void trace_freeze(struct trace *e, const struct qoe_freeze_entry *f, usec_t now);

void trace_speed(struct trace *e, double speed, usec_t now); // of playing, against the sender's
void trace_skip(struct trace *e, usec_t media, usec_t now);  // so much was left out to catch up

struct event_stall {
    enum stall_cause cause; // as far as it is known now
    int64_t number;         // of the frame waited for; -1 = null
    usec_t silence;         // since the last packet; -1 = null
};
void trace_rebuffer_start(struct trace *e, const struct event_stall *s, usec_t at);
// `cause`: as it is known in the end.
void trace_rebuffer_end(struct trace *e, enum stall_cause cause, usec_t stalled, usec_t at);

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
void trace_frame(struct trace *e, const struct event_frame *f, usec_t now);
// The player left out `frames` frames that the level has, from number `from` to before `to`: one
// line for all of them.
void trace_skipped(struct trace *e, int64_t from, int64_t to, uint64_t frames, usec_t now);

// The source's frame `number` was compared with the picture that stood in its place: frame `shown`.
void trace_picture(struct trace *e, int64_t number, int64_t shown, double ssim, usec_t now);

// Packets found lost since the last line.
void trace_loss(struct trace *e, uint64_t packets, uint64_t loss_events, usec_t now);
// Once a second. What a buffer held back is in the file afterwards.
void trace_transport(struct trace *e, const struct qoe_transport *s, usec_t now);

// MTP went from one mode to another. `from`: NULL when it is the first mode that is known.
void trace_transport_mode(struct trace *e, const char *from, const char *to, const char *why,
                          usec_t now);
// Once a second, of transports under a rate controller: what it allows (`allowed`, bit/s), and its
// own figures by their names.
void trace_controller(struct trace *e, const struct transport_info *info, usec_t now);

struct event_adu {
    int64_t number;
    usec_t written; // by the sender, on our monotonic clock; QOE_UNKNOWN = null
    usec_t read;    // by us; likewise
};
// One line a received ADU, if they are to be told. Its times are the monotonic clock's own, so that
// traces of other programs on the machine can be laid beside them.
void trace_adu(struct trace *e, const struct event_adu *a, usec_t now);

void trace_ended(struct trace *e, enum qoe_ended ended, const char *error, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
