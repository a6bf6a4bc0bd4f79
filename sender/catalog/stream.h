// SPDX-License-Identifier: GPL-2.0-or-later
// What weir-send offers at its path: the ladder, the engine that fills it, and the sessions that
// watch. Hands each coded frame to every session. Loop thread only.
#ifndef WEIR_SENDER_CATALOG_STREAM_H
#define WEIR_SENDER_CATALOG_STREAM_H

#include <uv.h>

#include "common/wire/sdp.h"
#include "media/coded/synthetic.h"
#include "media/source/media_guard.h"
#include "media/source/source.h"
#include "sender/feed/frame_sink.h"
#include "sender/feed/live_feed.h"
#include "sender/feed/stored_cache.h"
#include "sender/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stream {
    struct ladder ladder;
    enum sdp_source kind;
    double duration; // seconds, -1 = endless
    char title[128];
    struct media_guard *guard;   // a reference, of the file that is read; NULL: none
    struct live_feed *engine;    // owned; NULL: nothing is encoded
    struct stored_cache *stored; // owned; NULL: not a stored ladder
    bool loop;                   // of a stored ladder
    int audio_bps;               // 0: there is no sound
    struct synthetic synthetic;  // kind unknown: not frames without pictures
    usec_t viewer_timeout; // a viewer that takes nothing for so long is dropped; 20 s by default
    int max_viewers;       // at once; VIEWERS_DEFAULT by default
    int sink_count;
    int sink_room;
    int playing;
    struct frame_sink **sinks; // owned, room for sink_room; what they point to is borrowed
    struct stats_book *book;   // borrowed, before anyone watches; of all streams of the server
};

// A stream is made on any thread, since that may take long, and then started on the loop's.

// Pictures from `source`, which is taken over. 0, or ERR_IO (logged).
int stream_init(struct stream *s, struct source *source, const struct ladder *ladder);
// Its sound, which is taken over; before stream_start. 0, or ERR_NO_MEMORY (logged).
int stream_add_audio(struct stream *s, struct audio_source *audio, int bitrate_bps);
// Packets without frames: SDP_SOURCE_STEADY at `bitrate_bps`; SDP_SOURCE_GREEDY as fast as the
// transport takes it, which keeps to `bitrate_bps` if it has no rate of its own.
void stream_init_filler(struct stream *s, enum sdp_source kind, int bitrate_bps);
// Frames without pictures.
void stream_init_synthetic(struct stream *s, const struct synthetic *media);
// A stored ladder. 0, or as stored_file_open (logged).
int stream_init_stored(struct stream *s, const char *path, struct media_guard *guard, bool again);
// Before anyone watches. 0, or ERR_IO (logged).
int stream_start(struct stream *s, uv_loop_t *loop);
// Stops the reading; threads that still read end on their own (live_feed_free, stored_cache_free).
void stream_destroy(struct stream *s);
bool stream_has_pictures(const struct stream *s);
// Packets without frames.
bool stream_is_filler(const struct stream *s);
bool stream_is_synthetic(const struct stream *s);
// As a viewer of `level` sees it.
void stream_describe(const struct stream *s, int level, struct sdp *out);
// Its number (figures.h); ERR_FULL or ERR_NO_MEMORY.
int stream_add(struct stream *s, struct frame_sink *sink);
// Before its transport is freed: what it did is kept in the book.
void stream_remove(struct stream *s, struct frame_sink *sink, usec_t now);
typedef void session_stats_fn(void *ctx, const struct stats *f, const struct session_stats *s);
// Adds the stream at `path`, its sessions and all they did. `each` gets every session, also those
// that have no number, once the encoders' figures are there.
void stream_stats(struct stream *s, const char *path, struct stats *out, session_stats_fn *each,
                  void *ctx, usec_t now);
// Nobody watches any more: what its encoders did is kept in the book.
void stream_close_stats(struct stream *s);

#ifdef __cplusplus
}
#endif
#endif
