// SPDX-License-Identifier: GPL-2.0-or-later
// One size's encoder: libx264 without delay, hierarchical-P temporal layers. One thread at a time.
//
// The layers are made by x264_encoder_invalidate_reference before each frame: the encoder is made
// to forget every frame after the newest one of a lower layer (for T0: the newest of T0), so each
// prefix of layers decodes exactly. The same call repairs after loss without an IDR.
//
// Rate: over any 2 s a level's bytes stay within 10 % of what the ladder says; layer_rate.h says
// how. A frame too large for that is encoded again at once, so a call takes now and then twice its
// usual time.
#ifndef WEIR_MEDIA_ENCODE_ENCODER_H
#define WEIR_MEDIA_ENCODE_ENCODER_H

#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/coded/layer_refs.h"
#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct encoder; // opaque

// For size `size_id` of `ladder`. NULL: logged.
struct encoder *encoder_new(const struct ladder *ladder, int size_id);
void encoder_free(struct encoder *e);

// The parameter sets as sprop-parameter-sets wants them (base64, comma) and the profile-level-id,
// without encoding anything. 0 or ERR_FULL.
int encoder_parameter_sets(struct encoder *e, char *sprop, size_t cap, char profile_level_id[8]);

// Encodes source frame `p->number` (of the size's width and height), which must be one that the
// size has (size_index_of_frame >= 0) and later than the last one; frames may be left out. In front
// of the first frame, and until an IDR position comes, nothing comes out: 0 with *out == NULL; so
// it is when T0 frames were left out for so long (8 frames made) that there is nothing to
// reference. 0, ERR_NO_MEMORY, ERR_IO (x264 failed; logged). *out has one reference, the caller's;
// `captured` and `encode_time` are left 0.
int encoder_encode(struct encoder *e, const struct picture *p, struct coded_frame **out);

// The next frame at an IDR position becomes a key frame, unless one is younger than the picture
// asking for it (`since`: the newest frame number the asker cannot use; -1 = always).
void encoder_request_key(struct encoder *e, int64_t since);

// Frame `number` did not reach a viewer: no later frame may depend on it or on what came after it.
// Returns 0 when the next frame is repaired without an IDR (or the frame was of a layer nothing
// depends on), ERR_NOT_FOUND when it is too old: a key frame was requested instead.
int encoder_repair(struct encoder *e, int64_t number);

// What repairing frame `number` would take: nothing, an older reference, a key frame.
enum layer_loss encoder_loss(const struct encoder *e, int64_t number);

// A new target for the size's top level; lower levels keep their proportion. Takes effect from the
// next frame.
void encoder_set_bitrate(struct encoder *e, int bitrate_bps);

#ifdef __cplusplus
}
#endif
#endif
