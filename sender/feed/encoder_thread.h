// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the encoder of one size on a thread of its own: pictures in, coded frames out through
// `on_coded`. The thread scales the pictures to the size.
#ifndef WEIR_SENDER_FEED_ENCODER_THREAD_H
#define WEIR_SENDER_FEED_ENCODER_THREAD_H

#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"
#include "sender/feed/live_feed.h"

#ifdef __cplusplus
extern "C" {
#endif

struct encoder_thread;

// Called on the encoder's thread. Takes over `f`, which is NULL if the picture gave no frame.
// Returns false if the frame was dropped: the encoder must make later frames independent of it.
typedef bool coded_fn(void *ctx, struct coded_frame *f);

struct encoder_thread *encoder_thread_new(const struct ladder *ladder, int size_id,
                                          coded_fn *on_coded, void *ctx);
void encoder_thread_free(struct encoder_thread *t); // stops and joins; NULL is fine
const char *encoder_thread_sprop(const struct encoder_thread *t);
const char *encoder_thread_profile(const struct encoder_thread *t);
// Any thread. Takes a reference to `p`. `captured`: the capture time on the monotonic clock.
// Returns false if the encoder is busy and the picture is dropped.
bool encoder_thread_push(struct encoder_thread *t, struct picture *p, usec_t captured);
// Sets the number of current viewers; they share the budget of repair_budget.h. `silent`: those of
// them that do not report losses, which need a key frame from time to time.
void encoder_thread_set_viewers(struct encoder_thread *t, int viewers, int silent);
// A viewer starts or seeks: makes a key frame at or after number `from`; 0: at any number. Of
// several requests the highest number applies: it is close, and a viewer that seeks needs no
// earlier frame. `account`: identifies the viewer, below REPAIR_VIEWERS.
void encoder_thread_begin(struct encoder_thread *t, int account, int64_t from);
// A viewer lacks frames: makes a later frame a key frame.
void encoder_thread_request_key(struct encoder_thread *t, int account, usec_t now);
void encoder_thread_set_bitrate(struct encoder_thread *t, int bitrate_bps);
// A viewer lacks frame `number`: makes later frames independent of it.
void encoder_thread_repair(struct encoder_thread *t, int64_t number, int account);
void encoder_thread_stats(struct encoder_thread *t, struct live_feed_size_stats *out);

#ifdef __cplusplus
}
#endif
#endif
