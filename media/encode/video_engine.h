// SPDX-License-Identifier: GPL-2.0-or-later
// The H.264 encoders of --encoder: x264, which is called directly and has layers, and those that
// libavcodec offers.
#ifndef WEIR_MEDIA_ENCODE_VIDEO_ENGINE_H
#define WEIR_MEDIA_ENCODE_VIDEO_ENGINE_H

#include <stdio.h>

#include "common/base/decls.h"
#include "media/encode/video_encoder.h"

DECLS_BEGIN

enum { VIDEO_ENGINE_REASON_TEXT = 400 };

struct avcodec_engine;

struct video_engine { // static
    const char *name; // of --encoder
    const char *help;
    const char *remedy; // what makes it usable
    bool is_hardware;
    const struct avcodec_engine *av; // NULL: x264, called directly
    struct encoder_traits traits;
};

// x264 is the first. NULL: no more.
const struct video_engine *video_engine_at(int i);
const struct video_engine *video_engine_find(const char *name); // NULL: there is none of that name
// Opens the encoder of one size. NULL: logged, with what to do.
struct video_encoder *video_engine_open(const struct video_engine *engine,
                                        const struct ladder *ladder, int size_id);
// Opens the encoder, and encodes a picture. If that fails, writes why and returns false.
bool video_engine_is_usable(const struct video_engine *engine,
                            char reason[VIDEO_ENGINE_REASON_TEXT]);
// Returns the first hardware encoder that is usable here; NULL: none.
const struct video_engine *video_engine_hardware(void);
// Writes a line for each encoder: whether it is usable here, and what it can do.
void video_engine_list(FILE *out);

DECLS_END
#endif
