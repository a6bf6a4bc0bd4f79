// SPDX-License-Identifier: GPL-2.0-or-later
// A stream that weir-send offers at a path: the ladder, the feed that encodes or reads it, and the
// sinks of its sessions. Passes each coded frame to every sink. Loop thread only.
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
    struct media_guard *guard;   // one reference, for the file that is read; NULL: none
    struct live_feed *engine;    // owned; NULL: nothing is encoded
    struct stored_cache *stored; // owned; NULL: not a stored ladder
    bool loop;                   // of a stored ladder: starts again at its end
    int audio_bps;               // 0: no audio
    struct synthetic synthetic;  // kind SDP_SOURCE_UNKNOWN: not synthetic media
    usec_t viewer_timeout; // a viewer that takes nothing for this long is dropped; default 20 s
    int max_viewers;       // default VIEWERS_DEFAULT
    int sink_count;
    int sink_room;
    int playing;
    struct frame_sink **sinks; // owned array of sink_room borrowed pointers
    struct stats_book *book;   // borrowed, of all the server's streams; set before the first sink
};

// stream_init... may block and run on any thread; stream_start then runs on the loop's thread.

// Encodes pictures from `source`, which it takes over. Returns 0, or ERR_IO (logged).
int stream_init(struct stream *s, struct source *source, const struct ladder *ladder);
// Adds audio and takes over the source; call it before stream_start. Returns 0, or ERR_NO_MEMORY
// (logged).
int stream_add_audio(struct stream *s, struct audio_source *audio, int bitrate_bps);
// Sends filler packets without frames. SDP_SOURCE_STEADY sends at `bitrate_bps`. SDP_SOURCE_GREEDY
// sends as fast as the transport allows, and at `bitrate_bps` if it has no rate of its own.
void stream_init_filler(struct stream *s, enum sdp_source kind, int bitrate_bps);
// Sends the frames of synthetic media.
void stream_init_synthetic(struct stream *s, const struct synthetic *media);
// Sends a stored ladder. `again`: it starts again at its end. Returns 0, or an error of
// stored_file_open (logged).
int stream_init_stored(struct stream *s, const char *path, struct media_guard *guard, bool again);
// Call it before the first sink. Returns 0, or ERR_IO (logged).
int stream_start(struct stream *s, uv_loop_t *loop);
// Stops the reading; threads that still read end on their own (live_feed_free, stored_cache_free).
void stream_destroy(struct stream *s);
bool stream_has_pictures(const struct stream *s);
// Returns true for a stream of stream_init_filler.
bool stream_is_filler(const struct stream *s);
bool stream_is_synthetic(const struct stream *s);
// Fills in the session description for a viewer of `level`.
void stream_describe(const struct stream *s, int level, struct sdp *out);
// Adds a session's sink. Returns the session's number (stats.h), ERR_FULL or ERR_NO_MEMORY.
int stream_add(struct stream *s, struct frame_sink *sink);
// Removes a sink and adds its final stats to the book; call it before the sink's transport is
// freed.
void stream_remove(struct stream *s, struct frame_sink *sink, usec_t now);
typedef void session_stats_fn(void *ctx, const struct stats *f, const struct session_stats *s);
// Adds the stats of the stream at `path` and of its sessions. Calls `each` for every session, with
// or without a number, after the encoders' stats are filled in.
void stream_stats(struct stream *s, const char *path, struct stats *out, session_stats_fn *each,
                  void *ctx, usec_t now);
// Call it when the last viewer has left: adds the encoders' final stats to the book.
void stream_close_stats(struct stream *s);

#ifdef __cplusplus
}
#endif
#endif
