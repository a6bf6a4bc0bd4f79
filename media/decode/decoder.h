// SPDX-License-Identifier: GPL-2.0-or-later
// H.264 decoding by libavcodec, one frame in, one picture out, no delay - unless the stream is one
// of somebody else's that may have B frames: then pictures come in the order of display, when they
// can. One thread at a time. The decoder is not asked whether its picture is good: it does not
// know. Feed it only frames whose references it has had.
#ifndef WEIR_MEDIA_DECODE_DECODER_H
#define WEIR_MEDIA_DECODE_DECODER_H

#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

struct decoder; // opaque

enum decoder_order {
    DECODER_PLAIN,    // there are no B frames
    DECODER_AS_COMES, // there may be: a picture comes with its own frame, whenever it is to be
                      // shown
    DECODER_AS_SHOWN, // there may be: a picture comes when it is to be shown
};

struct decoder *decoder_new(enum decoder_order order); // NULL: logged
void decoder_free(struct decoder *d);
// `data`: one access unit, Annex B, followed by 64 zero bytes. *out (one reference, the caller's)
// gets `number`. 0; ERR_MALFORMED: the bitstream breaks off or does not parse, no picture (wait for
// the next key frame); ERR_NO_MEMORY. Of DECODER_AS_SHOWN, *out has the number that its own
// frame came in with, and is NULL when a later frame is needed first.
int decoder_decode(struct decoder *d, const uint8_t *data, size_t bytes, int64_t number,
                   struct picture **out);
// The next picture of DECODER_AS_SHOWN, after decoder_decode gave one; NULL: none.
struct picture *decoder_more(struct decoder *d);

#ifdef __cplusplus
}
#endif
#endif
