// SPDX-License-Identifier: GPL-2.0-or-later
// Connects the loop's thread with a live feed's source thread. The loop's thread sets viewers,
// seeks and speed; the source thread waits for them and reports its progress. Each function locks.
#ifndef WEIR_SENDER_FEED_LIVE_CONTROL_H
#define WEIR_SENDER_FEED_LIVE_CONTROL_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/sdp.h"
#include "media/source/source.h"

DECLS_BEGIN

#define LIVE_FEED_SEEK_LEAD (USEC_PER_SEC / 4) // max. lead after a seek; see live_feed_seek
#define LIVE_FEED_SEEK_PACE 1.25               // max. pace until that lead is reached

struct live_control;

// NULL: no memory.
struct live_control *live_control_new(int encoder_count, struct fps source_fps);
void live_control_free(struct live_control *c); // NULL is fine

// ---- The loop's thread

// Makes the source thread's functions return; they no longer block.
void live_control_stop(struct live_control *c);
void live_control_watch(struct live_control *c, int encoder, int change); // +1 or -1 viewer
// Every n-th picture of the encoder's size is encoded, by index; from the beginning all are.
void live_control_set_every(struct live_control *c, int encoder, int n);
// +1 or -1 listener of an audio track, 0 .. SDP_AUDIO_TRACKS - 1
void live_control_watch_audio(struct live_control *c, int track, int change);
// Wants one picture as it is, or no longer (live_feed_take). While it wants one, the source runs.
void live_control_want_picture(struct live_control *c, bool wanted);
int live_control_viewers(const struct live_control *c, int encoder);
// Seeks to media time `pts`. Returns the number of the first picture after the seek. `ahead`:
// pictures may then be early.
int64_t live_control_seek(struct live_control *c, usec_t pts, bool ahead);
// `full`: the only viewer's transport has more than enough: a file's next picture waits.
void live_control_set_full(struct live_control *c, bool full);
// Sets the speed as a multiple of the source's pace.
void live_control_set_speed(struct live_control *c, double speed);
// Returns the media time of the next picture, or the target of a pending seek. *number: the number
// of that picture.
usec_t live_control_position(struct live_control *c, int64_t *number);
// Returns true if the end that the source thread posted is still valid. If a viewer has seeked
// since then, or all viewers left and others came, the end would stop the wrong viewers.
bool live_control_end_is_current(struct live_control *c);

// ---- The source thread

// Waits until the feed has a viewer, and then takes a pending seek. While it has no viewer,
// `source` idles. Returns false if the thread must stop. Sets *held if it waited. *seek_to: the
// seek's target, or USEC_NEVER. *lead: how early pictures may be delivered after the seek.
bool live_control_wait_viewer(struct live_control *c, struct source *source, bool *held,
                              usec_t *seek_to, usec_t *lead);
// Restarts the time line now, so that a pause or a suspend is not followed by a burst of pictures.
void live_control_begin_pace(struct live_control *c, usec_t lead);
// Waits for the time of the next picture, `number`, and advances the time line. *instant: that
// time. Returns false if a seek is pending: then the picture is dropped.
bool live_control_wait_pace(struct live_control *c, int64_t number, usec_t *instant);
// A picture goes to the encoders. `pts`, `number`: those of the picture. `seeked`: target of the
// seek whose first picture it is, or USEC_NEVER.
void live_control_advance(struct live_control *c, usec_t pts, int64_t number, usec_t seeked);
// Returns true if the encoder has a viewer (the audio track a listener): then the picture (its
// audio) counts as in flight until live_control_done. `index`: of the picture in the encoder's
// size, of which every n-th is encoded (live_control_set_every).
bool live_control_begin_picture(struct live_control *c, int encoder, int64_t index);
bool live_control_begin_audio(struct live_control *c, int track);
void live_control_done(struct live_control *c); // any thread
// Returns true if a picture is wanted, which it then is no longer.
bool live_control_take_picture(struct live_control *c);
// The source has ended: waits until no picture is in flight. Returns true if there are viewers: the
// caller reports the end to them and calls live_control_wait_left. Without viewers, rewinds for the
// next ones.
bool live_control_end(struct live_control *c);
// Waits until the viewers have received the end and left.
void live_control_wait_left(struct live_control *c);
// Waits while the feed has no viewer. Returns true if it waited and one is back; false if there was
// one, the thread must stop, or a seek is pending.
bool live_control_wait_back(struct live_control *c);
// Waits briefly, so that the loop can take items from its queue. Returns false if the thread must
// stop.
bool live_control_wait_loop(struct live_control *c);

DECLS_END
#endif
