// SPDX-License-Identifier: GPL-2.0-or-later
// The media that a stream offers: one object for all its viewers. It makes one media_feed for each
// viewer. Loop thread only, except that it may be made, and freed before it was started, on any
// thread.
#ifndef WEIR_SERVER_SESSION_STREAM_MEDIA_H
#define WEIR_SERVER_SESSION_STREAM_MEDIA_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/picture/picture.h"
#include "server/session/frame_sink.h"
#include "stream/send/media_feed.h"

DECLS_BEGIN

struct stream_media;

struct stored_digest; // stored_track.h

struct media_feed_config {
    uv_loop_t *loop;         // borrowed
    struct frame_sink *sink; // borrowed; frames of the sizes that are watched go there
    // The viewer decodes but does not show frames before a seek's target.
    bool exact;
};

// What a taker gets; all of it is borrowed for the call.
struct taken_picture {
    struct picture *picture; // raw; NULL: `jpeg` or `err`
    const uint8_t *jpeg;     // coded already, by another server; NULL: `picture` or `err`
    size_t bytes;            // of `jpeg`
    usec_t age;              // of `jpeg`: how long it may be kept
    // ERR_END: the media has ended, or did not give one; ERR_TIMED_OUT; ERR_NOT_FOUND: there is no
    // such film; ERR_UNSUPPORTED: the film has no picture.
    int err;
};

// Takes one picture. Embedded by its owner.
struct picture_taker {
    // Called once, outside `take`.
    void (*on_picture)(struct picture_taker *t, const struct taken_picture *p, usec_t now);
    struct picture_taker *next; // the media's own
};

struct media_away {
    usec_t since; // a time of clock.h
    char why[96]; // for people; may be empty
};

// An operation that the media does not need is NULL, except feed_new and free.
struct stream_media_ops {
    // Call it once, before the first feed. Returns 0, or ERR_IO (logged).
    int (*start)(struct stream_media *m, uv_loop_t *loop);
    // NULL: no memory. The caller frees the feed, before the media.
    struct media_feed *(*feed_new)(struct stream_media *m, const struct media_feed_config *config);
    // Fills in the parameter sets and the profile of one size.
    void (*describe)(const struct stream_media *m, int size_id, struct sdp *out);
    // Fills in the stats of the encoders.
    void (*stats)(const struct stream_media *m, struct stream_stats *out);
    // Stored media: as stored_cache_digest.
    int (*digest)(struct stream_media *m, int track, int64_t group, struct stored_digest *out);
    // Gives the next picture as it is to the taker, even if no viewer watches. NULL: the media has
    // coded frames or packets only. `leave`: the taker does not want it any more.
    void (*take)(struct stream_media *m, struct picture_taker *t);
    void (*leave)(struct stream_media *m, struct picture_taker *t);
    // Returns true if the media has ended for good. NULL: it never does.
    bool (*is_over)(const struct stream_media *m);
    // Live media: returns true if its source sends nothing, and is tried again. NULL: it does not
    // get lost.
    bool (*away)(const struct stream_media *m, struct media_away *out);
    // Does not wait for threads that read; the loop must run until its handles are closed. The
    // caller first stops the guard of the file that is read.
    void (*free)(struct stream_media *m);
};

struct stream_media { // embedded first by each implementation
    const struct stream_media_ops *ops;
    struct ladder ladder;
    enum sdp_source kind;
    double duration;       // seconds; -1: endless
    char title[128];       // UTF-8
    int audio_bps;         // 0: no audio
    int audio_track_count; // that viewers choose from; 0 or 1: there is no choice
    char audio_tracks[SDP_AUDIO_TRACKS][SDP_TRACK_NAME]; // their names, UTF-8
    enum sdp_codec codec;
    bool reorders; // media_feed.h
    bool encodes;  // its frames are encoded here: a key frame comes where a feed requests one
    char *stored;  // owned; path of the stored ladder that it is read from; NULL: none
    bool relays;   // the frames come from an origin, which selects them (stream_sender.h)
    int unencoded; // levels at the top of the ladder that are not encoded now, as the machine does
                   // not keep up; frame_sink_ops.on_highest follows each change
    double back;   // seconds of its past that live media keeps, at most; 0: none
};

DECLS_END
#endif
