// SPDX-License-Identifier: GPL-2.0-or-later
// The viewing of one connection's video, without threads, decoder and clock: packets and whole
// frames in, frames to decode and show out. It wires the frame history, the reference tracker, the
// playout buffer, the latency control and the judges of stalls and freezes together; all decisions
// are theirs. What happens is emitted as events (viewing_event.h).
//
// weir-play, the simulator and the unit tests build this object.
//
// Use: one input, then video_pipeline_poll until it returns false, then sleep until
// video_pipeline_next_timeout. Each frame that poll hands out with `show` is reported back once:
// shown, not shown, or undecoded. Events of one input are emitted in the order of their facts; the
// sink must not call back into the pipeline.
//
// Pure, not thread-safe.
#ifndef WEIR_STREAM_VIDEO_VIDEO_PIPELINE_H
#define WEIR_STREAM_VIDEO_VIDEO_PIPELINE_H

#include "common/base/decls.h"
#include "stream/latency/latency_control.h"
#include "stream/playout/playout.h"
#include "stream/qoe/viewing_event.h"
#include "stream/receive/clock_sync.h"

DECLS_BEGIN

struct video_pipeline_config {
    const struct ladder *ladder;    // borrowed for the pipeline's life, as are the next two
    const struct clock_sync *clock; // of the sender's wall clock
    struct viewing_sink sink;
    int level;    // to begin with; -1: not known, the first that arrives is emitted
    bool at_once; // of playout.h, as are these
    usec_t start_threshold;
    usec_t resume_threshold;
    usec_t decode_lead;
    bool stamped;
    bool follows; // the clock follows the media, and moves with a stall, though it is live
    bool reorders;
    bool waits;
    bool live;      // media that does not wait for its viewer
    bool relayed;   // it comes from a proxy
    bool asks_keys; // poll asks for key frames (reference_tracker.h)
    // The latency is steered, by these of latency_control.h, and a stall does not move the clock
    // (unless it `follows`).
    bool steers;
    enum latency_mode latency;
    usec_t target; // LATENCY_FIXED; else 0
    usec_t start;
    // LATENCY_START and LATENCY_LOW: how long a frame may wait at the sender.
    usec_t sender_share;
};

struct video_pipeline; // opaque

struct video_pipeline *
video_pipeline_new(const struct video_pipeline_config *config); // NULL: no memory
void video_pipeline_free(struct video_pipeline *v); // with the frames held; NULL is fine

// ---- Input. `wall_ahead`: our wall clock minus the clock of `now`.

// A packet of a frame arrived, one that did not arrive before, before the frame that it completes.
void video_pipeline_packet(struct video_pipeline *v, const struct rtp_packet *p, int64_t ext_seq,
                           usec_t arrived);
// A frame became whole; of a picture with several sizes, one of them. Takes `f`. 0; what
// playout_push returns when it refuses the frame.
int video_pipeline_push(struct video_pipeline *v, struct received_frame *f, usec_t wall_ahead,
                        usec_t now);
// The audio needs a clock that is this far behind at least: now - the media time due now
// (LATENCY_AUTO heeds it); USEC_NEVER: there is none.
void video_pipeline_set_audio(struct video_pipeline *v, usec_t line);
void video_pipeline_nacked(struct video_pipeline *v, usec_t now); // lost packets were NACKed
// As playout_set_missing.
void video_pipeline_set_missing(struct video_pipeline *v, int64_t seq);
void video_pipeline_end(struct video_pipeline *v, usec_t now); // no more frames arrive
// As playout_set_thresholds.
void video_pipeline_set_thresholds(struct video_pipeline *v, usec_t start, usec_t resume);
void video_pipeline_set_rtt(struct video_pipeline *v, usec_t rtt);
// Lost packets are sent again, and arrive `round` later than a first transmission; 0: they are not.
void video_pipeline_set_repair(struct video_pipeline *v, usec_t round);
// As latency_control_set_stream.
void video_pipeline_set_stream(struct video_pipeline *v, bool is_stream);

