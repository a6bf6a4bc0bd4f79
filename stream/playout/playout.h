// SPDX-License-Identifier: GPL-2.0-or-later
// The playout buffer: whole frames in, in any order; what to decode and when to show it out.
//
// The law it keeps. The media time of frame n is pts(n) = usec_of_frames(n, source fps); of a
// third-party stream (`stamped`), its RTP time stamp. There a frame leaves early enough for the
// frames held after it that are shown before it (B frames).
//
// BUFFERING until the media held (from the first key frame to the newest, one interval included)
// reaches `start_threshold`, or the stream ended, or, in low latency, a key frame is there. Then
// the media clock is anchored: the first frame is due now, due(n) = anchor + pts(n) at speed 1
// (media_clock.h).
//
// PLAYING: frames leave in ascending order, `decode_lead` before they are due, to be shown at
// due(n). A frame that the level should have (level_has_frame) may be missing when it is due. If a
// later frame is held, playout passes over the missing one, which is then LATE or LOST
// (missed_frames.h). If no later frame is held, the buffer ran empty. Frames arrive one interval
// apart, so a frame that arrives within one interval (at most FILM_CLOCK_MAX_GRACE) of its due time
// is still shown, at once, and the clock does not move. After that time
//
// REBUFFERING begins, dated from the due time. The last picture stays. It ends when
// `resume_threshold` of media is held, or the stream ended; the first frame held is then due now,
// so the clock is shifted by the stall.
//
// Media that waits (`waits`: a film) passes over no frame that may still come: playing rebuffers
// instead, as if the buffer had run empty. A frame may come while a packet is missing that left
// before a later frame, and is requested (playout_set_missing), or while no frame arrived that is
// decoded after it. So what the sender left out is not waited for, nor what is not requested. A
// frame that cannot be decoded without such a packet waits, too, and playing begins with the frame
// that the sender began with.
//
// ENDED: the stream ended, nothing is held, and the last picture had its interval.
//
// Live media keeps its clock (live_clock): a late frame does not move it, nor does a stall. A frame
// that comes after its due time is shown at once, so what a stall held up is shown as fast as it is
// decoded, until the frames are on time again. A missing frame is passed over when it is due and
// the next one held has to be decoded, if any held frame can be decoded without it. Otherwise
// nothing could be shown, and playout waits up to LIVE_CLOCK_REPAIR for it, which the sender may
// send again. So do the frames of a new size for its key frame. Rebuffering begins when no frame is
// held for max(3 frame intervals, 100 ms) after the next one is due; it is dated from that due time
// and lasts until the next frame. The owner moves the clock (playout_postpone, playout_skip). Low
// latency is live media without a clock: every frame is due when it is whole, and the next one is
// expected one interval after the last one left. A picture that freezes because the arriving frames
// depend on lost ones is no rebuffering: the buffer is not empty. Such frames leave in their turn
// and count as undecodable.
//
// The media clock runs at a speed of its own near 1 (playout_set_speed), and jumps forward to a
// frame that is held (playout_skip): whole frames in front of it come out as SKIPPED, or, if it may
// depend on them, as DECODE_ONLY with `skipped`; those that are missing as LOST or LATE. Low
// latency knows neither.
//
// A LATE frame is still decoded (DECODE_ONLY) if later frames may depend on it and none of them was
// decoded yet.
//
// Level switches: level_schedule.h says which level a frame is of. From a released key frame on,
// frames of other sizes are dropped until they have a key frame of their own, so one decoder is
// enough. A key frame of another size whose number was released already (and what follows it, up
// to that number) is decoded, not shown; but one before the frame that the size followed began with
// comes from a size that was left, and is dropped.
//
// Bounds: those of held_frames.h, and PLAYOUT_MAX_AHEAD of media time from the current
// position. When the buffer is full, the frame with the highest number (needed last) is dropped, be
// it held or the new one, and playing begins whatever the threshold. A frame whose number is
// further than that from all held frames is refused. After PLAYOUT_RESYNC such frames near each
// other, the last one a key frame, playout believes them: it drops the held frames, buffers, and
// continues there (no frame between counts as lost).
//
// Three parts. The buffer (playout_buffer.h) knows which frames there are, which can be decoded and
// which may still come. A clock (play_clock.h), chosen once, says the next step: film_clock as
// written for PLAYING and REBUFFERING, live_clock as for live media, immediate_clock as for low
// latency. This unit takes the steps, begins, seeks, pauses and skips.
//
// Not thread-safe. Use: feed one input, then poll until NONE, then sleep until
// playout_next_timeout.
#ifndef WEIR_STREAM_PLAYOUT_PLAYOUT_H
#define WEIR_STREAM_PLAYOUT_PLAYOUT_H

