// SPDX-License-Identifier: GPL-2.0-or-later
// A stream that weir-send offers at a path: its media, and the sinks of its sessions, of which it
// keeps the number and the stats. Loop thread only, except stream_init and a stream_destroy before
// stream_start.
#ifndef WEIR_SERVER_SESSION_STREAM_H
#define WEIR_SERVER_SESSION_STREAM_H

#include "common/base/decls.h"
#include "common/protocol/transport_names.h"
#include "media/source/media_guard.h"
#include "media/source/subtitle_source.h"
#include "server/session/stream_media.h"
#include "server/stats/stats.h"

DECLS_BEGIN

struct stream {
    struct stream_media *media;        // owned
    struct media_guard *guard;         // one reference, for the file that is read; NULL: none
    struct subtitle_source *subtitles; // owned; NULL: none
    usec_t viewer_timeout; // a viewer that takes nothing for this long is dropped; default 20 s
    int max_viewers;       // default VIEWERS_DEFAULT
    // The transports that viewers get, the first that one offers; NULL: the first of the viewer's
    // own order.
    const struct transport_list *transports; // borrowed
    enum scheduler_mode queue;               // these as struct session_config has them
    size_t queue_bytes;
    size_t fragment_bytes; // max bytes of a frame in a packet; 0: what the path allows
    bool only_these;       // a viewer that offers none of `transports` is refused
    const char *record;    // borrowed: names of its recording in H.264 (record_name.h); NULL: none
    int highest;           // level that viewers get; default LADDER_MAX_LEVELS - 1
    int sink_count;
    int sink_room;
    struct frame_sink **sinks; // owned array of sink_room borrowed pointers
    uint64_t ended_octets;     // payload that its ended sessions were sent
    struct stats_book *book;   // borrowed, of all the server's streams; set before the first sink
};

// Takes over `media`, and one reference of `guard`, which may be NULL.
void stream_init(struct stream *s, struct stream_media *media, struct media_guard *guard);
// Call it before the first sink. Returns 0, or ERR_IO (logged).
int stream_start(struct stream *s, uv_loop_t *loop);
// Stops the reading; threads that still read end on their own (stream_media.h).
void stream_destroy(struct stream *s);
// Fills in the session description for a viewer of `level`.
void stream_describe(const struct stream *s, int level, struct sdp *out);
// Limits the level of all viewers, present and later ones, until the next call.
void stream_set_highest(struct stream *s, int level, usec_t now);
// Adds a session's sink and assigns its number (stats.h). Returns 0, ERR_FULL or ERR_NO_MEMORY.
int stream_add(struct stream *s, struct frame_sink *sink);
// Removes a sink and adds its final stats to the book; call it before the sink's transport is
// freed.
void stream_remove(struct stream *s, struct frame_sink *sink, usec_t now);
typedef void session_stats_fn(void *ctx, const struct stats *f, const struct session_stats *s);
// Adds the stats of the stream at `path` and of its sessions. Calls `each` for every session, with
// or without a number, after the encoders' stats are filled in. Streams beyond STATS_STREAMS - 1
// share one entry, "others".
void stream_collect_stats(struct stream *s, const char *path, struct stats *out,
                          session_stats_fn *each, void *ctx, usec_t now);
// Call it when the last viewer has left: adds the encoders' final stats to the book.
void stream_close_stats(struct stream *s);

DECLS_END
#endif
