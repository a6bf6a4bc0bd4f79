// SPDX-License-Identifier: GPL-2.0-or-later
// The quality of experience of a viewing, computed from events. Feed events as they happen, from
// one thread, in the order of time; read the report at any time (qoe_figures.h says what each
// figure is). Pure.
#ifndef WEIR_STREAM_QOE_QOE_H
#define WEIR_STREAM_QOE_QOE_H

#include <stddef.h>

#include "stream/qoe/qoe_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QOE_UNKNOWN INT64_MIN // a duration that could not be measured

struct qoe; // opaque

// `url`: as the user gave it; `started_wall`: wall clock at `now`, the start of the session. NULL:
// no memory.
struct qoe *qoe_new(const char *url, usec_t started_wall, usec_t now);
void qoe_free(struct qoe *q); // NULL is fine

// The control connection is established.
void qoe_on_connected(struct qoe *q, usec_t now);

struct qoe_setup {
    const char *transport;       // as negotiated, "minbuf:1,3"; copied
    const char *why;             // it was taken, of several; empty: there was no choice; copied
    const char *source;          // "test 1280x720@30"; copied
    const struct ladder *ladder; // copied
    bool frames;                 // false: packets alone; playback figures stay unmeasured
};
void qoe_on_setup(struct qoe *q, const struct qoe_setup *e, usec_t now);

// Call after a setup that follows a lost connection or an abandoned transport: counts since the
// start (frames, packets, frames left out by the sender) begin at 0 again, and are added to the
// previous ones.
void qoe_on_reconnect(struct qoe *q);

// Buffering is over (PLAYOUT_START). The first call counts as the end of initial buffering.
void qoe_on_start(struct qoe *q, usec_t now);

struct qoe_packet { // an RTP packet arrived
    size_t bytes;   // RTP header included
    usec_t latency; // protocol latency: the sender's write to our read; QOE_UNKNOWN
};
void qoe_on_packet(struct qoe *q, const struct qoe_packet *e, usec_t now);

struct qoe_frame { // a frame became whole
    int64_t number;
    int level; // playout_level_at; -1 unknown
    size_t bytes;
    usec_t latency;   // capture (or media write) to its last packet's arrival; QOE_UNKNOWN, as are
                      // the parts:
    usec_t encoder;   // capture to its first packet's write
    usec_t transport; // first write to last arrival
};
void qoe_on_frame(struct qoe *q, const struct qoe_frame *e,
                  usec_t now); // now = when the last packet arrived

struct qoe_shown { // a picture went on the screen
    int64_t number;
    int level;      // -1 unknown
    size_t bytes;   // of its frame
    usec_t latency; // capture to now; QOE_UNKNOWN, as are the parts:
    usec_t buffer;  // last arrival to hand-over for decoding
    usec_t decoder; // decoding took
    usec_t display; // decoded to shown
    usec_t encoder; // these two as they were when it came (qoe_frame)
    usec_t transport;
    usec_t interval;       // of the media, where it is longer than the level's
    bool gap_known;        // frames between the last picture and this one were not shown
    enum freeze_cause gap; // why most of them were not
};
// Returns the freeze that this picture ends; NULL: none. It lives until the next event.
const struct qoe_freeze_entry *qoe_on_shown(struct qoe *q, const struct qoe_shown *e, usec_t now);
// Since the last picture frames are missing, most of them for this reason.
void qoe_on_missing(struct qoe *q, enum freeze_cause why);

// An edge of the live media of one connection: the first frame that is accounted for, or the one
// after the last.
struct qoe_media_edge {
    usec_t captured; // by the sender's wall clock; QOE_UNKNOWN
    usec_t shown;    // when it was shown, or would have been
    int level;
};
// The connection's live media ends, or that of another one begins. The frames that the level
// would have brought in between, the viewer's pauses apart, were missed (CAUSE_OUTAGE).
void qoe_on_live_end(struct qoe *q, const struct qoe_media_edge *e);
// Returns how many were missed.
uint64_t qoe_on_live_begin(struct qoe *q, const struct qoe_media_edge *e);

