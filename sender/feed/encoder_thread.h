// SPDX-License-Identifier: GPL-2.0-or-later
// One size's encoder on a thread of its own: pictures in (scaled to the size here), coded frames
// out through `on_coded`.
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

// On the encoder's thread. Takes over `f`, which is NULL when the picture gave no frame. False: the
// frame was left out, and the encoder has to make later ones independent of it.
typedef bool coded_fn(void *ctx, struct coded_frame *f);

struct encoder_thread *encoder_thread_new(const struct ladder *ladder, int size_id,
                                          coded_fn *on_coded, void *ctx);
void encoder_thread_free(struct encoder_thread *t); // stops and joins; NULL is fine
const char *encoder_thread_sprop(const struct encoder_thread *t);
const char *encoder_thread_profile(const struct encoder_thread *t);
// Any thread. `captured`: when, on the monotonic clock. Takes its own reference. False: busy, the
// picture was left out.
bool encoder_thread_push(struct encoder_thread *t, struct picture *p, usec_t captured);
// So many viewers watch now; several share what repair_budget.h allows.
void encoder_thread_set_viewers(struct encoder_thread *t, int viewers);
// A viewer begins, or goes to a place: a frame from number `from` on becomes a key frame; 0: any.
// Of several requests the highest number counts: it is near, and a viewer that goes to a place has
// no use for a frame before it. `account`: the viewer's, below REPAIR_VIEWERS.
void encoder_thread_begin(struct encoder_thread *t, int account, int64_t from);
// A viewer lacks frames: a later one becomes a key frame.
void encoder_thread_request_key(struct encoder_thread *t, int account, usec_t now);
void encoder_thread_set_bitrate(struct encoder_thread *t, int bitrate_bps);
// A viewer lacks frame `number`: a later one does not depend on it.
void encoder_thread_repair(struct encoder_thread *t, int64_t number, int account);
void encoder_thread_stats(struct encoder_thread *t, struct live_feed_size_stats *out);

#ifdef __cplusplus
}
#endif
#endif
