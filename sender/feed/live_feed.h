// SPDX-License-Identifier: GPL-2.0-or-later
// Pictures in, coded frames out: one thread paces the source, one thread a size encodes. A size is
// encoded only while someone watches it; while nobody watches anything the source stands still. All
// viewers share one time line.
//
// The sound of each picture's time is read and encoded beside it, while someone hears it.
//
// Queues: two pictures wait for each encoder, then the newest is left out (counted as overload);
// 256 frames and packets of sound wait for the loop, then one is left out, a frame repaired.
//
// All functions are called on the loop thread, but for live_feed_new and live_feed_add_sound, which
// may take long.
#ifndef WEIR_SENDER_FEED_LIVE_FEED_H
#define WEIR_SENDER_FEED_LIVE_FEED_H

#include <uv.h>

#include "common/base/level.h"
#include "media/coded/coded_audio.h"
#include "media/coded/coded_frame.h"
#include "media/source/audio_source.h"
#include "media/source/source.h"
#include "sender/stats/live_feed_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LIVE_FEED_SEEK_LEAD (USEC_PER_SEC / 4)
#define LIVE_FEED_SEEK_PACE 1.25

struct live_feed;

struct live_feed_events {
    void (*on_frame)(void *ctx, struct coded_frame *f,
                     usec_t now); // borrowed for the call: take a reference to keep it
    void (*on_audio)(void *ctx, struct coded_audio *c, usec_t now); // likewise
    void (*on_end)(void *ctx, int err, usec_t now); // the source ended: ERR_END, or ERR_IO
};

// Takes over `source`; any thread. NULL: logged.
struct live_feed *live_feed_new(struct source *source, const struct ladder *ladder,
                                const struct live_feed_events *events, void *ctx);
// The sound of the source, taken over; once, before live_feed_start. 0, or ERR_NO_MEMORY (logged).
int live_feed_add_audio(struct live_feed *e, struct audio_source *source, int bitrate_bps);
// Once, before anyone watches. 0, or ERR_IO (logged).
int live_feed_start(struct live_feed *e, uv_loop_t *loop);
// No event afterwards. Does not wait for the threads, of which one may be reading a file: they end,
// and then the loop frees the engine, so it has to run on until its handles are closed. The caller
// stops the guard of the source's file before. NULL is fine.
void live_feed_free(struct live_feed *e);

// Parameter sets for the SDP, of one size.
const char *live_feed_sprop(const struct live_feed *e, int size_id);
const char *live_feed_profile(const struct live_feed *e, int size_id);

// One more (+1) or one fewer (-1) viewer of the size. The first frame for a new viewer is a key
// frame; live_feed_begin is implied. `account` says which viewer, for repair_budget.h.
void live_feed_watch(struct live_feed *e, int size_id, int account, int change);
void live_feed_watch_audio(struct live_feed *e, int change); // one more or fewer who hears it
// A viewer goes to a place: a key frame from that number on.
void live_feed_begin(struct live_feed *e, int size_id, int account, int64_t from);
// A viewer lacks frames: a key frame.
void live_feed_request_key(struct live_feed *e, int size_id, int account, usec_t now);
// From the next frame on; the size's top level. 0: the ladder's own.
void live_feed_set_bitrate(struct live_feed *e, int size_id, int bitrate_bps);
// A viewer lacks that frame. Of a size that several viewers watch, only the base layer is repaired:
// losses above it end with the next frame of it.
void live_feed_repair(struct live_feed *e, int size_id, int64_t number, int account);
// Only sensible while one viewer watches. The number of the first frame from there, or
// ERR_UNSUPPORTED. `ahead`: from there frames come at up to LIVE_FEED_SEEK_PACE times the pace, as
// fast as they can be encoded, until they are LIVE_FEED_SEEK_LEAD ahead; `captured` is when each
// would come else.
int64_t live_feed_seek(struct live_feed *e, usec_t pts, bool ahead);
void live_feed_set_speed(struct live_feed *e, double speed); // 0.25 .. 4 times the source's pace
// Media time of the next picture, or where a seek is about to go; and that picture's number.
usec_t live_feed_position(struct live_feed *e, int64_t *number);
void live_feed_stats_of_size(struct live_feed *e, int size_id, struct live_feed_size_stats *out);
// False: there is no sound.
bool live_feed_stats_of_audio(struct live_feed *e, struct live_feed_audio_stats *out);

#ifdef __cplusplus
}
#endif
#endif
