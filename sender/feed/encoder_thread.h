// SPDX-License-Identifier: GPL-2.0-or-later
// Runs an encoder, of one size or of all sizes (video_encoder.h), on a thread of its own: pictures
// in, coded frames out through `on_coded`. The thread scales the pictures to the encoder's size.
//
// Each size has a repair budget (repair_budget.h); its key frames are the frames that start the
// size anew.
#ifndef WEIR_SENDER_FEED_ENCODER_THREAD_H
#define WEIR_SENDER_FEED_ENCODER_THREAD_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/encode/video_encoder.h"
#include "sender/feed/live_feed.h"

DECLS_BEGIN

struct encoder_thread;

// Called on the encoder's thread.
struct encoder_thread_events {
    // Takes over `f`. Returns false if the frame was dropped: the encoder must make later frames
    // independent of it.
    bool (*on_coded)(void *ctx, struct coded_frame *f);
    void (*on_done)(void *ctx); // after the frames of each picture, even if there are none
};

// Takes over `encoder`, even on failure. `events` is static. Returns NULL on failure.
struct encoder_thread *encoder_thread_new(struct video_encoder *encoder,
                                          const struct encoder_thread_events *events, void *ctx);
void encoder_thread_free(struct encoder_thread *t); // stops and joins; NULL is fine
// Return empty strings if the codec has no parameter sets.
const char *encoder_thread_sprop(const struct encoder_thread *t);
const char *encoder_thread_profile(const struct encoder_thread *t);
// Any thread. Takes a reference to `p`. `captured`: the capture time on the monotonic clock.
// Returns false if the encoder is busy and the picture is dropped.
bool encoder_thread_push(struct encoder_thread *t, struct picture *p, usec_t captured);
// Sets the number of current viewers; they share the budget of repair_budget.h. `silent`: those of
// them that do not report losses, which need a key frame from time to time.
void encoder_thread_set_viewers(struct encoder_thread *t, int viewers, int silent);
// A viewer starts with the size, or seeks: starts the size anew at or after number `from`; 0: at
// any number. Of several requests the highest number applies: it is close, and a viewer that seeks
// needs no earlier frame. `account`: identifies the viewer, below REPAIR_VIEWERS.
void encoder_thread_begin(struct encoder_thread *t, int size_id, int account, int64_t from);
// A viewer lacks frames of the size: starts it anew.
void encoder_thread_request_key(struct encoder_thread *t, int size_id, int account, usec_t now);
void encoder_thread_set_bitrate(struct encoder_thread *t, int size_id, int bitrate_bps);
// A viewer lacks frame `number` of the size: makes later frames independent of it.
void encoder_thread_repair(struct encoder_thread *t, int size_id, int64_t number, int account);
void encoder_thread_stats(struct encoder_thread *t, int size_id, struct live_feed_size_stats *out);

DECLS_END
#endif
