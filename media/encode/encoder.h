// SPDX-License-Identifier: GPL-2.0-or-later
// The encoder of one size: libx264 without delay, with hierarchical-P temporal layers. One thread
// at a time.
//
// x264 has no temporal layers. Before each frame, x264_encoder_invalidate_reference makes it forget
// every frame after the newest one of a lower layer (for T0: the newest of T0). So each prefix of
// layers decodes exactly. The same call repairs a loss without an IDR frame.
//
// Rate: over any 2 s a level's bytes stay within 10 % of its bitrate in the ladder; layer_rate.h
// describes how. A frame that is too large is encoded again at once, so a call occasionally takes
// twice its usual time.
#ifndef WEIR_MEDIA_ENCODE_ENCODER_H
#define WEIR_MEDIA_ENCODE_ENCODER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/coded/layer_refs.h"
#include "media/picture/picture.h"

DECLS_BEGIN

struct encoder; // opaque

// Makes the encoder of size `size_id` of `ladder`. Returns NULL on failure, which it logs.
struct encoder *encoder_new(const struct ladder *ladder, int size_id);
void encoder_free(struct encoder *e);

// Writes the parameter sets in the format of sprop-parameter-sets (base64, comma) and the
// profile-level-id. Needs no encoded frame. Returns 0 or ERR_FULL.
int encoder_parameter_sets(struct encoder *e, char *sprop, size_t cap, char profile_level_id[8]);

// Encodes source frame `p->number`, which has the size's width and height. The size must have that
// frame (size_index_of_frame >= 0), and it must be later than the last one; the caller may skip
// frames. *out: the coded frame with `captured` and `encode_time` unset; the caller owns the
// reference. Returns 0, ERR_NO_MEMORY, or ERR_IO if x264 failed (logged). Returns 0 with *out ==
// NULL until the first T0 frame, and after T0 frames were skipped for so long (8 encoded frames)
// that there is no reference.
int encoder_encode(struct encoder *e, const struct picture *p, struct coded_frame **out);

// Makes the next T0 frame a key frame, unless there was a key frame after frame `since`, the newest
// frame that the requester cannot decode. since = -1: always.
void encoder_request_key(struct encoder *e, int64_t since);

// Frame `number` did not reach a viewer: no later frame will depend on it or on frames that depend
// on it. Returns 0 if the next frame needs no IDR. Returns ERR_NOT_FOUND if the encoder no longer
// holds an older reference: it then makes a key frame instead.
int encoder_repair(struct encoder *e, int64_t number);

// Returns what the repair of frame `number` would need: nothing, an older reference or a key frame.
enum layer_loss encoder_loss(const struct encoder *e, int64_t number);

// `periodic` (the default): a key frame is made at least every 10 s. Viewers that do not request
// what they lack need it; others are better off without: at a low rate a key frame takes as long as
// five frames.
void encoder_set_periodic_keys(struct encoder *e, bool periodic);

// Sets the target of the size's top level; lower levels keep their proportion. Takes effect with
// the next frame.
void encoder_set_bitrate(struct encoder *e, int bitrate_bps);

DECLS_END
#endif
