// SPDX-License-Identifier: GPL-2.0-or-later
// The trace for machines: one JSON object a line, {"t": seconds since the session's start, "event":
// name, ...}. Lines are in the order of time: an event reported late gets the time of the preceding
// line. NaN is written as null. A write error is logged once and ends the trace, but not the
// playback; trace_free reports it. All functions do nothing if e == NULL (no trace). Not
// thread-safe.
#ifndef WEIR_PLAYER_REPORT_TRACE_H
#define WEIR_PLAYER_REPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/transport/transport.h"
#include "stream/outcome/cause.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct trace; // opaque

// `out` is borrowed until trace_free. trace_new sets its buffering, by line, or full if `adus` (a
// line for each ADU), so nothing may have been written to it before. `start` is the session's
// start. NULL: no memory.
struct trace *trace_new(FILE *out, bool adus, usec_t start);
// Flushes `out`, but does not close it. 0, or ERR_IO if any line could not be written.
int trace_free(struct trace *e);

// A seek to `seconds` of the media is complete: its first picture was shown `wait` after the
// request.
void trace_seek(struct trace *e, double seconds, usec_t wait, usec_t now);
// The viewer requests something: "seek", "pause", "resume", "play" (after a stop), "channel",
// "stop", "scale", "level" or "transport".
void trace_control(struct trace *e, const char *action, usec_t now);
// The viewer chose channel `number`.
void trace_channel(struct trace *e, int number, const char *url, usec_t now);
// When a channel reached each step on the way to its first picture; 0: it is not known.
struct trace_steps {
    usec_t asked;     // the viewer chose it
    usec_t requested; // its requests left
    usec_t described; // the response to DESCRIBE arrived
    usec_t played;    // the response to PLAY
    usec_t packet;    // its first media packet
    usec_t complete;  // the last packet of the first picture shown
    usec_t decoded;
    usec_t shown;
};
// The channel's first picture was shown; or it could not be opened.
void trace_channel_shown(struct trace *e, int number, const struct trace_steps *steps, usec_t now);
void trace_channel_failed(struct trace *e, int number, const char *error, usec_t now);
// The first picture after a pause was shown `wait` after the request.
void trace_resume(struct trace *e, usec_t wait, usec_t now);
// The same of a change of the scale at `seconds`.
void trace_scale(struct trace *e, double scale, double seconds, usec_t wait, usec_t now);
// `why`: reason for this transport of several; empty: there was no choice.
void trace_connected(struct trace *e, const char *url, const char *transport, const char *why,
                     usec_t now); // texts may be NULL
// Media comes over another transport of the session.
void trace_moved(struct trace *e, const char *transport, const char *why, usec_t now);
// The server was lost; attempt number `tries` to reconnect follows after `wait`.
void trace_reconnect(struct trace *e, const char *why, int tries, usec_t wait, usec_t now);
// The path's capacity, measured `by` "pair" or "media"; NaN: it could not be measured. `span`:
// duration of media that was measured; 0: none.
void trace_capacity(struct trace *e, double bps, const char *by, usec_t span, usec_t now);
// The policy of a film's levels decided about another group, or otherwise.
void trace_decision(struct trace *e, const struct qoe_decision *d, usec_t now);
void trace_mode(struct trace *e, const char *mode, usec_t now); // "buffering" "streaming"
void trace_level(struct trace *e, const struct qoe_switch *s, usec_t now);

// `frames` of live media were missed while the connection was lost or the sender stalled.
void trace_missed(struct trace *e, uint64_t frames, usec_t now);
// A freeze is over: no new picture was shown for its duration. NULL: writes nothing.
void trace_freeze(struct trace *e, const struct qoe_freeze_entry *f, usec_t now);

void trace_speed(struct trace *e, double speed, usec_t now); // of playing, relative to the sender's
// The latency that live media aims at, and what the buffer adds.
void trace_budget(struct trace *e, const struct qoe_budget *b, usec_t now);
void trace_skip(struct trace *e, usec_t media, usec_t now); // `media` was skipped to catch up

struct event_stall {
    enum stall_cause cause; // as known when the stall begins
    int64_t number;         // of the frame that is due; -1 = null
    usec_t silence;         // since the last packet; -1 = null
};
void trace_rebuffer_start(struct trace *e, const struct event_stall *s, usec_t at);
// `cause`: as known when the stall ends.
void trace_rebuffer_end(struct trace *e, enum stall_cause cause, usec_t stalled, usec_t at);

struct event_frame {
    int64_t number;
    int level;       // -1 = null
    int64_t bytes;   // -1 = null
    usec_t arrived;  // player's clock, written as seconds since start; QOE_UNKNOWN = null
    usec_t captured; // as `arrived`
    usec_t shown;    // as `arrived`
    const struct not_shown *dropped; // NULL: it was shown
};
// Writes one line for each frame, when its outcome is known.
void trace_frame(struct trace *e, const struct event_frame *f, usec_t now);
// The player skipped `frames` frames of the level, numbered from `from` to `to` - 1. Writes one
// line for all of them.
void trace_skipped(struct trace *e, int64_t from, int64_t to, uint64_t frames, usec_t now);

// Frame `number`, of a stream whose sizes are layers of one picture, left playout with so many
// valid layers.
void trace_layers(struct trace *e, int64_t number, int valid, usec_t now);

// The source's frame `number` was compared with frame `shown`, which was on the screen at its time.
void trace_picture(struct trace *e, int64_t number, int64_t shown, double ssim, usec_t now);

// Packets found lost since the last line.
void trace_loss(struct trace *e, uint64_t packets, uint64_t loss_events, usec_t now);
// Call once a second. Also flushes the buffered lines to the file.
void trace_transport(struct trace *e, const struct qoe_transport *s, usec_t now);

// MTP changed its mode. `from` is NULL for the first mode known.
void trace_transport_mode(struct trace *e, const char *from, const char *to, const char *why,
                          usec_t now);
// Call once a second for a transport with a rate controller. Writes the rate that it allows
// (`allowed`, bit/s) and its own stats by their names.
void trace_controller(struct trace *e, const struct transport_info *info, usec_t now);

struct event_adu {
    int64_t number;
    int size_id;     // of layered media, the layer
    usec_t captured; // on our monotonic clock; QOE_UNKNOWN = null
    usec_t written;  // by the sender, on our monotonic clock; QOE_UNKNOWN = null
    usec_t read;     // by the player, on the monotonic clock; QOE_UNKNOWN = null
};
// Writes one line for each received ADU, if trace_new was called with `adus`. Its times are those
// of the monotonic clock, so that they compare with traces of other programs on the same machine.
void trace_adu(struct trace *e, const struct event_adu *a, usec_t now);

void trace_ended(struct trace *e, enum qoe_ended ended, const char *error, usec_t now);

DECLS_END
#endif
