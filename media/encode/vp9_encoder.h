// SPDX-License-Identifier: GPL-2.0-or-later
// The encoder of all sizes of a cumulative ladder: VP9 SVC through libvpx, without delay. One
// thread at a time.
//
// A picture becomes one coded frame a size (a spatial layer). A size's frame is predicted from the
// next smaller size's frame of the same picture, and from an earlier frame of its own size, which
// has a lower temporal id (T0: from a T0 frame). So each pair of a size and a temporal id is a
// stream of its own, and a higher layer can be dropped at any time.
//
// The encoder's eight reference slots: slot s has size s's newest T0 frame, slot sizes + s its
// newest other frame. libvpx can manage them itself (VP9E_TEMPORAL_LAYERING_MODE_0212), but then
// its own counter sets the temporal id. Here the id is a function of the source's frame number
// (common/base/level.h), also after frames that the caller skipped.
//
// Every frame is error resilient: it takes no probabilities or motion vectors from other frames.
// Without that, libavcodec and libvpx fail as soon as any frame is missing.
#ifndef WEIR_MEDIA_ENCODE_VP9_ENCODER_H
#define WEIR_MEDIA_ENCODE_VP9_ENCODER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"

DECLS_BEGIN

enum {
    VP9_MAX_SIZES = 3,  // each needs two of the eight slots, and each frame two references
    VP9_MAX_LAYERS = 3, // temporal
};

struct vp9_encoder; // opaque

// Makes the encoder of a ladder of ladder_cumulative's shape: at most VP9_MAX_SIZES sizes of one
// frame rate and the same temporal layers, each half as wide and high as the next; a level for each
// pair of a size and a temporal id. Returns NULL on failure, which it logs.
struct vp9_encoder *vp9_encoder_new(const struct ladder *ladder);
void vp9_encoder_free(struct vp9_encoder *e); // NULL is fine

// Encodes source frame `p->number`, which has the largest size. The sizes must have that frame
// (size_index_of_frame >= 0), and it must be later than the last one; the caller may skip frames.
// If it skipped so many that a reference would be more than VP9_MAX_DIFF frames back
// (vp9_payload.h), the next T0 frame is a key frame.
// out[s]: the coded frame of size s with `captured` and `encode_time` unset, which the caller owns.
// All are NULL until the first T0 frame. Returns 0, ERR_NO_MEMORY, or ERR_IO if libvpx failed
// (logged); after an error the next T0 frame is a key frame.
int vp9_encoder_encode(struct vp9_encoder *e, const struct picture *p,
                       struct coded_frame *out[VP9_MAX_SIZES]);

// Makes the next T0 frame a sync frame of size `size_id` and the larger ones: predicted from the
// smaller size alone, unless there was one after frame `since`, the newest that the requester
// cannot decode (-1: always). A viewer of the smaller size can switch to `size_id` there. For size
// 0 it is a key frame of all sizes.
void vp9_encoder_sync(struct vp9_encoder *e, int size_id, int64_t since);

// Frame `number` of size `size_id` did not reach a viewer. If later T0 frames depend on it, the
// next one is a sync frame or, for size 0, a key frame. Returns true if that is needed.
bool vp9_encoder_repair(struct vp9_encoder *e, int size_id, int64_t number);
// Returns what vp9_encoder_repair would return, and changes nothing.
bool vp9_encoder_needs(const struct vp9_encoder *e, int size_id, int64_t number);

// `periodic` (the default): a key frame is made at least every 10 s (encoder.h).
void vp9_encoder_set_periodic_keys(struct vp9_encoder *e, bool periodic);

// Sets the bitrate of each level of the ladder, which must ascend with the size and with the
// temporal id; a layer has 1 kbit/s at least. Takes effect with the next frame. Returns 0 or
// ERR_RANGE.
int vp9_encoder_set_rates(struct vp9_encoder *e, const int bps[LADDER_MAX_LEVELS]);

DECLS_END
#endif
