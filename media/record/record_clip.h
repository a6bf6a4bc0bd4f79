// SPDX-License-Identifier: GPL-2.0-or-later
// A piece of a recording as one file: fragmented MP4 with H.264 and Opus, by libavformat, made
// piece by piece. Nothing is encoded. It begins with the newest key frame up to `from`, or the
// first one after it, and ends before the first key frame from `to` on. Gaps are cut out
// (clip_times.h). Holds one group at a time: what was recorded between two key frames.
//
// All functions block as the disk does.
#ifndef WEIR_MEDIA_RECORD_RECORD_CLIP_H
#define WEIR_MEDIA_RECORD_RECORD_CLIP_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct record_clip;

// `pattern`: record_name.h; copied. NULL: no memory.
struct record_clip *record_clip_new(const char *pattern, usec_t from, usec_t to);
void record_clip_free(struct record_clip *c); // NULL is fine
// Makes the next bytes of the file; the caller owns *out. Returns 0; ERR_END: the file is complete;
// ERR_NOT_FOUND: nothing was recorded in that time; ERR_UNSUPPORTED: it is not H.264;
// ERR_NO_MEMORY.
int record_clip_next(struct record_clip *c, uint8_t **out, size_t *bytes);

DECLS_END
#endif