// Frames that were not shown.
void qoe_on_lost(struct qoe *q);
void qoe_on_late(struct qoe *q);
void qoe_on_skipped(struct qoe *q);     // whole, and left out to catch up
void qoe_on_undecodable(struct qoe *q); // whole and in time, but the frame it depends on was not
void qoe_on_sender_skipped(struct qoe *q,
                           uint64_t total); // frames that the sender reports as left out, so far

// The account of frames so far; each replaces the last.
void qoe_on_frames(struct qoe *q, const struct frame_totals *e);

// Of PLAYOUT_STALL_BEGIN and _END. The end's cause is the one that counts.
void qoe_on_stall_begin(struct qoe *q, enum stall_cause cause, usec_t at);
void qoe_on_stall_end(struct qoe *q, enum stall_cause cause, usec_t at);
// Playing continues at this speed; 1 before the first call.
void qoe_on_speed(struct qoe *q, double speed, usec_t now);
void qoe_on_skip(struct qoe *q); // to a later frame, to catch up
struct qoe_budget {
    usec_t target; // capture to shown
    usec_t sender; // the age at which a frame may leave there
    usec_t buffer; // that the playout buffer adds to the best arrival
};
void qoe_on_budget(struct qoe *q, const struct qoe_budget *e); // each replaces the last
void qoe_on_pause(struct qoe *q, bool paused, usec_t now);
// The viewer's action drops the buffered media, and buffering begins again: no freeze. Returns the
// freeze that ends here.
const struct qoe_freeze_entry *qoe_on_rebuffer(struct qoe *q, usec_t now);
// The viewer went to another place of the media, to frame `number`; and so long after asking, a
// picture of it stood on the screen. The time between is no stall, nor a freeze. Returns the freeze
// that ends here.
const struct qoe_freeze_entry *qoe_on_seek(struct qoe *q, int64_t number, usec_t now);
void qoe_on_seek_shown(struct qoe *q, usec_t wait);

struct qoe_switch {
    int from; // -1: the first
    int to;
    const char *why; // "user", "network", or of goddard_reason_name: "capacity" "no-capacity"
                     // "loss" "rebuffer" "upscale" "probe"; static
};
void qoe_on_switch(struct qoe *q, const struct qoe_switch *e, usec_t now);

struct qoe_transport { // once a second; NaN = unknown
    double rtt;        // seconds
    double rate;       // bit/s arriving, or allowed
    double loss;       // fraction of packets over the last second
    double queue;      // seconds: one-way delay above the least seen
    double cwnd;       // packets
};
void qoe_on_transport(struct qoe *q, const struct qoe_transport *e);
void qoe_on_capacity(struct qoe *q, double bps);

struct qoe_receiver { // counts since the start; each snapshot replaces the last
    uint64_t expected;
    uint64_t lost;
    uint64_t reordered;
    uint64_t loss_events;
    int64_t ecn_marked; // -1: not known on this transport
};
void qoe_on_receiver(struct qoe *q, const struct qoe_receiver *e);

void qoe_on_picture(struct qoe *q, double mse_y,
                    double ssim_y); // one picture compared with its source
// So many shown pictures were to be compared, and were not: too busy.
void qoe_on_pictures_skipped(struct qoe *q, uint64_t total);

struct qoe_clock {
    bool shared;         // one machine's clock at both ends
    usec_t offset_error; // otherwise: bound of the estimate's error
};
void qoe_on_clock(struct qoe *q, const struct qoe_clock *e);

struct qoe_cpu {
    double user;    // seconds
    double system;  // seconds
    double max_rss; // bytes
};
void qoe_on_cpu(struct qoe *q, const struct qoe_cpu *e);

void qoe_on_audio(struct qoe *q, const struct qoe_audio *e);

// Once, last. `error`: text or NULL; copied. Later events are ignored; the report does not change
// any more. Returns the freeze that ends with it.
const struct qoe_freeze_entry *qoe_on_ended(struct qoe *q, enum qoe_ended ended, const char *error,
                                            usec_t now);

// The report as of `now` (of the end, once ended).
void qoe_read(struct qoe *q, struct qoe_json *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
