// SPDX-License-Identifier: GPL-2.0-or-later
// Plays the video of a connection: complete frames in, pictures to the display out. Gives the video
// pipeline (video_pipeline.h) its timer, decoder and clock, and passes its events to trace, log and
// connection. Loop thread only.
#ifndef WEIR_PLAYER_VIDEO_PRESENTER_H
#define WEIR_PLAYER_VIDEO_PRESENTER_H

#include <uv.h>

#include "common/wire/sdp.h"
#include "player/options/play_options.h"
#include "player/report/trace.h"
#include "player/video/play_frame.h"
#include "player/video/render_queue.h"
#include "stream/playout/playout.h"
#include "stream/qoe/qoe.h"
#include "stream/receive/clock_sync.h"

#ifdef __cplusplus
extern "C" {
#endif

struct presenter_config {
    uv_loop_t *loop; // these are borrowed
    const struct play_options *options;
    const struct sdp *sdp;
    const struct clock_sync *clock;
    struct qoe *qoe;
    struct trace *events; // may be NULL
    struct render_queue *show;
    int level;              // at the start; -1: unknown, on_level reports the first that arrives
    unsigned session;       // copied into each frame given to the decoder
    play_frame_fn *on_done; // any thread, with done_ctx: brings the frame to presenter_done
    void *done_ctx;
    void (*ask_key)(void *ctx, usec_t now);             // send a PLI
    void (*on_level)(void *ctx, int level, usec_t now); // the level changed
    void (*on_empty)(void *ctx, usec_t now);            // a stall begins
    void (*on_started)(void *ctx, usec_t at);           // buffering is over
    // Reports whether the media plays, and the clock it plays by; NULL: there is none, frames are
    // shown as they arrive.
    void (*on_clock)(void *ctx, bool playing, const struct media_clock *clock);
    // A frame of media time `pts` was shown.
    void (*on_picture)(void *ctx, const struct play_frame *f, usec_t pts);
    void (*on_ended)(void *ctx, usec_t now); // after presenter_end: all frames were shown
    void *ctx;
};

struct presenter;

struct presenter *presenter_new(const struct presenter_config *config); // NULL on failure (logged)
// Close the render queue before: the decoder may block in it. NULL is fine.
void presenter_free(struct presenter *p);

// A packet of a frame arrived. Call before presenter_push of the frame that it may complete.
void presenter_packet(struct presenter *p, const struct rtp_packet *packet, int64_t ext_seq,
                      usec_t arrived);
void presenter_push(struct presenter *p, struct received_frame *f, usec_t now); // takes the frame
void presenter_done(struct presenter *p, struct play_frame *f, usec_t now);     // takes the frame
void presenter_end(struct presenter *p, usec_t now);                            // no frame follows
// Lost packets were NACKed: the sender repairs the frames that depend on them.
void presenter_nacked(struct presenter *p, usec_t now);
// The viewing is over: no frame goes to the decoder any more, frames that were passed over
// count as lost. presenter_done still takes frames that the decoder has.
void presenter_stop(struct presenter *p, usec_t now);
void presenter_pause(struct presenter *p, usec_t now);
// Live media continues with the frames that arrive now: the sender skipped those of the pause.
// Files, and media that ended during the pause, continue with the buffered frames.
void presenter_resume(struct presenter *p, usec_t now);
// Continues with frame `show` at another place of the media; see playout_seek. In a pause that
// frame is shown and the pause continues.
void presenter_seek(struct presenter *p, int64_t first, int64_t show, bool at_once, usec_t now);
void presenter_set_rtt(struct presenter *p, usec_t rtt);

enum playout_mode presenter_mode(const struct presenter *p);
bool presenter_paused(const struct presenter *p);
double presenter_speed(const struct presenter *p); // of playing, relative to the sender's
// Returns how old a frame may be when it leaves the sender; 0 unless live media has a target.
usec_t presenter_sender_share(const struct presenter *p);
usec_t presenter_held(const struct presenter *p); // media in the playout buffer
struct presenter_wait {
    usec_t goal;    // buffered media at which playing starts or resumes
    usec_t silence; // since the last packet; -1: none yet
    enum stall_cause cause;
};
struct presenter_wait presenter_waiting(const struct presenter *p, usec_t now);
uint64_t presenter_decoded(const struct presenter *p); // pictures that the decoder gave
struct picture *
presenter_last_shown(const struct presenter *p); // borrowed until the next call; NULL: none yet
// Returns the media time of frame `number`.
usec_t presenter_media_time(const struct presenter *p, int64_t number);
int64_t presenter_arrived(const struct presenter *p); // the newest frame; -1: none yet
int presenter_level_shown(const struct presenter *p); // -1: none yet

#ifdef __cplusplus
}
#endif
#endif
