// SPDX-License-Identifier: GPL-2.0-or-later
// The media half of a connection: plays one described stream. It makes the receivers of the
// connection's remote_stream; pictures go to the display, audio to the audio session. It makes no
// request of its own: events report what the connection may react to. Loop thread only; after that
// has ended, the main thread.
#ifndef WEIR_PLAYER_SESSION_STREAM_PLAYER_H
#define WEIR_PLAYER_SESSION_STREAM_PLAYER_H

#include <uv.h>

#include "client/session/remote_stream.h"
#include "common/base/decls.h"
#include "player/policy/media_progress.h"
#include "player/report/trace.h"
#include "player/session/audio_session.h"
#include "player/session/comparison.h"
#include "player/session/level_policy.h"
#include "player/session/stream_recording.h"
#include "player/video/video_player.h"

DECLS_BEGIN

// All are required.
struct stream_player_ops {
    void (*on_level)(void *ctx, int level, usec_t now); // frames of another level arrive
    void (*on_started)(void *ctx, usec_t now);          // pictures move
    void (*on_bye)(void *ctx, usec_t now);              // the sender ends the media
    void (*on_drained)(void *ctx, usec_t now);          // after video_player_end: all was shown
};

struct stream_player_config {
    uv_loop_t *loop; // these are borrowed
    const struct play_options *options;
    struct remote_stream *remote; // its receivers call until it is freed, after the stream player
    const struct sdp *sdp;
    struct qoe *qoe;
    struct trace *events; // may be NULL
    struct render_queue *show;
    struct audio_session *audio;
    struct comparison *comparison;
    struct stream_recording *recording; // NULL: not wanted
    struct level_policy *policy;        // receives packets, frames and stalls; NULL: not wanted
    int level;              // at the start; -1: unknown, on_level reports the first that arrives
    bool at_once;           // the first picture is shown as soon as it is decoded, without a buffer
    unsigned session;       // copied into each frame given to the decoder
    play_frame_fn *on_done; // any thread, with done_ctx: brings a frame to video_player_done
    void *done_ctx;
    const struct stream_player_ops *ops; // static
    void *ctx;
};

struct stream_player;

struct stream_player *stream_player_new(const struct stream_player_config *config); // or NULL
// Flush the show queue before: the decoder may wait there. NULL is fine.
void stream_player_free(struct stream_player *s);

void stream_player_set_rtt(struct stream_player *s, usec_t rtt, usec_t now); // 0: unknown
// As video_receiver_set_repair, after SETUP.
int stream_player_set_repair(struct stream_player *s, const struct video_repair *repair);
// PLAY was answered: the video's next packet has this number, as far as it is known (-1). `jumps`:
// the media continues elsewhere.
void stream_player_begin(struct stream_player *s, int seq, bool jumps, usec_t now);
// A request's wall clock times, to compare the sender's clock with ours.
void stream_player_clock_sample(struct stream_player *s, usec_t asked, usec_t sender,
                                usec_t received);
// Call it once a second. Sends receiver reports, and passes the counts to QoE.
void stream_player_second(struct stream_player *s, struct video_receiver_stats *out, usec_t now);

// Plays the pictures; NULL: packets without frames. Borrowed.
struct video_player *stream_player_video(const struct stream_player *s);
usec_t stream_player_first_packet(const struct stream_player *s); // when it came; 0: none yet
uint64_t stream_player_packets(const struct stream_player *s);    // of video and audio
struct media_progress_facts stream_player_progress(const struct stream_player *s);

DECLS_END
#endif
