// SPDX-License-Identifier: GPL-2.0-or-later
// Adapts what a viewer is sent to its network: the level, its encoder's rate, and, just after a
// fall of the rate, how many temporal layers.
//
//   The law. The target is that of rate_estimator.h. The level is the highest one whose rate is
//   below the target.
//     - A viewer that is alone controls its size's encoder, which then codes at exactly the target.
//       The encoder may go below the level's own rate while that gives the better picture: down to
//       0.3 of it where the next lower level is smaller, to 0.4 where that has fewer frames, to 0.7
//       at the lowest level, or to 0.25 if the viewer keeps a larger size. The viewer returns to
//       the level from 0.45 and 0.55 of its rate on.
//     - A size that passes (level.h) has its source's rate: its level is taken as if other viewers
//       shared it, and of the sizes below none is coded at more than the ladder's rate.
//     - Viewers that share the encoders get levels at the ladder's rates. They switch to a larger
//       size only if the target exceeds its rate by 5 %, as its first frame is a key frame.
//     - Down: at once, but not before a growing queue is gone (rate_estimator.h). Up: to the
//     highest level that fits, when the target has been enough for the
//       next level for 2 s (0.4 s while the capacity is not known).
//     - A frame takes a packet at least. While a window allows fewer than 1.2 packets for each
//     frame,
//       and until it allows 1.5, every other frame is left out where the level below is that of the
//       same size. The level itself stays.
//     - A film keeps all its frames: none is left out, and no level below the cap has fewer than
//     the
//       cap, or than the smaller size that has most. The rate goes as low as that of the ladder's
//       lowest level.
//     - Media that does not use its rate, because it comes in steps or the picture does not change,
//       goes up by trial. If it has to come down within 5 s, that level is not tried for 5 s; each
//       further failure doubles this time, up to 80 s.
//     - A limit from outside (the viewer's side knows a narrower path behind its own) bounds the
//       target, and with it level and encoder. A target that a limit kept down rises with it.
//     - When the rate was too much, the top layers are left out from the next frame on, until the
//       coded rate is the requested one: an encoder responds within some frames (notably its rate's
//       bucket, layer_rate.h).
//
// Pure.
#ifndef WEIR_STREAM_ADAPT_ADAPTATION_H
#define WEIR_STREAM_ADAPT_ADAPTATION_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "stream/adapt/rate_estimator.h"

DECLS_BEGIN

struct adaptation {
    const struct ladder *ladder; // borrowed
    struct rate_estimator rate;
    bool keeps_size;   // the viewer cannot switch sizes
    bool keeps_frames; // set by adaptation_keep_frames
    double frames_ps;  // if it keeps them: at least so many
    double beside_bps; // part of the target for the audio, repair and headers
    double limit_bps;  // from outside; 0: none
    int cap;           // the highest level
    int level;
    bool few_packets; // the window allows fewer packets than the level has frames
    int encoder_bps;  // rate of the level's size, all layers; 0: the ladder's rate
    int top;          // the highest temporal layer that may be sent now
    usec_t top_until;
    usec_t above_since; // since when the target exceeds the next level; USEC_NEVER: it does not
    usec_t tried_at;    // time of the last trial; USEC_NEVER: none is undecided
    int tried;          // the level of that trial
    int failed;         // the level of the last failed trial
    usec_t wait_until;  // until then no trial of `failed` or a higher level
    usec_t patience;    // wait after the next failed trial
    double carried_bps; // adaptation_stats
};

// Begins at the highest level whose rate is below `start_bps`, at most at `cap`. The ceiling is the
// rate of `cap`.
void adaptation_init(struct adaptation *a, const struct ladder *ladder, int cap, double start_bps,
                     bool keeps_size);
void adaptation_set_cap(struct adaptation *a, int cap);
// The media is a film. Call it after adaptation_init.
void adaptation_keep_frames(struct adaptation *a);
// Sets the part of the rate for what is sent beside the video, which is added to the ceiling.
void adaptation_set_beside(struct adaptation *a, double bps);
// Sets the max rate of all that is sent, audio included; 0: none.
void adaptation_set_limit(struct adaptation *a, double bps);
// Returns the highest level, at most `cap`, whose rate `speed` times and the audio's are within the
// limit; the lowest that this viewer may have, if none is.
int adaptation_level_within(const struct adaptation *a, double speed);
// Where no rate is measured: chooses level and encoder's rate as if the limit were the measured
// target, by the shares above and at once. Without a limit: the cap, at the ladder's rate. Call it
// when the limit changes, and while it is confirmed, as `alone` may change.
void adaptation_keep_limit(struct adaptation *a, bool alone);
// About every frame. `alone`: no other viewer shares the encoders. Returns true if something
// changed.
bool adaptation_update(struct adaptation *a, const struct rate_estimator_sample *s, bool alone,
                       usec_t now);

// Returns true if the target is the highest possible, and no queue begins to grow. Then a reading a
// frame is enough.
bool adaptation_is_calm(const struct adaptation *a);

// Returns the level to send now: `level`, or with half its frames while the window allows few
// packets.
int adaptation_level(const struct adaptation *a);

// NaN where the viewer does not follow the network.
struct adaptation_stats {
    double target_bps, delivered_bps, capacity_bps, encoder_bps;
    double delay_ms, rise_ms;
    int level; // adaptation_level
    // What the network leaves, at the last update: rate_estimator_carried, with its dips if an
    // encoder can follow them. Levels do not: each step of theirs lasts.
    double carried_bps;
};

struct adaptation_stats adaptation_read(const struct adaptation *a);

DECLS_END
#endif
