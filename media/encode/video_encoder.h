// SPDX-License-Identifier: GPL-2.0-or-later
// An encoder, whatever its codec: x264 and the engines of libavcodec encode one size (encoder.h,
// avcodec_encoder.h), libvpx all sizes of a cumulative ladder at once (vp9_encoder.h). One thread
// at a time.
//
// Sizes start anew: at a frame of temporal id 0 that depends on no earlier frame of its size. With
// x264 that is a key frame. With VP9 it is a key frame for the smallest size, and for a larger one
// a sync frame, which depends on the smaller size's frame of the same number.
#ifndef WEIR_MEDIA_ENCODE_VIDEO_ENCODER_H
#define WEIR_MEDIA_ENCODE_VIDEO_ENCODER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_video.h"
#include "media/coded/layer_refs.h"
#include "media/picture/picture.h"

DECLS_BEGIN

enum {
    VIDEO_ENCODER_MAX_SIZES = 3, // of one encoder
    VIDEO_ENCODER_FAILURES = 10, // failed pictures, less those that were encoded since
};

struct video_encoder;

// What an encoder can do. Its caller does the rest another way.
struct encoder_traits {
    bool layers;      // a size has temporal layers, of which the lower ones decode alone; false:
                      // the ladder's sizes have one layer each
    bool invalidate;  // a lost frame is repaired from an older reference; false: a lost frame needs
                      // a key frame
    bool reconfigure; // set_bitrate takes effect with the next frame; false: it opens the encoder
                      // anew, so the next frame is a key frame (sender/policy/rate_steps.h)
};

struct video_encoder_ops {
    // Encodes source frame `p->number`, which has the encoder's width and height. The sizes must
    // have that frame, and it must be later than the last one; frames may be skipped. out[i]: the
    // frame of the encoder's i-th size with `captured` and `encode_time` unset, which the caller
    // owns; NULL: it gave none. Returns 0, ERR_NO_MEMORY or ERR_IO (logged).
    int (*encode)(struct video_encoder *e, const struct picture *p,
                  struct coded_frame *out[VIDEO_ENCODER_MAX_SIZES]);
    // The next frame of temporal id 0 starts the size anew, and the larger ones with it.
    void (*start)(struct video_encoder *e, int size_id);
    // Returns what the repair of a frame that a viewer lacks would need. LAYER_LOSS_NEEDS_KEY: the
    // size must start anew.
    enum layer_loss (*loss)(const struct video_encoder *e, int size_id, int64_t number);
    // Makes later frames independent of that frame.
    void (*repair)(struct video_encoder *e, int size_id, int64_t number);
    // A key frame is made at least every 10 s (the default): viewers that do not request what they
    // lack need it.
    void (*set_periodic_keys)(struct video_encoder *e, bool periodic);
    // Sets the bitrate of the size's top level from the next frame on; the levels below keep their
    // proportion.
    void (*set_bitrate)(struct video_encoder *e, int size_id, int bps);
    // encoder.h; NULL: the codec has no parameter sets.
    int (*parameter_sets)(struct video_encoder *e, char *sprop, size_t cap,
                          char profile_level_id[8]);
    void (*free)(struct video_encoder *e);
};

struct video_encoder { // embedded first by each implementation
    const struct video_encoder_ops *ops;
    struct encoder_traits traits;
    int first_size; // of the sizes that it encodes
    int size_count;
    int width, height; // of its pictures: those of the largest size
    int bitrate_bps;   // at which it was opened; of an encoder without traits.reconfigure
};

// Returns NULL on failure, which is logged.
struct video_encoder *video_encoder_new_h264(const struct ladder *ladder, int size_id);
// Gives the coded frames that pictures of `coded` bring along (ladder.passes). One may be of an
// earlier or a later picture than the one in whose turn it comes. Requests to start anew, to repair
// and to change the rate do nothing.
struct video_encoder *video_encoder_new_passed(const struct ladder *ladder, int size_id,
                                               const struct coded_video *coded);
// Passes the calls on to `first`, which it takes over. When that has failed again and again
// (VIDEO_ENCODER_FAILURES), closes it and opens the H.264 encoder of the processor in its place.
// `name`: of `first`, for the log; static. Takes over `first` on failure, too: NULL, logged.
struct video_encoder *video_encoder_new_steady(struct video_encoder *first, const char *name,
                                               const struct ladder *ladder);
// Of all sizes of a ladder of ladder_cumulative's shape.
struct video_encoder *video_encoder_new_vp9(const struct ladder *ladder);

DECLS_END
#endif
