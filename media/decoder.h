// SPDX-License-Identifier: GPL-2.0-or-later
// H.264 decoding by libavcodec, one frame in, one picture out, no delay. One thread at a time. The
// decoder is not asked whether its picture is good: it does not know. Feed it only frames whose
// references it has had.
#ifndef WEIR_MEDIA_DECODER_H
#define WEIR_MEDIA_DECODER_H

#include "media/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct decoder; // opaque

struct decoder *decoder_new(void); // NULL: logged
void decoder_free(struct decoder *d);
// `data`: one access unit, Annex B, followed by 64 zero bytes. *out (one reference, the caller's)
// gets `number`. 0; ERR_MALFORMED: the bitstream breaks off or does not parse, no picture (wait for
// the next key frame); ERR_NO_MEMORY.
int decoder_decode(struct decoder *d, const uint8_t *data, size_t bytes, int64_t number,
                   struct picture **out);

#ifdef __cplusplus
}
#endif
#endif
