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
// All functions are called on the loop thread, but for engine_new and engine_add_sound, which may
// take long.
#ifndef WEIR_SENDER_ENGINE_H
#define WEIR_SENDER_ENGINE_H

#include <uv.h>

#include "common/base/level.h"
#include "media/coded_frame.h"
#include "media/coded_sound.h"
#include "media/sound_source.h"
#include "media/source.h"
#include "sender/engine_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENGINE_SEEK_LEAD (USEC_PER_SEC / 4)
#define ENGINE_SEEK_PACE 1.25

struct engine;

struct engine_events {
    void (*on_frame)(void *ctx, struct coded_frame *f,
                     usec_t now); // borrowed for the call: take a reference to keep it
    void (*on_sound)(void *ctx, struct coded_sound *c, usec_t now); // likewise
    void (*on_end)(void *ctx, int err, usec_t now); // the source ended: ERR_END, or ERR_IO
};

// Takes over `source`; any thread. NULL: logged.
struct engine *engine_new(struct source *source, const struct ladder *ladder,
                          const struct engine_events *events, void *ctx);
// The sound of the source, taken over; once, before engine_start. 0, or ERR_NO_MEMORY (logged).
int engine_add_sound(struct engine *e, struct sound_source *source, int bitrate_bps);
// Once, before anyone watches. 0, or ERR_IO (logged).
int engine_start(struct engine *e, uv_loop_t *loop);
// No event afterwards. Does not wait for the threads, of which one may be reading a file: they end,
// and then the loop frees the engine, so it has to run on until its handles are closed. The caller
// stops the guard of the source's file before. NULL is fine.
void engine_free(struct engine *e);

// Parameter sets for the SDP, of one size.
const char *engine_sprop(const struct engine *e, int size_id);
const char *engine_profile(const struct engine *e, int size_id);

// One more (+1) or one fewer (-1) viewer of the size. The first frame for a new viewer is a key
// frame; engine_begin is implied. `account` says which viewer, for repair_budget.h.
void engine_watch(struct engine *e, int size_id, int account, int change);
void engine_watch_sound(struct engine *e, int change); // one more or fewer who hears it
// A viewer goes to a place: a key frame from that number on.
void engine_begin(struct engine *e, int size_id, int account, int64_t from);
// A viewer lacks frames: a key frame.
void engine_request_key(struct engine *e, int size_id, int account, usec_t now);
// From the next frame on; the size's top level. 0: the ladder's own.
void engine_set_bitrate(struct engine *e, int size_id, int bitrate_bps);
// A viewer lacks that frame. Of a size that several viewers watch, only the base layer is repaired:
// losses above it end with the next frame of it.
void engine_repair(struct engine *e, int size_id, int64_t number, int account);
// Only sensible while one viewer watches. The number of the first frame from there, or
// ERR_UNSUPPORTED. `ahead`: from there frames come at up to ENGINE_SEEK_PACE times the pace, as
// fast as they can be encoded, until they are ENGINE_SEEK_LEAD ahead; `captured` is when each would
// come else.
int64_t engine_seek(struct engine *e, usec_t pts, bool ahead);
void engine_set_speed(struct engine *e, double speed); // 0.25 .. 4 times the source's pace
// Media time of the next picture, or where a seek is about to go; and that picture's number.
usec_t engine_position(struct engine *e, int64_t *number);
void engine_stats_of_size(struct engine *e, int size_id, struct engine_size_stats *out);
// False: there is no sound.
bool engine_stats_of_sound(struct engine *e, struct engine_sound_stats *out);

#ifdef __cplusplus
}
#endif
#endif
