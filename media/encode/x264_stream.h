// SPDX-License-Identifier: GPL-2.0-or-later
// What all streams of libx264's share, however they are encoded: their format, and what is changed
// in their NAL units (h264.h).
#ifndef WEIR_MEDIA_ENCODE_X264_STREAM_H
#define WEIR_MEDIA_ENCODE_X264_STREAM_H

// clang-format off
#include <stdarg.h>
#include <stdint.h>
#include <x264.h> // wants the two before it
// clang-format on

#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of one size, whose parameter sets get the number `id`.
void x264_stream_set(x264_param_t *p, const struct size_spec *size, int id);
// The planes are borrowed.
void x264_stream_input(x264_picture_t *in, const struct picture *p);

struct x264_numbering {
    bool widened;       // frame_num has more bits than x264 gives it: for streams without B frames
    int bits;           // that x264 gives it, as its SPS tells
    uint32_t frame_num; // references since the key frame
};

// A NAL unit as receivers get it, without start code. The length, or ERR_FULL.
int x264_stream_copy(const x264_nal_t *nal, struct x264_numbering *n, uint8_t *out, size_t cap);
// SEI is left out: x264's only names the program that made the stream.
static inline bool x264_stream_wants(const x264_nal_t *nal)
{
    return nal->i_type != NAL_SEI;
}
// The NAL units of a picture: data, nals and bytes are set. NULL: no memory.
struct coded_frame *x264_stream_frame(const x264_nal_t *nals, int count, struct x264_numbering *n);

#ifdef __cplusplus
}
#endif
#endif
