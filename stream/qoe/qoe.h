// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the quality of experience of a viewing from events. Report events as they happen, from
// one thread, in order of time; read the report at any time (qoe_figures.h defines each figure).
// Pure.
#ifndef WEIR_STREAM_QOE_QOE_H
#define WEIR_STREAM_QOE_QOE_H

#include "common/base/decls.h"
#include "stream/qoe/qoe_events.h"

DECLS_BEGIN

struct qoe; // opaque

// `url`: as the user gave it. `now`: start of the session; `started_wall`: the wall clock at `now`.
// NULL: no memory.
struct qoe *qoe_new(const char *url, usec_t started_wall, usec_t now);
void qoe_free(struct qoe *q); // NULL is fine

// The control connection is established.
void qoe_on_connected(struct qoe *q, usec_t now);

void qoe_on_setup(struct qoe *q, const struct qoe_setup *e, usec_t now);
// Media comes over another transport of the session from now on.
void qoe_on_moved(struct qoe *q, const char *transport, const char *why, usec_t now);

// Call it after a setup that follows a lost connection or an abandoned transport. The counters that
// events report (frames, packets, frames that the sender skipped) restart at 0 and are added to the
// previous ones.
void qoe_on_reconnect(struct qoe *q);

// Buffering has ended (PLAYOUT_START). The first call ends the initial buffering.
void qoe_on_start(struct qoe *q, usec_t now);

void qoe_on_packet(struct qoe *q, const struct qoe_packet *e, usec_t now);
// `now`: arrival of the frame's last packet.
void qoe_on_frame(struct qoe *q, const struct qoe_frame *e, usec_t now);
// A layer of a picture became whole; for each picture, how many of its layers are valid.
void qoe_on_layer(struct qoe *q, size_t bytes);
void qoe_on_layers(struct qoe *q, const struct qoe_picture_layers *e);
// Returns the freeze that this picture ends; NULL: none. It is valid until the next event.
const struct qoe_freeze_entry *qoe_on_shown(struct qoe *q, const struct qoe_shown *e, usec_t now);
// Frames are missing since the last picture; `why` is the cause of most of them.
void qoe_on_missing(struct qoe *q, enum freeze_cause why);

// The live media of one connection ends, or that of the next connection begins. The level's frames
// in between, without the viewer's pauses, count as missed (CAUSE_OUTAGE).
void qoe_on_live_end(struct qoe *q, const struct qoe_media_edge *e);
// Returns how many frames were missed.
uint64_t qoe_on_live_begin(struct qoe *q, const struct qoe_media_edge *e);

// A frame that was due, or that the player skipped, is not shown.
void qoe_on_not_shown(struct qoe *q, enum qoe_not_shown why);
// The sender reports that it has skipped `total` frames so far.
void qoe_on_sender_skipped(struct qoe *q, uint64_t total);
// Frame totals so far; each call replaces the previous totals.
void qoe_on_frames(struct qoe *q, const struct frame_totals *e);

// For PLAYOUT_STALL_BEGIN and PLAYOUT_STALL_END. The report uses the cause given at the end.
void qoe_on_stall_begin(struct qoe *q, enum stall_cause cause, usec_t at);
void qoe_on_stall_end(struct qoe *q, enum stall_cause cause, usec_t at);
// Playing continues at this speed; 1 before the first call.
void qoe_on_speed(struct qoe *q, double speed, usec_t now);
// Playout jumped to a later frame to reduce latency.
void qoe_on_skip(struct qoe *q);
void qoe_on_budget(struct qoe *q, const struct qoe_budget *e); // replaces the previous budget
void qoe_on_pause(struct qoe *q, bool paused, usec_t now);
// The viewer's action drops the buffered media, and buffering begins again: no freeze. Returns the
// freeze that ends here.
const struct qoe_freeze_entry *qoe_on_rebuffer(struct qoe *q, usec_t now);
// The viewer sought to frame `number`. Its first picture was shown `wait` after the request. The
// time between counts neither as a stall nor as a freeze. qoe_on_seek returns the freeze that ends
// here.
const struct qoe_freeze_entry *qoe_on_seek(struct qoe *q, int64_t number, usec_t now);
void qoe_on_seek_shown(struct qoe *q, usec_t wait);
// The same of another control of the viewer's; it counts when its first picture is shown.
const struct qoe_freeze_entry *qoe_on_control(struct qoe *q, int64_t number, usec_t now);
void qoe_on_control_shown(struct qoe *q, enum qoe_control control, usec_t wait);

// The viewer chose channel `number` (from 1). The time to its first picture, which came `wait`
// after the request, counts neither as a stall nor as a freeze if the caller reports it as a pause.
void qoe_on_channel(struct qoe *q, int number, const char *url, usec_t now);
// Another connection plays that channel: totals and frame numbers begin again, and what is missing
// between the two streams is not missed.
void qoe_on_channel_open(struct qoe *q);
void qoe_on_channel_shown(struct qoe *q, usec_t wait);
void qoe_on_channel_failed(struct qoe *q, const char *error);

void qoe_on_switch(struct qoe *q, const struct qoe_switch *e, usec_t now);

// A proxy on the way tells the mean times that frames took from the origin to it, and in it; NaN:
// not known. They are parts of what its stamps show as the time before the first write.
void qoe_on_relay(struct qoe *q, double backbone_ms, double proxy_ms);
void qoe_on_transport(struct qoe *q, const struct qoe_transport *e);
void qoe_on_capacity(struct qoe *q, double bps);
void qoe_on_decision(struct qoe *q, const struct qoe_decision *e); // its estimate is the capacity
void qoe_on_receiver(struct qoe *q, const struct qoe_receiver *e);
void qoe_on_repair(struct qoe *q, const struct qoe_repair *e);

// One picture was compared with its source.
void qoe_on_picture(struct qoe *q, double mse_y, double ssim_y);
// `total` shown pictures so far were not compared because the machine was too busy.
void qoe_on_pictures_skipped(struct qoe *q, uint64_t total);

void qoe_on_clock(struct qoe *q, const struct qoe_clock *e);
void qoe_on_cpu(struct qoe *q, const struct qoe_cpu *e);
void qoe_on_audio(struct qoe *q, const struct qoe_audio *e);

// Call it once, as the last event; later events are ignored and the report no longer changes.
// `error`: text or NULL; copied. Returns the freeze that ends with the session.
const struct qoe_freeze_entry *qoe_on_ended(struct qoe *q, enum qoe_ended ended, const char *error,
                                            usec_t now);

// Writes the report as of `now`; after the end, as of the end.
void qoe_read(struct qoe *q, struct qoe_json *out, usec_t now);

DECLS_END
#endif
