// SPDX-License-Identifier: GPL-2.0-or-later
// The quality of experience of a viewing, computed from events. Feed events as they happen, from
// one thread, in the order of time; read the report at any time (qoe_figures.h says what each
// figure is). Pure.
#ifndef WEIR_STREAM_QOE_QOE_H
#define WEIR_STREAM_QOE_QOE_H

#include "stream/qoe/qoe_events.h"

#ifdef __cplusplus
extern "C" {
#endif

struct qoe; // opaque

// `url`: as the user gave it; `started_wall`: wall clock at `now`, the start of the session. NULL:
// no memory.
struct qoe *qoe_new(const char *url, usec_t started_wall, usec_t now);
void qoe_free(struct qoe *q); // NULL is fine

// The control connection is established.
void qoe_on_connected(struct qoe *q, usec_t now);

void qoe_on_setup(struct qoe *q, const struct qoe_setup *e, usec_t now);

// Call after a setup that follows a lost connection or an abandoned transport: counts since the
// start (frames, packets, frames left out by the sender) begin at 0 again, and are added to the
// previous ones.
void qoe_on_reconnect(struct qoe *q);

// Buffering is over (PLAYOUT_START). The first call counts as the end of initial buffering.
void qoe_on_start(struct qoe *q, usec_t now);

void qoe_on_packet(struct qoe *q, const struct qoe_packet *e, usec_t now);
// `now`: when the frame's last packet arrived.
void qoe_on_frame(struct qoe *q, const struct qoe_frame *e, usec_t now);
// Returns the freeze that this picture ends; NULL: none. It lives until the next event.
const struct qoe_freeze_entry *qoe_on_shown(struct qoe *q, const struct qoe_shown *e, usec_t now);
// Since the last picture frames are missing, most of them for this reason.
void qoe_on_missing(struct qoe *q, enum freeze_cause why);

// The connection's live media ends, or that of another one begins. The frames that the level
// would have brought in between, the viewer's pauses apart, were missed (CAUSE_OUTAGE).
void qoe_on_live_end(struct qoe *q, const struct qoe_media_edge *e);
// Returns how many were missed.
uint64_t qoe_on_live_begin(struct qoe *q, const struct qoe_media_edge *e);

// A frame that was due, or that the player left out, is not shown.
void qoe_on_not_shown(struct qoe *q, enum qoe_not_shown why);
// The sender reports so many frames as left out, so far.
void qoe_on_sender_skipped(struct qoe *q, uint64_t total);
// The account of frames so far; each replaces the last.
void qoe_on_frames(struct qoe *q, const struct frame_totals *e);

// Of PLAYOUT_STALL_BEGIN and _END. The end's cause is the one that counts.
void qoe_on_stall_begin(struct qoe *q, enum stall_cause cause, usec_t at);
void qoe_on_stall_end(struct qoe *q, enum stall_cause cause, usec_t at);
// Playing continues at this speed; 1 before the first call.
void qoe_on_speed(struct qoe *q, double speed, usec_t now);
void qoe_on_skip(struct qoe *q);                               // to a later frame, to catch up
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

void qoe_on_switch(struct qoe *q, const struct qoe_switch *e, usec_t now);

void qoe_on_transport(struct qoe *q, const struct qoe_transport *e);
void qoe_on_capacity(struct qoe *q, double bps);
void qoe_on_receiver(struct qoe *q, const struct qoe_receiver *e);

// One picture was compared with its source.
void qoe_on_picture(struct qoe *q, double mse_y, double ssim_y);
// So many shown pictures were to be compared, and were not: too busy.
void qoe_on_pictures_skipped(struct qoe *q, uint64_t total);

void qoe_on_clock(struct qoe *q, const struct qoe_clock *e);
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