#include "common/base/decls.h"
#include "common/base/lateness.h"
#include "stream/playout/play_clock.h"

DECLS_BEGIN

#define PLAYOUT_DECODE_LEAD (60 * USEC_PER_MSEC)

struct playout_config {
    const struct ladder *ladder; // borrowed for the playout's life; valid. level_count == 0: every
                                 // number is expected
    struct reference_tracker *tracker; // borrowed for the playout's life; NULL: all is decodable
    int level;                         // initial level; ignored without levels
    usec_t start_threshold;            // media to hold before playing, >= 0
    usec_t resume_threshold;           // the same after the buffer ran empty
    usec_t decode_lead;                // 0 .. 1 s; PLAYOUT_DECODE_LEAD is the usual
    bool at_once; // as in playout_seek: the first frame is shown when it is held, whatever
                  // the threshold
    const struct play_clock_ops *clock; // static; NULL: film_clock
    bool stamped; // frames have the time of their RTP time stamps, which need not ascend
    bool
        reorders; // frames come in the order of decoding (received_frame_slot); of film_clock alone
    bool waits;   // as above; of film_clock alone
};

enum playout_mode { PLAYOUT_BUFFERING, PLAYOUT_PLAYING, PLAYOUT_REBUFFERING, PLAYOUT_ENDED };

enum playout_kind {
    PLAYOUT_NONE,  // nothing more until the next input or playout_next_timeout
    PLAYOUT_START, // `at`: buffering is over, the media clock runs (once, and once after each
                   // flush)
    PLAYOUT_DECODE_AND_SHOW, // `frame`, `level`, `show_at` (never before now)
    PLAYOUT_DECODE_ONLY,     // `frame`, `level`: later frames depend on it; never show it
    PLAYOUT_LOST,            // `number`: never became whole
    PLAYOUT_LATE,            // `number`: became whole after its time
    PLAYOUT_SKIPPED,         // `number`: was whole, and left out by playout_skip
    PLAYOUT_STALL_BEGIN,     // `at`: may lie a little in the past, never before an earlier action's
                             // time
    PLAYOUT_STALL_END,       // `at`, `stalled`: how long, pauses not counted
    PLAYOUT_ENDED_ACTION,    // everything was handed out; nothing follows until a flush
};

struct playout_action {
    enum playout_kind kind;
    struct received_frame *frame; // the caller's from now on
    int64_t number;               // of the frame, for all kinds that have one; else -1
    int level;                    // that the viewer is at with this frame; -1 without levels
    usec_t show_at;
    usec_t at;
    usec_t stalled;
    bool sound;   // of a frame: it can be decoded, and counts as decoded (reference_tracker.h); the
                  // frames above it (`upper`) are the caller's to ask about
    bool skipped; // DECODE_ONLY: by playout_skip; no other action tells of the frame
};

// Of a cumulative ladder, a frame is a picture: what is written here of frames is of those of size
// 0. The larger sizes wait in held_layers.h and are handed out with their picture
// (received_frame.upper), as far as they arrived by then.
struct playout; // opaque

struct playout *playout_new(const struct playout_config *config); // NULL: no memory
void playout_free(struct playout *p); // with the frames held; NULL is fine

// Takes over `f` in every case, and sets its `pts`. 0: held, or its lateness is noted. Otherwise it
// was freed: ERR_MALFORMED (size_id, number or depends_on cannot be); ERR_RANGE (too far away,
// released before, or a duplicate); ERR_FULL (see above). The tracker gets all
// but the malformed ones.
int playout_push(struct playout *p, struct received_frame *f, usec_t now);

// Fills *out with the next thing to do; false when that is NONE.
bool playout_poll(struct playout *p, struct playout_action *out, usec_t now);
// When to poll again if nothing is fed before. USEC_NEVER: only inputs matter.
usec_t playout_next_timeout(const struct playout *p);

