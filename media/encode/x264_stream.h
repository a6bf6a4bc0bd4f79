// SPDX-License-Identifier: GPL-2.0-or-later
// The common part of live and stored encoding through libx264: the stream's format, and the changes
// to its NAL units (h264.h).
#ifndef WEIR_MEDIA_ENCODE_X264_STREAM_H
#define WEIR_MEDIA_ENCODE_X264_STREAM_H

// clang-format off
#include <stdarg.h>
#include <stdint.h>
#include <x264.h> // requires the two headers before it
// clang-format on

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"

DECLS_BEGIN

// Sets the format of one size's stream; its parameter sets get the id `id`.
void x264_stream_set(x264_param_t *p, const struct size_spec *size, int id);
// Sets `in` up for `p`; the planes are borrowed.
void x264_stream_input(x264_picture_t *in, const struct picture *p);

struct x264_numbering {
    bool widened; // give frame_num more bits than x264 does; only for streams without B frames
    int bits;     // bits of frame_num in x264's SPS
    uint32_t frame_num; // number of references since the key frame
};

// Copies a NAL unit as receivers get it, without its start code. Returns the length, or ERR_FULL.
int x264_stream_copy(const x264_nal_t *nal, struct x264_numbering *n, uint8_t *out, size_t cap);
// Returns true if receivers need the NAL unit. x264's SEI only names the encoding program.
static inline bool x264_stream_wants(const x264_nal_t *nal)
{
    return nal->i_type != NAL_SEI;
}
// Makes a coded frame of a picture's NAL units; sets data, nals and bytes. NULL: no memory.
struct coded_frame *x264_stream_frame(const x264_nal_t *nals, int count, struct x264_numbering *n);

DECLS_END
#endif
