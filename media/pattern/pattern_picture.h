// SPDX-License-Identifier: GPL-2.0-or-later
// The built-in test picture: frame n of it is a pure function of (n, size, frame rate), so that a
// player can draw the very frame that a sender encoded and compare. It shows to the eye and to a
// program which frame this is:
//   - the frame number and the media clock (hh:mm:ss.mmm) in large digits on a plain ground;
//   - a strip of 32 + 8 black or white cells: the number in Gray code and a checksum, readable
//   after the harshest coding;
//   - a bar that goes round once a second, so that a dropped or repeated frame is a visible jump;
//   - a patch that is white for the first 150 ms of each second of the media clock, else dark: the
//   flash that goes with the beep (test_tone.h), long enough for any level to show it;
//   - colour bars and a textured, moving ground as hard to encode as natural video.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_PICTURE_H
#define WEIR_MEDIA_PATTERN_PATTERN_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/level.h"
#include "media/picture/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PATTERN_PICTURE_FLASH_MS = 150 };

struct pattern_picture; // what is drawn once: the ground's texture

struct pattern_picture *pattern_picture_new(int width, int height,
                                            struct fps fps); // >= 160x90; NULL: no memory
void pattern_picture_free(struct pattern_picture *t);
// Draws frame n >= 0 into `out`, of the size given above; sets number and pts.
void pattern_picture_draw(const struct pattern_picture *t, int64_t n, struct picture *out);
// Reads the number back from a picture of any size >= 160x90 that shows the whole frame: -1 when
// the checksum fails.
int64_t pattern_picture_read(const struct picture *p);
// Does frame n flash? And does a picture of it, as above?
bool pattern_picture_flashes(int64_t n, struct fps fps);
bool pattern_picture_read_flash(const struct picture *p);

#ifdef __cplusplus
}
#endif
#endif
