// SPDX-License-Identifier: GPL-2.0-or-later
// The media of one viewer: the operations that its session and its stream_sender call, and the
// properties that they need. An operation that the media does not support is NULL.
//
//   Live media is encoded as it is sent; all viewers share the encoders. Stored media is read from
//   a file of coded frames; synthetic media consists of filler bytes. Of both, each viewer has its
//   own time line. Filler has no frames: the sender makes its packets (filler.h).
//   Relayed media comes from an origin, which has selected its frames for this viewer.
//
// The session receives frames and audio packets through a frame sink (server/session/frame_sink.h).
// The operations do not call the sender, with one exception: give_again and request_key of stored
// media call stream_sender_frame_again.
#ifndef WEIR_STREAM_SEND_MEDIA_FEED_H
#define WEIR_STREAM_SEND_MEDIA_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"
#include "common/protocol/relay_info.h"
#include "common/wire/frame_ranges.h"
#include "common/wire/rtsp.h"
#include "common/wire/subtitle.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

struct media_feed;

struct media_seek {
    double seconds;            // the target, in media time; NaN: where the media is
    const struct level *level; // level that the viewer is sent
    bool ahead;                // the viewer's transport can hold back frames that arrive early
    double scale;              // the media's speed on the screen (RFC 2326, 12.34); < 0: backwards.
                               // Media that knows only 1 ignores it
    usec_t wall; // of live media: the target's capture on the wall clock; USEC_NEVER: the present;
                 // 0: not given. Media that keeps no past ignores it
};

// Why the media cannot be sent, for the viewer.
struct media_refusal {
    int status;     // of RTSP
    char text[256]; // a sentence for people
};

// The position at which the media continues.
struct media_place {
    double seconds; // media time of frame `frames.show`
    struct rtsp_frames frames;
    struct media_refusal refusal; // MEDIA_REFUSED
    double scale;                 // the media plays at it; 0: the media knows only 1
    usec_t wall;   // of live media in its past: capture of frame `frames.show` on the wall clock;
                   // 0: the present. Frame `frames.first` begins its size, whichever that is
    usec_t behind; // from there to the present
};

enum media_placed {
    MEDIA_CONTINUES, // the place is where the media was
    MEDIA_SOUGHT,    // after a seek; the next frame has the number frames.first
    MEDIA_NOWHERE,   // the media has no position; the place is not filled in
    MEDIA_WAITS,     // frame_sink.on_placed follows within MEDIA_PLACE_LIMIT; then the caller calls
                     // `place` again with the same arguments
    MEDIA_REFUSED,   // the media cannot play there
};
#define MEDIA_PLACE_LIMIT (7 * USEC_PER_SEC)

struct media_feed_ops {
    // ---- For the sender

    // Adds (+1) or removes (-1) one viewer of the size. After a +1 its frames arrive; the first
    // frame of live media is a key frame. NULL: the sender need not ask for frames.
    void (*watch)(struct media_feed *f, int size_id, int change);
    // The viewer starts (+1) or stops (-1) receiving the audio. NULL: the audio, if any, arrives
    // with each size.
    void (*watch_audio)(struct media_feed *f, int change);
    // The viewer starts or stops playing. NULL: no other viewer depends on it.
    void (*play)(struct media_feed *f, bool plays);
    // Sets the encoder's rate for the size, in bit/s; 0: the ladder's rate. NULL: the media is not
    // encoded live.
    void (*set_bitrate)(struct media_feed *f, int size_id, int bps);
    // The viewer lacks the frame, so later frames shall not depend on it. NULL: the media is not
    // encoded live.
    void (*repair)(struct media_feed *f, int size_id, int64_t number);
    // The viewer lacks the frame: delivers it again (stream_sender_frame_again) and returns true.
    // Returns false if it cannot now, or there is no such frame. NULL: frames are not kept.
    bool (*give_again)(struct media_feed *f, int size_id, int64_t number, usec_t now);
    // The viewer can decode nothing. Live media makes a key frame. Stored media delivers again all
    // frames that the newest frame depends on. NULL: the viewer waits for the next key frame.
    void (*request_key)(struct media_feed *f, int size_id, usec_t now);
    // Makes a key frame of number `from` or later. NULL: key frames are not made on request.
    void (*begin)(struct media_feed *f, int size_id, int64_t from);
    // The frames from this slot on (stored_plan.h) were not sent: delivers them when the viewer
    // plays again. NULL: frames are not kept.
    void (*rewind)(struct media_feed *f, int64_t slot);
    // Relayed media: requests this level of the origin; `follows`: as the highest that the network
    // carries. NULL: the sender itself selects the frames of the level.
    void (*set_level)(struct media_feed *f, int level, bool follows);
    // Delivers the video again from frame `from` on, with the same numbers; not inside this call. A
    // group that was begun begins there. Returns false if it does not, or the media does not play
    // at scale 1. NULL: frames are not kept.
    bool (*again)(struct media_feed *f, int64_t from);
    // No frame waits for the transport any more. Media that holds its frames back while some wait
    // delivers the next ones, but not inside this call. NULL: frames have times, whatever waits.
    void (*drained)(struct media_feed *f, usec_t now);
    // Returns true if no other viewer plays. NULL: the media belongs to this viewer alone.
    bool (*is_alone)(const struct media_feed *f);

