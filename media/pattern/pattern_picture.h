// SPDX-License-Identifier: GPL-2.0-or-later
// The built-in test picture. Frame n is a pure function of n, size and frame rate, so a player can
// draw the frame that a sender encoded and compare. People and programs can identify the frame:
//   - the frame number and the media clock (hh:mm:ss.mmm) in large digits on a plain ground;
//   - a strip of 32 + 8 black or white cells: the number in Gray code and a checksum, readable even
//   after very coarse coding;
//   - a hand that turns once a second, so that a dropped or repeated frame is a visible jump;
//   - a patch that is white for the first 150 ms of each second of the media clock, else dark. This
//   flash comes with the beep (pattern_tone.h) and is long enough for any level to show it;
//   - colour bars and a textured, moving ground as hard to encode as natural video.
#ifndef WEIR_MEDIA_PATTERN_PATTERN_PICTURE_H
#define WEIR_MEDIA_PATTERN_PATTERN_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/picture/picture.h"

DECLS_BEGIN

enum { PATTERN_PICTURE_FLASH_MS = 150 };

struct pattern_picture; // opaque; holds the parts that are drawn once

// The size must be at least 160x90. Returns NULL on lack of memory.
struct pattern_picture *pattern_picture_new(int width, int height, struct fps fps);
void pattern_picture_free(struct pattern_picture *t);
// Draws frame n >= 0 into `out`, which must have the size of `t`; sets number and pts.
void pattern_picture_draw(const struct pattern_picture *t, int64_t n, struct picture *out);
// Reads the frame number from a picture of any size >= 160x90 that shows the whole frame. Returns
// -1 if the strip is not readable.
int64_t pattern_picture_read(const struct picture *p);
// Returns true if frame n shows the flash.
bool pattern_picture_flashes(int64_t n, struct fps fps);
// Returns how long after the last full second of the media clock frame n is.
usec_t pattern_picture_past_second(int64_t n, struct fps fps);
// Returns true if the picture, of any size >= 160x90, shows the flash.
bool pattern_picture_read_flash(const struct picture *p);

DECLS_END
#endif
