// SPDX-License-Identifier: GPL-2.0-or-later
// libx264 as the encoder uses it: a picture, a quantiser and a frame type in, NAL units out at
// once; references are forgotten on demand; no rate control of its own. One thread at a time.
#ifndef WEIR_MEDIA_ENCODE_X264_ENGINE_H
#define WEIR_MEDIA_ENCODE_X264_ENGINE_H

#include "common/base/level.h"
#include "media/coded/coded_frame.h"
#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct x264_engine; // opaque

// `id` becomes the number of the parameter sets, so that one decoder tells sizes apart. `dpb`:
// frames that stay available as references, 1 .. 16. NULL: logged.
struct x264_engine *x264_engine_new(const struct size_spec *size, int id, int dpb);
void x264_engine_free(struct x264_engine *e); // NULL is fine

// As encoder_parameter_sets.
int x264_engine_parameter_sets(struct x264_engine *e, char *sprop, size_t cap,
                               char profile_level_id[8]);

// No frame of stamp >= `stamp` is referenced again.
void x264_engine_forget(struct x264_engine *e, int64_t stamp);
// Encodes `p`, with a stamp above all before, as an IDR (`key`) or a P frame. `qp` may be
// fractional. Its bytes, or ERR_IO (x264 failed or made another type; logged).
int x264_engine_encode(struct x264_engine *e, const struct picture *p, int64_t stamp, bool key,
                       double qp);
// What the last call of encode made: data, nals and bytes are set, `key` too. NULL: no memory.
struct coded_frame *x264_engine_take(struct x264_engine *e);

#ifdef __cplusplus
}
#endif
#endif
