// SPDX-License-Identifier: GPL-2.0-or-later
// Which frame the next one references: hierarchical P with repair after loss, for an encoder whose
// only means is "forget every frame from stamp s on, for good" and whose reference buffer is a
// sliding window.
//
// The rule: a frame of temporal id t references the newest frame since the last key frame that the
// encoder still holds, that no viewer lacks, and whose temporal id is below t (for t = 0: is 0).
// Everything newer is forgotten. That is never regretted: what a later frame of id u may reference
// has an id below u; a forgotten frame's id is at least t, and the frame made now, of id t, is
// newer.
//
// Stamps count the encoder's calls: a frame that was encoded and thrown away (to be made again,
// smaller) has a stamp and a place in the window too, and to a decoder looks like one more dropped
// frame.
#ifndef WEIR_MEDIA_CODED_LAYER_REFS_H
#define WEIR_MEDIA_CODED_LAYER_REFS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LAYER_REFS_HISTORY = 256, // frames since the key frame whose dependencies are remembered
    LAYER_REFS_MAX_DPB = 16,  // H.264's limit
};

struct layer_ref {
    int64_t number;     // source frame number
    int64_t stamp;      //
    int64_t depends_on; // frame number, -1 = none
    int temporal_id;
    bool forgotten; // by the encoder
    bool lost;      // a viewer lacks it, or one that it depends on
};

struct layer_refs {
    int layers;
    int dpb;            // frames the encoder's window holds
    int64_t stamp;      // of the next call
    int64_t key_number; // the last key frame; -1 none yet
    int discarded;      // calls since the newest T0 frame whose result was thrown away
    int count;          // frames since the key frame, itself included
    struct layer_ref frames[LAYER_REFS_HISTORY]; // frame i stands at i mod LAYER_REFS_HISTORY
};

struct layer_choice {
    bool key;            // nothing may be referenced
    int64_t depends_on;  // frame number; -1 with `key`
    int64_t stamp;       // of that frame
    int64_t forget_from; // the encoder must forget from this stamp on; -1 = nothing to forget
};

enum layer_loss { LAYER_LOSS_HARMLESS, LAYER_LOSS_REPAIRED, LAYER_LOSS_NEEDS_KEY };

// layers 1 .. LEVEL_MAX_LAYERS; 2^(layers - 1) <= dpb <= LAYER_REFS_MAX_DPB.
void layer_refs_init(struct layer_refs *r, int layers, int dpb);

// What the next frame, of temporal id `temporal_id`, references. `key` for a frame above T0 (before
// the first key frame, or when T0 frames were left out for longer than the window): it cannot be
// made, nothing can before the next T0 frame. A frame that a viewer lacks is chosen only above T0,
// when there is no other.
struct layer_choice layer_refs_choose(const struct layer_refs *r, int temporal_id);

// The encoder was called for frame `number` as `choice` said (or made a key frame of it), and the
// result is kept.
void layer_refs_kept(struct layer_refs *r, int64_t number, int temporal_id,
                     const struct layer_choice *choice);
// The encoder was called and the result is thrown away.
void layer_refs_discarded(struct layer_refs *r, const struct layer_choice *choice);
// May one more result be thrown away without pushing out of the window what this frame or a later
// one references?
bool layer_refs_may_discard(const struct layer_refs *r, const struct layer_choice *choice);

// A viewer lacks frame `number`. HARMLESS: no later frame would have referenced it or one that
// depends on it.
enum layer_loss layer_refs_lost(struct layer_refs *r, int64_t number);
// What layer_refs_lost would return.
enum layer_loss layer_refs_loss(const struct layer_refs *r, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
