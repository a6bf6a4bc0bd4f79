// SPDX-License-Identifier: GPL-2.0-or-later
// An H.264 encoder of one size through libavcodec: a hardware encoder, or libx264. It has one
// layer, no frame that is predicted from a later one, and no delay where the encoder allows it. A
// loss needs a key frame. One thread at a time.
//
// Rate: constant bitrate by the encoder's own control, whose buffer is 0.3 s. Unlike x264's direct
// encoder (layer_rate.h) it promises nothing about 2 s: a key frame may exceed it.
//
// At opening, it encodes one grey picture: that shows whether the encoder works, and gives the
// parameter sets, which most hardware encoders have only then.
#ifndef WEIR_MEDIA_ENCODE_AVCODEC_ENCODER_H
#define WEIR_MEDIA_ENCODE_AVCODEC_ENCODER_H

#include "common/base/decls.h"
#include "media/encode/video_encoder.h"

DECLS_BEGIN

enum avcodec_device {
    AVCODEC_OWN,   // the encoder takes pictures from memory and finds its device itself
    AVCODEC_VAAPI, // pictures are uploaded to a VA-API device
};

// A row of the table of encoders (video_engine.c); static.
struct avcodec_engine {
    const char *codec;   // libavcodec's name
    const char *options; // the encoder's own: KEY=VALUE, separated by colons
    enum avcodec_device device;
    bool is_nv12; // it takes NV12, else planar 4:2:0
};

enum { AVCODEC_REASON_TEXT = 160 };

// Opens the encoder of size `size_id` of `ladder`, whose size has one layer. `traits` are the
// engine's: of them, `reconfigure` may be set. NULL: `reason` says why.
struct video_encoder *avcodec_encoder_new(const struct avcodec_engine *engine,
                                          const struct encoder_traits *traits,
                                          const struct ladder *ladder, int size_id,
                                          char reason[AVCODEC_REASON_TEXT]);

DECLS_END
#endif