// By the viewer. After a pause live media continues with what arrives now, as its sender has left
// out the frames of the pause; files, and media that ended in the pause, continue with the held
// frames.
void video_pipeline_pause(struct video_pipeline *v, usec_t now);
void video_pipeline_resume(struct video_pipeline *v, usec_t now);
// As playout_seek.
void video_pipeline_seek(struct video_pipeline *v, int64_t first, int64_t show, bool at_once,
                         usec_t now);
// As playout_set_scale; call it before video_pipeline_seek.
void video_pipeline_set_scale(struct video_pipeline *v, double pace, usec_t now);
// The viewer's speed of playing stored media at scale 1, > 0: no frame is left out.
void video_pipeline_set_speed(struct video_pipeline *v, double speed, usec_t now);
// The viewing is over: passed-over frames count as lost, and poll returns nothing more. Reports
// of frames that were handed out are still taken.
void video_pipeline_stop(struct video_pipeline *v, usec_t now);

// ---- Output

enum video_output_kind {
    VIDEO_DECODE,  // `frame`
    VIDEO_ASK_KEY, // the sender is to be asked for a key frame
};

struct video_output {
    enum video_output_kind kind;
    struct received_frame *frame; // the caller's from now on; the frame it depends on was decoded.
                                  // Its upper ones (received_frame.upper) follow; the last is shown
    int level;                    // that the viewer is at with this frame; -1 without levels
    bool show;                    // at `show_at`, never before now; false: decode only
    usec_t show_at;
};

bool video_pipeline_poll(struct video_pipeline *v, struct video_output *out, usec_t now);
usec_t video_pipeline_next_timeout(const struct video_pipeline *v);

// ---- What became of the frames handed out

struct video_shown {
    int64_t number;
    int level;
    size_t bytes;
    usec_t capture_wall; // 0: unknown
    usec_t last_arrived;
    usec_t handed_over; // to the decoder
    usec_t decode_time;
    usec_t decoded_at;
    usec_t show_at;
    usec_t shown_at;
};

void video_pipeline_shown(struct video_pipeline *v, const struct video_shown *s, usec_t wall_ahead,
                          usec_t now);
// Decoded, and not shown: FRAME_END_LATE, _SLOW or _UNSEEN.
void video_pipeline_not_shown(struct video_pipeline *v, int64_t number, enum frame_end end,
                              usec_t now);
// Handed out, but not decoded: FRAME_END_FAILED or _SLOW. `show`: the value it was handed out with.
void video_pipeline_undecoded(struct video_pipeline *v, int size_id, int64_t number, bool show,
                              enum frame_end end, usec_t now);

// ---- State

// Everything was handed out after video_pipeline_end.
bool video_pipeline_is_ending(const struct video_pipeline *v);
bool video_pipeline_is_stopped(const struct video_pipeline *v);
const struct playout *video_pipeline_playout(const struct video_pipeline *v);
double video_pipeline_speed(const struct video_pipeline *v); // of playing, against the sender's
// The wait from capture to shown that is aimed at now; 0: not known yet, or nothing is steered.
usec_t video_pipeline_target(const struct video_pipeline *v);
// LATENCY_AUTO and LATENCY_FIXED: how long a frame may wait at the sender; else 0.
usec_t video_pipeline_sender_share(const struct video_pipeline *v);
// How long a packet that is missing now is of use: until its frame is due.
usec_t video_pipeline_repair_time(const struct video_pipeline *v);
usec_t video_pipeline_silence(const struct video_pipeline *v, usec_t now);   // -1: no packet yet
enum stall_cause video_pipeline_stall_cause(const struct video_pipeline *v); // of the last stall
// What became of the frames so far.
const struct frame_totals *video_pipeline_totals(const struct video_pipeline *v);
// The sender's machine does not keep up with encoding, or did not just now (made_ext).
bool video_pipeline_sender_is_slow(const struct video_pipeline *v);
int64_t video_pipeline_arrived(const struct video_pipeline *v); // the newest frame; -1: none yet

DECLS_END
#endif
