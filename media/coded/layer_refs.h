// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the reference of each frame: hierarchical P frames with repair after loss. The encoder
// has only one control, "forget every frame from stamp s on, for good", and its reference buffer is
// a sliding window.
//
// The rule: a frame of temporal id t references the newest frame since the last key frame that
//   - the encoder still holds,
//   - no viewer lacks, and
//   - has a temporal id below t (for t = 0: the id 0).
// The encoder forgets every frame newer than that reference. No later frame misses them: a later
// frame of id u references an id below u. A forgotten frame's id is at least t, so if it is below
// u, the frame encoded now, of id t, qualifies as well and is newer.
//
// Stamps count the encoder's calls. A frame that was encoded, discarded and encoded again smaller
// has two stamps and two places in the window; to a decoder, the first looks like a dropped frame.
#ifndef WEIR_MEDIA_CODED_LAYER_REFS_H
#define WEIR_MEDIA_CODED_LAYER_REFS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    LAYER_REFS_HISTORY = 256, // frames since the key frame whose dependencies are remembered
    LAYER_REFS_MAX_DPB = 16,  // H.264's limit
};

struct layer_ref {
    int64_t number;     // source frame number
    int64_t stamp;      // stamp of the call that encoded it
    int64_t depends_on; // frame number, -1 = none
    int temporal_id;
    bool forgotten; // the encoder no longer holds it
    bool lost;      // a viewer lacks it or a frame that it depends on
};

struct layer_refs {
    int layers;
    int dpb;            // size of the encoder's window in frames
    int64_t stamp;      // stamp of the next call
    int64_t key_number; // number of the last key frame; -1 none yet
    int discarded;      // calls with a discarded result since the newest T0 frame
    int count;          // frames since the key frame, including the key frame
    struct layer_ref frames[LAYER_REFS_HISTORY]; // ring: frame i is at i mod LAYER_REFS_HISTORY
};

struct layer_choice {
    bool key;            // there is no frame to reference
    int64_t depends_on;  // number of the referenced frame; -1 with `key`
    int64_t stamp;       // stamp of the referenced frame; -1 with `key`
    int64_t forget_from; // the encoder must forget from this stamp on; -1 = nothing to forget
};

enum layer_loss { LAYER_LOSS_HARMLESS, LAYER_LOSS_REPAIRED, LAYER_LOSS_NEEDS_KEY };

// `layers`: 1 .. LEVEL_MAX_LAYERS. `dpb`: 2^(layers - 1) .. LAYER_REFS_MAX_DPB.
void layer_refs_init(struct layer_refs *r, int layers, int dpb);

// Chooses the reference of the next frame, of temporal id `temporal_id`. `key` for a frame above T0
// means that it and all frames before the next T0 frame cannot be encoded. That happens before the
// first key frame, and after T0 frames were skipped for longer than the window. A frame that a
// viewer lacks is chosen only above T0, if there is no other.
struct layer_choice layer_refs_choose(const struct layer_refs *r, int temporal_id);

// The encoder encoded frame `number` according to `choice`, or as a key frame, and the result is
// kept.
void layer_refs_kept(struct layer_refs *r, int64_t number, int temporal_id,
                     const struct layer_choice *choice);
// The encoder encoded a frame according to `choice`, and the result is discarded.
void layer_refs_discarded(struct layer_refs *r, const struct layer_choice *choice);
// Returns true if one more result may be discarded: the window still holds the references of this
// frame and of later ones.
bool layer_refs_may_discard(const struct layer_refs *r, const struct layer_choice *choice);

// Records that a viewer lacks frame `number`. Returns LAYER_LOSS_HARMLESS if no later frame would
// have depended on it.
enum layer_loss layer_refs_lost(struct layer_refs *r, int64_t number);
// Returns the result that layer_refs_lost would have, without recording the loss.
enum layer_loss layer_refs_loss(const struct layer_refs *r, int64_t number);

DECLS_END
#endif
