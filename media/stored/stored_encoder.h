// SPDX-License-Identifier: GPL-2.0-or-later
// One size of a stored ladder, group by group: libx264 with B frames, its preset medium, and all
// the time that it wants. One thread at a time.
//
// x264 refers to no B frame from a frame of a lower layer (its b-pyramid "strict"), so each prefix
// of layers decodes exactly. Each frame's type is told, as the plan has it; the look-ahead is
// x264's. A group is encoded by an encoder of its own: it does not matter in which order, or how
// often.
#ifndef WEIR_MEDIA_STORED_STORED_ENCODER_H
#define WEIR_MEDIA_STORED_STORED_ENCODER_H

#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"
#include "media/stored/policy/stored_plan.h"
#include "media/stored/policy/stored_rate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STORED_ENCODER_LAYERS = 3 }; // at most: x264 has one B frame in three that others rest on

struct stored_encoder;

// Both are borrowed. NULL: logged.
struct stored_encoder *stored_encoder_new(const struct ladder *ladder, int size_id,
                                          const struct stored_plan *plan);
void stored_encoder_free(struct stored_encoder *e); // NULL is fine
// `pictures`, of the size's width and height, and `out` go by place; only those that the shape has
// are looked at. `rate` is what a group near this one ended with. Of *out data, nals, bytes,
// temporal_id and key are set; they are the caller's. 0, ERR_NO_MEMORY, ERR_IO (logged): then there
// are none.
int stored_encoder_run(struct stored_encoder *e, struct stored_rate *rate,
                       const struct stored_shape *shape, struct picture *const pictures[],
                       struct coded_frame *out[]);

#ifdef __cplusplus
}
#endif
#endif
