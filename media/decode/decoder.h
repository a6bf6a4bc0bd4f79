// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes H.264, HEVC, VP9 or JPEG through libavcodec: one frame in, one picture out, without
// delay. The exception is a third party's stream that may have B frames: its pictures come in
// display order, as soon as libavcodec can output them. One thread at a time. The decoder does not
// detect missing references: feed it only frames whose references it has decoded.
// A stream of another matrix or range than a picture's is converted; any other is not copied. A
// stream that does not state its matrix has BT.709 from 720 rows on, else BT.601.
#ifndef WEIR_MEDIA_DECODE_DECODER_H
#define WEIR_MEDIA_DECODE_DECODER_H

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

struct decoder; // opaque

enum decoder_order {
    DECODER_PLAIN,    // the stream has no B frames
    DECODER_AS_COMES, // the stream may have B frames; pictures are output in decoding order
    DECODER_AS_SHOWN, // the stream may have B frames; pictures are output in display order
};

struct decoder *decoder_new(enum decoder_order order); // returns NULL on failure, which it logs
struct decoder *decoder_new_hevc(enum decoder_order order);
// Makes a decoder of JPEG; pictures of any sampling are converted.
struct decoder *decoder_new_jpeg(void);
// Makes a decoder of VP9, whose frame is one spatial layer's (vp9.h): a frame of each size in
// ascending order makes a picture of each size, with the same number. Show the last one.
struct decoder *decoder_new_vp9(void);
void decoder_free(struct decoder *d);
// `data`: one access unit (H.264, HEVC: Annex B), followed by 64 zero bytes. *out: the picture,
// with `number`; the caller owns the reference. With DECODER_AS_SHOWN, *out has the number of its
// own frame, and is NULL if libavcodec needs a later frame first. Returns 0; ERR_MALFORMED if the
// bitstream is truncated or does not parse (then wait for the next key frame); ERR_NO_MEMORY.
int decoder_decode(struct decoder *d, const uint8_t *data, size_t bytes, int64_t number,
                   struct picture **out);
// With DECODER_AS_SHOWN, returns the next picture after decoder_decode gave one; NULL if there is
// none.
struct picture *decoder_more(struct decoder *d);

DECLS_END
#endif