// The first packet that is missing and requested: its extended sequence number, as
// received_frame.first_seq has it; INT64_MAX, as at first: none. Call it before the push of a frame
// that a packet completed; poll after it.
void playout_set_missing(struct playout *p, int64_t seq);

// No frame comes after those that came (RTCP BYE, end of stream).
void playout_end(struct playout *p, usec_t now);
// The user's pause: the media clock stops; not rebuffering. Pictures handed out before keep their
// show_at; shift it by the length of the pause or show them at once. Both are idempotent.
void playout_pause(struct playout *p, usec_t now);
void playout_resume(struct playout *p, usec_t now);
// A seek, or another source: drops the held frames and buffers again. Frames below `from` are
// refused from then on (0: none). Passed-over frames that are undecided come out as LOST; a stall
// ends.
void playout_flush(struct playout *p, int64_t from, usec_t now);
// The same, but frames from `first` on that are held stay; those below `show` only serve to decode
// it. `at_once`: playing begins as soon as frame `show` or a later one is held, else at the
// threshold; until then the first key frame from `first` on is shown. In a pause it is left for
// that one frame.
void playout_seek(struct playout *p, int64_t first, int64_t show, bool at_once, usec_t now);
// The scale of the play without its sign (RFC 2326, 12.34); call it before playout_seek. Unless it
// is 1, the sender chooses the frames that it sends: none is missed, none is late (the clock waits
// for it), and the buffer is never empty.
void playout_set_scale(struct playout *p, double pace, usec_t now);
// Returns how long before its time picture `number` was shown at `at`; 0 unless it is the first one
// after a seek or start `at_once`.
usec_t playout_early(const struct playout *p, int64_t number, usec_t at);
// Other thresholds from now on, e.g. when the mode of adaptation changes.
void playout_set_thresholds(struct playout *p, usec_t start, usec_t resume);

// Media per time from now on, parts per million of the sender's own; > 0.
void playout_set_speed(struct playout *p, int32_t speed_ppm, usec_t now);
// Leaves out up to `most` of media that is held, as far as nothing is missing (with `reorders`: up
// to a key frame), and continues there instead of at the next frame. Returns the media time left
// out; 0: there is no such frame, or the mode is not PLAYING.
usec_t playout_skip(struct playout *p, usec_t most);
// Moves the clock: all is due `by` later; `by` < 0: earlier, at most half a frame interval at a
// time, as frames that were handed out keep their time.
void playout_postpone(struct playout *p, usec_t by);
// The media time of frame `number`, and the media time that is due now (while PLAYING).
usec_t playout_pts(const struct playout *p, int64_t number);
usec_t playout_position(const struct playout *p, usec_t now);
usec_t playout_interval(const struct playout *p); // of the source's frames, as described
// When frame `number` is due (while PLAYING).
usec_t playout_due(const struct playout *p, int64_t number);
// Returns true if this machine was late when frame `number` was due or had to arrive at last, or is
// late now: the clock may have moved meanwhile.
bool playout_was_late(const struct playout *p, const struct lateness *own, int64_t number);

// The media clock, which runs through a stall if live; NULL: it is stopped, or there is none.
const struct media_clock *playout_clock(const struct playout *p);

enum playout_mode playout_mode(const struct playout *p);
bool playout_is_scaled(const struct playout *p); // the scale is not 1
bool playout_paused(const struct playout *p);    // the media clock stands
// Returns true if a seek within a pause waits for its one frame. The clock runs until that frame is
// handed out, but to the viewer it is a pause: playout_resume ends it.
bool playout_holds(const struct playout *p);
// Media time held: from the first frame held (while BUFFERING: the first key frame) to the newest,
// one interval included.
usec_t playout_held(const struct playout *p);
// The media time that must be held before playing begins or continues.
usec_t playout_goal(const struct playout *p);
size_t playout_held_bytes(const struct playout *p);
int playout_held_frames(const struct playout *p);
// The level at frame `number`, as far as it is known; -1 without levels.
int playout_level_at(const struct playout *p, int64_t number);
// The first number that was neither handed out nor passed over, of those that the level has.
int64_t playout_awaited(const struct playout *p);
// Numbers that the level has from `from` to before `to`; 0 when these are too far apart to be of
// one stretch of media.
uint64_t playout_expected(const struct playout *p, int64_t from, int64_t to);

DECLS_END
#endif
