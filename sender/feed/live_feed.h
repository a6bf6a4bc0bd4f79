// SPDX-License-Identifier: GPL-2.0-or-later
// Pictures in, coded frames out: one thread paces the source, and each encoder has a thread. H.264
// has an encoder per size, and a size is encoded only while it has viewers. VP9 has one encoder,
// which encodes all sizes while any has viewers. Without any viewer the source is paused. All
// viewers share one time line.
//
// The audio of each picture's time is read and encoded on another thread, while it has listeners.
// Each audio track has its own thread and its own listeners.
//
// A machine that does not keep up encodes less, if live_feed_lower_when_slow was called
// (encode_load.h): frame rates are halved here; of sizes that are left out, the owner moves the
// viewers to a smaller one.
//
// Queues: two pictures wait for each encoder; a further picture is dropped and counted as overload.
// 256 frames and audio packets wait for the loop; a further one is dropped, and a frame is
// repaired. A file waits instead: of it nothing is dropped.
//
// All functions are called on the loop thread, except live_feed_new and live_feed_add_audio, which
// may block for long.
#ifndef WEIR_SENDER_FEED_LIVE_FEED_H
#define WEIR_SENDER_FEED_LIVE_FEED_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "media/encode/video_engine.h"
#include "media/source/audio_source.h"
#include "media/source/source.h"
#include "server/stats/live_feed_stats.h"

DECLS_BEGIN

struct live_feed;

struct live_feed_events {
    // Frames and packets are borrowed for the call: take a reference to keep one.
    void (*on_frame)(void *ctx, struct coded_frame *f, usec_t now);
    void (*on_audio)(void *ctx, struct coded_audio *c, usec_t now);
    // The picture of live_feed_take; borrowed for the call.
    void (*on_picture)(void *ctx, struct picture *p, usec_t now);
    // Viewers shall watch no larger size than `size_id` from now on. NULL: they keep their sizes.
    void (*on_top)(void *ctx, int size_id, usec_t now);
    // The source has ended. `why`: it broke off, and why, borrowed for the call; NULL: it did not.
    void (*on_end)(void *ctx, const char *why, usec_t now);
};

// Any thread. Takes over `source`, even on failure. `codec`: SDP_VP9 requires a ladder of
// ladder_cumulative's shape. `engine`: the encoder of H.264. Returns NULL on failure, which it
// logs.
struct live_feed *live_feed_new(struct source *source, const struct ladder *ladder,
                                enum sdp_codec codec, const struct video_engine *engine,
                                const struct live_feed_events *events, void *ctx);
// Adds an audio track and takes over `source`, even on failure. Call it before live_feed_start, at
// most SDP_AUDIO_TRACKS times. Returns 0, ERR_FULL, or ERR_NO_MEMORY (logged).
int live_feed_add_audio(struct live_feed *e, struct audio_source *source, int bitrate_bps);
// Not for a film, whose viewers wait for all of it. Call it before live_feed_start.
void live_feed_lower_when_slow(struct live_feed *e);
// Call it once, before the first viewer. Returns 0, or ERR_IO (logged).
int live_feed_start(struct live_feed *e, uv_loop_t *loop);
// No event follows. Does not wait for the threads, as one may be reading a file. When they have
// ended, the loop frees the feed, so the loop must run until its handles are closed. The caller
// first stops the guard of the source's file. NULL is fine.
void live_feed_free(struct live_feed *e);

// Return the parameter sets and the profile-level-id of one size, for the SDP.
const char *live_feed_sprop(const struct live_feed *e, int size_id);
const char *live_feed_profile(const struct live_feed *e, int size_id);

struct live_feed_viewer {
    int account;         // identifies the viewer for repair_budget.h
    bool reports_losses; // false: it needs a key frame from time to time
};

// Adds (+1) or removes (-1) a viewer of the size's encoder. Adding implies live_feed_begin: the
// first frame of a new viewer starts the size anew. Give the same viewer both times.
void live_feed_watch(struct live_feed *e, int size_id, const struct live_feed_viewer *viewer,
                     int change);
// +1 or -1 listener of a track, from 0.
void live_feed_watch_audio(struct live_feed *e, int track, int change);
// Takes the source's next picture as it is, which starts a source that is paused: on_picture
// follows, unless the source ends or it is no longer wanted.
void live_feed_take(struct live_feed *e, bool wanted);
// `full`: a file's next picture waits, as the only viewer's transport has more than enough.
void live_feed_set_full(struct live_feed *e, bool full);
// A viewer seeks, or begins with one more size of its encoder: starts the size anew at or after
// number `from` (video_encoder.h).
void live_feed_begin(struct live_feed *e, int size_id, int account, int64_t from);
// A viewer lacks frames: starts the size anew.
void live_feed_request_key(struct live_feed *e, int size_id, int account, usec_t now);
// Sets the bitrate of the size's top level from the next frame on. 0: the ladder's bitrate.
void live_feed_set_bitrate(struct live_feed *e, int size_id, int bitrate_bps);
// A viewer lacks frame `number`. If several viewers watch the size, only the base layer is
// repaired: a loss in a higher layer ends with the next frame of the base layer.
void live_feed_repair(struct live_feed *e, int size_id, int64_t number, int account);
// Seeks for all viewers, so it is only useful while there is a single viewer. Returns the number of
// the first frame after the seek, or ERR_UNSUPPORTED. `ahead`: frames are then encoded at up to
// LIVE_FEED_SEEK_PACE times the pace until they are LIVE_FEED_SEEK_LEAD early (live_control.h);
// their `captured` is the time at the normal pace.
int64_t live_feed_seek(struct live_feed *e, usec_t pts, bool ahead);
void live_feed_set_speed(struct live_feed *e, double speed); // 0.25 .. 4 times the source's pace
// Returns true if the source has ended for good (source.h).
bool live_feed_is_over(const struct live_feed *e);
// Returns the media time of the next picture, or the target of a pending seek. *number: the number
// of that picture.
usec_t live_feed_position(struct live_feed *e, int64_t *number);
void live_feed_stats_of_size(struct live_feed *e, int size_id, struct live_feed_size_stats *out);
// The sum of all tracks. Returns false if the feed has no audio.
bool live_feed_stats_of_audio(struct live_feed *e, struct live_feed_audio_stats *out);

DECLS_END
#endif
