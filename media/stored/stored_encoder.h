// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes one size of a stored ladder, group by group: libx264 with B frames and the preset medium,
// without a time limit, or libx265 (stored_x265.h). One thread at a time.
//
// With x264's b-pyramid "strict", no frame of a lower layer references a B frame of a higher one,
// so each prefix of layers decodes exactly. The plan determines each frame's type; x264 does its
// own look-ahead. Each group has an x264 encoder of its own, so groups can be encoded in any order
// and more than once.
#ifndef WEIR_MEDIA_STORED_STORED_ENCODER_H
#define WEIR_MEDIA_STORED_STORED_ENCODER_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"
#include "media/stored/policy/stored_rate.h"

DECLS_BEGIN

enum { STORED_ENCODER_LAYERS = 3 }; // max.: of three B frames, x264 uses one as a reference

struct stored_encoder;

// Borrows `ladder` and `plan`. `codec`: SDP_H264; SDP_HEVC, with at most STORED_X265_LAYERS layers.
// Returns NULL on failure, which it logs.
struct stored_encoder *stored_encoder_new(const struct ladder *ladder, int size_id,
                                          const struct stored_plan *plan, enum sdp_codec codec);
void stored_encoder_free(struct stored_encoder *e); // NULL is fine
// Encodes a group. `pictures` and `out` are indexed by place; only places in the shape are used.
// The pictures have the size's width and height. `rate`: the state after a nearby group, updated.
// The frames in `out` have data, nals, bytes, temporal_id and key set; the caller owns them.
// Returns 0, ERR_NO_MEMORY or ERR_IO (logged); after an error `out` is empty.
int stored_encoder_run(struct stored_encoder *e, struct stored_rate *rate,
                       const struct stored_shape *shape, struct picture *const pictures[],
                       struct coded_frame *out[]);
// Encodes a group once, at this quantiser in all layers, with the preset veryfast: tells at a
// fraction of the cost about what the group needs. The codec is H.264; else as stored_encoder_run.
int stored_encoder_probe(struct stored_encoder *e, double quant, const struct stored_shape *shape,
                         struct picture *const pictures[], struct coded_frame *out[]);

DECLS_END
#endif
