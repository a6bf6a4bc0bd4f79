// SPDX-License-Identifier: GPL-2.0-or-later
// What the files playout*.c share; nobody else includes it. playout.c: input and life;
// playout_held.c: the frames held; playout_poll.c: output by the media clock;
// playout_low_latency.c: output without one.
#ifndef WEIR_STREAM_PLAYOUT_PLAYOUT_STATE_H
#define WEIR_STREAM_PLAYOUT_PLAYOUT_STATE_H

#include "stream/playout/level_schedule.h"
#include "stream/playout/media_clock.h"
#include "stream/playout/playout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct held {
    struct received_frame *frame; // owned
    usec_t since;                 // when it came; pauses added
};

enum {
    PLAYOUT_STAMPS = 2 * PLAYOUT_MAX_FRAMES,
    PLAYOUT_REORDER = 17,
    PLAYOUT_MAX_AHEADS = 16,
};

struct missed { // passed over when due, not yet LOST or LATE
    int64_t number;
    usec_t at;
    bool arrived;
};

struct stamp {
    int64_t number; // -1: none
    usec_t pts;
};

struct playout {
    struct playout_config config;
    enum playout_mode mode;
    struct playout_action pending; // kind NONE: nothing
    usec_t wake;
    usec_t last_now;
    bool stream_ended;
    bool end_told;
    bool full; // a frame was dropped for want of room since the last one left
    bool paused;
    bool holds; // the next frame shown is the last one: a seek within a pause
    usec_t paused_at;

    struct held *held; // owned, PLAYOUT_MAX_FRAMES, in the order of decoding
    int held_count;
    size_t held_bytes;

    struct stamp *stamps; // owned, PLAYOUT_STAMPS by number; NULL unless `stamped`
    int64_t last_ticks;   // extended RTP time stamp of the frame that came last
    bool has_ticks;

    int64_t floor; // refused below
    int64_t next; // everything below was handed out, passed over, or not expected; -1 until started
    int ahead_count;
    int64_t ahead[PLAYOUT_MAX_AHEADS]; // handed out before `next` was; ascending
    int64_t show;    // while BUFFERING: where playing begins; -1: at the first key frame
    int64_t hurried; // a frame that is not to wait for its time; -1 none
    bool at_once;    // it is enough that this frame is held
    int64_t newest;  // highest number taken; -1 none
    int64_t decoded; // highest slot handed out as decodable of the size followed
    int size;        // the size followed, -1 none: a key frame is needed
    int64_t size_at; // the key frame that it began with

    struct media_clock clock;
    int64_t skip_to; // what is below is left out; -1: nothing
    usec_t stall_at; // while REBUFFERING; pauses added
    usec_t left_at;  // low latency: when the last frame left to be shown; pauses added
    int64_t left;    // its number

    int64_t far_number; // of the last frame refused for being too far away
    int far_count;      // in a row

    struct level_schedule levels;
    int missed_count;
    int arrived_count;                        // among missed
    bool settle_all;                          // nothing missed can come any more
    struct missed missed[PLAYOUT_MAX_MISSED]; // ascending numbers
};

// ---- playout_held.c

void playout_stamp(struct playout *p, const struct received_frame *f); // if `stamped`
// When the frame at the front is to be decoded, `decode_lead` before this.
usec_t playout_wanted(const struct playout *p);

int64_t playout_next_expected(const struct playout *p, int64_t from);
bool playout_is_ahead(const struct playout *p, int64_t number); // handed out before its turn
void playout_handed(struct playout *p, int64_t number);
int64_t playout_lowest_held(const struct playout *p); // not below `next`; -1: none
// How much later than decoding begins the first frames of a size can be shown.
usec_t playout_reorder_delay(const struct playout *p, int size_id);
struct received_frame *playout_take(struct playout *p, int i); // the caller's
void playout_drop(struct playout *p, int i);
void playout_drop_all(struct playout *p);
// 0, or ERR_RANGE (a duplicate), ERR_FULL; `f` stays the caller's then.
int playout_hold(struct playout *p, struct received_frame *f, usec_t now);
bool playout_is_decodable(const struct playout *p, const struct received_frame *f);
// May a frame whose number was passed already still serve as a reference?
bool playout_is_useful(const struct playout *p, const struct received_frame *f);
// The frame to go next, after dropping what is of no more use in front of it; NULL when nothing is
// held.
const struct received_frame *playout_front(struct playout *p);
int playout_first_key(const struct playout *p);            // its index; held_count: none
usec_t playout_media_from(const struct playout *p, int i); // to the newest held

// ---- playout_poll.c

bool playout_act(struct playout_action *out, enum playout_kind kind, usec_t at); // true
bool playout_wait_until(struct playout *p, usec_t t);                            // false
// What was passed over and is decided now.
bool playout_poll_missed(struct playout *p, struct playout_action *out, usec_t now);
// Passes over `number`. false when what was missed must be polled first.
bool playout_miss(struct playout *p, int64_t number, usec_t now);
bool playout_hand_out(struct playout *p, enum playout_kind kind, usec_t show_at,
                      struct playout_action *out, usec_t now);
bool playout_stall_begin(struct playout *p, usec_t at, struct playout_action *out);
bool playout_stall_end(struct playout *p, struct playout_action *out, usec_t now);
usec_t playout_stalled_until(const struct playout *p, usec_t now);

// ---- playout_low_latency.c

bool playout_poll_low_latency(struct playout *p, struct playout_action *out, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
