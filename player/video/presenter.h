// SPDX-License-Identifier: GPL-2.0-or-later
// Whole frames in, pictures on the display out: gives the video pipeline (video_pipeline.h) its
// timer, its decoder and its clock, and its events to trace, log and session. Loop thread only.
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
    int level;              // to begin with; -1: not known, the first that comes is told
    unsigned session;       // marks the frames that are handed out
    play_frame_fn *on_done; // any thread, with done_ctx: brings the frame to presenter_done
    void *done_ctx;
    void (*ask_key)(void *ctx, usec_t now);             // PLI is wanted
    void (*on_level)(void *ctx, int level, usec_t now); // another one comes
    void (*on_empty)(void *ctx, usec_t now);            // a stall begins
    void (*on_started)(void *ctx, usec_t at);           // buffering is over
    // Whether there is playing, and the clock that it goes by; NULL: none, frames are shown as they
    // come.
    void (*on_clock)(void *ctx, bool playing, const struct media_clock *clock);
    // A frame of media time `pts` was shown.
    void (*on_picture)(void *ctx, const struct play_frame *f, usec_t pts);
    void (*on_ended)(void *ctx, usec_t now); // everything was shown, after presenter_end
    void *ctx;
};

struct presenter;

struct presenter *presenter_new(const struct presenter_config *config); // NULL: logged
// Close the show queue before: the decoder may wait there. NULL is fine.
void presenter_free(struct presenter *p);

// A packet of a frame came, before the frame that it may complete.
void presenter_packet(struct presenter *p, const struct rtp_packet *packet, int64_t ext_seq,
                      usec_t arrived);
void presenter_push(struct presenter *p, struct received_frame *f, usec_t now); // takes the frame
void presenter_done(struct presenter *p, struct play_frame *f, usec_t now);     // takes the frame
void presenter_end(struct presenter *p, usec_t now); // no more frames come
// Lost packets were NACKed: the sender repairs what rested on them.
void presenter_nacked(struct presenter *p, usec_t now);
// The viewing is over: nothing more is handed out, what was passed over counts as lost; reports of
// what was handed out are still taken.
void presenter_stop(struct presenter *p, usec_t now);
void presenter_pause(struct presenter *p, usec_t now);
// Live media go on with what comes now: the sender has left out what passed meanwhile. Files, and
// what ended in the pause, go on with what is held.
void presenter_resume(struct presenter *p, usec_t now);
// Goes on at another place of the media: with frame `show`, as playout_seek says. In a pause that
// frame is shown, and the pause goes on.
void presenter_seek(struct presenter *p, int64_t first, int64_t show, bool at_once, usec_t now);
void presenter_set_rtt(struct presenter *p, usec_t rtt);

enum playout_mode presenter_mode(const struct presenter *p);
bool presenter_paused(const struct presenter *p);
double presenter_speed(const struct presenter *p); // of playing, against the sender's
// Of live media with a target: how old a frame may be when it leaves the sender; else 0.
usec_t presenter_sender_share(const struct presenter *p);
usec_t presenter_held(const struct presenter *p);
struct presenter_wait {
    usec_t goal;    // media to be held, for playing to begin or go on
    usec_t silence; // since the last packet; -1: none yet
    enum stall_cause cause;
};
struct presenter_wait presenter_waiting(const struct presenter *p, usec_t now);
uint64_t presenter_decoded(const struct presenter *p); // pictures that the decoder gave
struct picture *
presenter_last_shown(const struct presenter *p); // borrowed until the next call; NULL: none yet
// When a frame is to be shown, in the media's own time.
usec_t presenter_media_time(const struct presenter *p, int64_t number);
int64_t presenter_arrived(const struct presenter *p); // the newest frame; -1: none yet
int presenter_level_shown(const struct presenter *p); // -1: none yet

#ifdef __cplusplus
}
#endif
#endif
