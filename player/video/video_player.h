// SPDX-License-Identifier: GPL-2.0-or-later
// Plays the video of a connection: complete frames in, pictures to the display out. Gives the video
// pipeline (video_pipeline.h) its timer, decoder and clock, and passes its events to trace, log and
// connection. Loop thread only.
#ifndef WEIR_PLAYER_VIDEO_VIDEO_PLAYER_H
#define WEIR_PLAYER_VIDEO_VIDEO_PLAYER_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "player/options/play_options.h"
#include "player/report/trace.h"
#include "player/video/play_frame.h"
#include "player/video/render_queue.h"
#include "stream/playout/media_clock.h"
#include "stream/qoe/qoe.h"
#include "stream/receive/clock_sync.h"

DECLS_BEGIN

struct video_player_config {
    uv_loop_t *loop; // these are borrowed
    const struct play_options *options;
    const struct sdp *sdp;
    const struct clock_sync *clock;
    struct qoe *qoe;
    struct trace *events; // may be NULL
    struct render_queue *show;
    int level;              // at the start; -1: unknown, on_level reports the first that arrives
    bool at_once;           // playing starts with the first picture, unless --buffer is given
    unsigned session;       // copied into each frame given to the decoder
    play_frame_fn *on_done; // any thread, with done_ctx: brings the frame to video_player_done
    void *done_ctx;
    void (*request_key)(void *ctx, usec_t now);         // send a PLI
    void (*on_level)(void *ctx, int level, usec_t now); // the level changed
    void (*on_empty)(void *ctx, usec_t now);            // a stall begins
    void (*on_started)(void *ctx, usec_t at);           // buffering is over
    // Reports whether the media plays, and the clock it plays by; NULL: there is none, frames are
    // shown as they arrive.
    void (*on_clock)(void *ctx, bool playing, const struct media_clock *clock);
    // A frame of media time `pts` was shown.
    void (*on_picture)(void *ctx, const struct play_frame *f, usec_t pts);
    void (*on_ended)(void *ctx, usec_t now); // after video_player_end: all frames were shown
    void *ctx;
};

struct video_pipeline;
struct video_player;

// NULL on failure (logged).
struct video_player *video_player_new(const struct video_player_config *config);
// Close the render queue before: the decoder may block in it. NULL is fine.
void video_player_free(struct video_player *p);

// A packet of a frame arrived. Call before video_player_push of the frame that it may complete.
void video_player_packet(struct video_player *p, const struct rtp_packet *packet, int64_t ext_seq,
                         usec_t arrived);
// Takes the frame, as does video_player_done.
void video_player_push(struct video_player *p, struct received_frame *f, usec_t now);
void video_player_done(struct video_player *p, struct play_frame *f, usec_t now);
void video_player_end(struct video_player *p, usec_t now); // no frame follows
// Lost packets were NACKed: the sender repairs the frames that depend on them.
void video_player_nacked(struct video_player *p, usec_t now);
// The viewing is over: no frame goes to the decoder any more, frames that were passed over
// count as lost. video_player_done still takes frames that the decoder has.
void video_player_stop(struct video_player *p, usec_t now);
void video_player_pause(struct video_player *p, usec_t now);
// Live media continues with the frames that arrive now: the sender skipped those of the pause.
// Files, and media that ended during the pause, continue with the buffered frames.
// In a pause: shows one more picture. Call video_player_step_end when it was shown, or does not
// come.
void video_player_step(struct video_player *p, usec_t now);
void video_player_step_end(struct video_player *p, usec_t now);
void video_player_resume(struct video_player *p, usec_t now);
// Continues with frame `show` at another place of the media; see playout_seek. In a pause that
// frame is shown and the pause continues.
void video_player_seek(struct video_player *p, int64_t first, int64_t show, bool at_once,
                       usec_t now);
// The scale of the play without its sign (playout_set_scale); call it before video_player_seek. The
// audio is silent unless it is 1.
void video_player_set_scale(struct video_player *p, double pace, usec_t now);
void video_player_set_speed(struct video_player *p, double speed, usec_t now); // of the pipeline
// The least line of the clock that the audio needs (audio_delay.h); USEC_NEVER: none.
void video_player_set_audio(struct video_player *p, usec_t line);
// As playout_set_missing; call it before video_player_push.
void video_player_set_missing(struct video_player *p, int64_t seq);
// The pipeline is asked again: something it waited for does not come.
void video_player_look(struct video_player *p, usec_t now);
// Of a film whose level the player chooses: after a stall playing goes on with so much media.
void video_player_resume_at(struct video_player *p, usec_t media, usec_t now);
void video_player_set_rtt(struct video_player *p, usec_t rtt);
void video_player_set_repair(struct video_player *p, usec_t round);   // video_pipeline_set_repair
void video_player_set_stream(struct video_player *p, bool is_stream); // video_pipeline_set_stream

// What is buffered, when it plays and how fast. Borrowed.
const struct video_pipeline *video_player_pipeline(const struct video_player *p);
uint64_t video_player_decoded(const struct video_player *p); // pictures that the decoder gave
// Borrowed until the next call; NULL: none yet.
struct picture *video_player_last_shown(const struct video_player *p);
int video_player_level_shown(const struct video_player *p); // -1: none yet

DECLS_END
#endif