    // ---- For the session

    // Seeks if `to` is not NULL, and writes the current position to `out`. NULL: the media has no
    // position.
    enum media_placed (*place)(struct media_feed *f, const struct media_seek *to,
                               struct media_place *out, usec_t now);
    // Sets the pace as a multiple of real time, FRAME_CLOCK_MIN_SPEED .. FRAME_CLOCK_MAX_SPEED, or
    // .. media_feed.max_speed. NULL: the pace is fixed.
    void (*set_speed)(struct media_feed *f, double speed);
    // The viewer says how long a frame may wait for a transport, and how long after its capture it
    // shows it, ms. Media with `drained` need not hold frames back then. NULL: the media does not
    // depend on it.
    void (*set_latency)(struct media_feed *f, int ms);
    void (*set_playout)(struct media_feed *f, int ms);
    // `awaits`, before the viewer plays: the first group, and half of one at least, is sent as fast
    // as the transport takes it. Then the media awaits the viewer's decision about the level, for
    // half of that group's length at most. Returns the number of the first frame that waits; 0: the
    // media does not wait. False: the viewer has decided. NULL: the media cannot wait.
    int64_t (*await_level)(struct media_feed *f, bool awaits);
    // Relayed media: writes what is known of the way to the origin. NULL: this is the origin.
    void (*relay_info)(const struct media_feed *f, struct relay_info *out, usec_t now);
    // From the next audio packet on, this viewer gets that audio track of the media, from 0
    // (stream_media.audio_tracks). NULL: there is one track.
    void (*set_audio_track)(struct media_feed *f, int track);
    // Relayed media: writes cues of the origin's film that are shown in the SUBTITLE_AHEAD after
    // r->from, as far as they are known, and the head if r->head; those of the next call are
    // requested. Returns the cues' number; -1: there is no such track. NULL: this is the origin.
    int (*subtitles)(struct media_feed *f, const struct subtitle_request *r,
                     struct subtitle_set *out, usec_t now);
    // Stored media: sets *out to the film's table, borrowed as long as the feed. Returns 0;
    // ERR_NOT_FOUND: it has none; ERR_AGAIN: of relayed media, the origin has not told it yet.
    // NULL: the media has none.
    int (*film_table)(struct media_feed *f, const struct film_table **out, usec_t now);
    // Stored media: from now on delivers these frames only, of the sizes that are watched. Returns
    // false if there is no memory. NULL: the media cannot.
    bool (*only)(struct media_feed *f, const struct frame_ranges *ranges);
    void (*free)(struct media_feed *f); // do not call it from inside its frame sink
};

enum media_filler { FILLER_NONE, FILLER_STEADY, FILLER_GREEDY };

struct media_feed { // embedded first by each implementation
    const struct media_feed_ops *ops;
    enum media_filler filler; // kind of packets that replace frames
    bool takes_any_rate;      // the consumer takes times of capture, whatever rate frame numbers
                              // count: a recording, which sets it before it watches
    bool reorders;            // frames arrive in decoding order, which differs from the order of
                              // their numbers
    bool scales;              // the media knows other scales than 1; of relayed media the origin
                              // decides
    bool stands_still;        // the media stops while its only viewer pauses
    bool is_film;             // encoded as it is sent, from a file: its viewer waits for what it
                              // lacks, and is to show all of it
    bool is_encoded;          // relayed media: the origin encodes it as it is sent
    bool has_rates;           // live media that is not encoded here comes at several levels: the
                              // sender chooses by the network. Requires is_alone to return false
    bool gives_past;          // the frames that it hands over now were captured before their viewer
                              // began, and are not late for that
    bool reports_losses;      // the viewer requests what it lacks; set by the sender before it
                              // watches
    double max_speed;  // of set_speed, for a transport that takes media no faster than its network;
                       // 0: FRAME_CLOCK_MAX_SPEED
    usec_t wall_ahead; // the wall clock of capture times minus this machine's; 0 for media of
                       // this machine
};

DECLS_END
#endif
