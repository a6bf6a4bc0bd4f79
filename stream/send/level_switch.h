// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the coded frames to send to one viewer: those of its level's size, up to its level's
// temporal layer.
//
//   The law.
//     - A switch to another size takes effect at that size's next key frame. Until then the
//       previous size continues, and the sender watches both sizes.
//     - Layers are added at a frame of the base layer, and removed at any frame; if frames arrive
//       in decoding order, removal also waits for a frame of the base layer.
//     - Nothing is sent before the first key frame. After a pause a size continues without a key
//       frame if the viewer has all of its earlier frames.
//     - Frames from before the last seek are not sent. After a seek into the past of live media,
//       which may lack the level's size, the size of its first frame is sent.
//     - A size that passes (level.h) has key frames only where its source has them. A viewer that
//       cannot decode it, as it has just come, has sought or lacks a frame, is sent the next lower
//       level of another size until the next one; a viewer that keeps its size waits.
//     - If the ladder is cumulative, the frames of all sizes up to the level's are sent. Larger
//       sizes join at a picture with which they start anew (coded_frame.starts): its base frame
//       says so, and a viewer that knows the level waits for them. They leave at any picture.
//
//   Relayed frames were selected by their origin. All are sent, from the first key frame on, and
//   tell the level and size that is sent.
//
// Pure.
#ifndef WEIR_STREAM_SEND_LEVEL_SWITCH_H
#define WEIR_STREAM_SEND_LEVEL_SWITCH_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

struct level_switch {
    const struct ladder *ladder; // borrowed
    bool reorders;               // frames arrive in decoding order (media_feed.h)
    bool relays;                 // an origin has selected the frames; set it after the init
    int level;                   // requested level
    int sent_level;              // level sent now; differs from `level` until the key frame of a
                                 // new size arrives
    int size_id;                 // size sent now; `cumulative`: the largest one
    int wanted_size;             // size of `level`; differs from size_id until its key frame
                                 // arrives
    int top;                     // highest temporal layer sent now
    int64_t from;                // number of the first frame after the last seek
    bool any;                    // it may be of any size
    int resumable;               // size of which the viewer has all frames so far; -1: none
    bool waiting_key;            // the viewer cannot decode size_id before a key frame arrives
    int64_t newest;              // number of the newest frame of size_id that arrived;
                                 // `cumulative`: of size 0
    int64_t reference;           // of a size that passes: number of the last reference frame
    bool keeps_size;             // the viewer cannot change the size; set it after the init
    uint64_t uncoded;            // frames of the level that the encoder skipped because it was too
                                 // slow
    uint64_t thinned;            // frames of the level that were not sent because their layer was
                                 // above the allowed one
};

void level_switch_init(struct level_switch *l, const struct ladder *ladder, int level,
                       bool reorders);
void level_switch_set(struct level_switch *l, int level);
// Frames arrive from now on.
void level_switch_begin(struct level_switch *l);
// Frames stop for now. `whole`: the viewer received all frames so far, and the media makes none
// during the pause.
void level_switch_pause(struct level_switch *l, bool whole);
// `any`: frame `from` is a key frame, and its size is sent until one of the level's size arrives.
void level_switch_go_to(struct level_switch *l, int64_t from, bool any);
// The viewer lacks a frame of size_id. If that passes, the sizes to watch may change; a viewer that
// keeps its size is sent its frames still.
void level_switch_lack(struct level_switch *l);

enum level_verdict {
    LEVEL_OTHER,     // a frame of another size, or from before the last seek
    LEVEL_LACKS_KEY, // the viewer cannot decode it before a key frame; the sizes to watch may
                     // change
    LEVEL_TAKEN,
    LEVEL_SWITCHED, // the first frame of the wanted size; no frame of the previous size follows
};
// Judges a frame that arrived.
enum level_verdict level_switch_take(struct level_switch *l, const struct coded_frame *f);
// Call for a frame that was taken. Returns true if it shall be sent. `top`: highest temporal layer
// allowed now.
bool level_switch_sends(struct level_switch *l, const struct coded_frame *f, int top);

DECLS_END
#endif
