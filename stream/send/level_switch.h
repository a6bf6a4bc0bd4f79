// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the coded frames that one viewer is sent: those of its level's size, up to its level's
// temporal layer.
//
//   The law.
//     - Another size begins with its next key frame; until then the previous size continues,
//       and both are watched.
//     - Layers more begin with a frame of the base layer, layers fewer with any frame; if frames
//       come in decoding order, both begin with a frame of the base layer.
//     - Nothing is sent before the first key frame. After a pause a size continues without one
//       if the viewer has all of its frames up to there.
//     - Frames from before the last seek are not sent.
//
// Pure.
#ifndef WEIR_STREAM_SEND_LEVEL_SWITCH_H
#define WEIR_STREAM_SEND_LEVEL_SWITCH_H

#include "common/base/level.h"
#include "media/coded/coded_frame.h"

#ifdef __cplusplus
extern "C" {
#endif

struct level_switch {
    const struct ladder *ladder; // borrowed
    bool reorders;               // of the media (media_feed.h)
    int level;                   // requested level
    int sent_level;              // of size_id; differs from `level` until its key frame comes
    int size_id;                 // sent now
    int wanted_size;             // of `level`; differs from size_id until its key frame comes
    int top;                     // the highest temporal layer sent now
    int64_t from;                // frames below it are from before the last seek
    int resumable;               // the size that the viewer has all of up to here; -1: none
    bool waiting_key;            // nothing of size_id decodes for this viewer yet
    int64_t newest;              // number of the newest frame of size_id that came
    uint64_t uncoded;            // frames of the level that the encoder left out, being too slow
    uint64_t thinned;            // frames of the level above the top layer that was allowed
};

void level_switch_init(struct level_switch *l, const struct ladder *ladder, int level,
                       bool reorders);
void level_switch_set(struct level_switch *l, int level);
// Frames come from now on.
void level_switch_begin(struct level_switch *l);
// No more come for now. `whole`: the viewer got all that came, and nothing comes meanwhile.
void level_switch_pause(struct level_switch *l, bool whole);
void level_switch_go_to(struct level_switch *l, int64_t from);

enum level_verdict {
    LEVEL_OTHER,     // a frame of another size, or place
    LEVEL_LACKS_KEY, // the viewer cannot decode it: a key frame has to come
    LEVEL_TAKEN,
    LEVEL_SWITCHED, // the wanted size begins with it: no frame of the old one is sent any more
};
// A frame came.
enum level_verdict level_switch_take(struct level_switch *l, const struct coded_frame *f);
// Returns true if the frame taken is to be sent. `top`: the highest temporal layer that may be now.
bool level_switch_sends(struct level_switch *l, const struct coded_frame *f, int top);

#ifdef __cplusplus
}
#endif
#endif
