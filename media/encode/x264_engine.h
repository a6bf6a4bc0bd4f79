// SPDX-License-Identifier: GPL-2.0-or-later
// Wraps libx264 for the encoder: a picture, a quantiser and a frame type in, NAL units out at once.
// It forgets references on request and has no rate control of its own. One thread at a time.
#ifndef WEIR_MEDIA_ENCODE_X264_ENGINE_H
#define WEIR_MEDIA_ENCODE_X264_ENGINE_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"

DECLS_BEGIN

struct x264_engine; // opaque

// `id`: the id of the parameter sets, by which one decoder distinguishes sizes. `dpb`: number of
// frames that stay available as references, 1 .. 16. `baseline`: the constrained baseline profile,
// else high. Returns NULL on failure, which it logs.
struct x264_engine *x264_engine_new(const struct size_spec *size, int id, int dpb, bool baseline);
void x264_engine_free(struct x264_engine *e); // NULL is fine

// See encoder_parameter_sets.
int x264_engine_parameter_sets(struct x264_engine *e, char *sprop, size_t cap,
                               char profile_level_id[8]);

// Forgets all frames with a stamp >= `stamp`: no later frame references them.
void x264_engine_forget(struct x264_engine *e, int64_t stamp);
// Encodes `p` as an IDR (`key`) or a P frame. `stamp` must exceed all earlier ones; `qp` may be
// fractional. Returns the frame's bytes, or ERR_IO if x264 failed or made another type (logged).
int x264_engine_encode(struct x264_engine *e, const struct picture *p, int64_t stamp, bool key,
                       double qp);
// Returns the frame of the last x264_engine_encode, with data, nals, bytes and key set; NULL: no
// memory.
struct coded_frame *x264_engine_take(struct x264_engine *e);

DECLS_END
#endif
