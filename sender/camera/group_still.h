// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the newest picture of a group of H.264 frames, on a thread, for still pictures of media
// that is passed on.
#ifndef WEIR_SENDER_CAMERA_GROUP_STILL_H
#define WEIR_SENDER_CAMERA_GROUP_STILL_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "media/decode/decoder.h"
#include "sender/policy/frame_group.h"

DECLS_BEGIN

struct group_still;

// Called on the thread; takes over the picture. NULL: the group does not decode.
typedef void group_still_fn(void *ctx, struct picture *p);

// NULL: no memory, or no thread.
struct group_still *group_still_new(enum decoder_order order, group_still_fn *done, void *ctx);
// Decodes the first `count` frames, and gives the last picture to `done`. Returns false if there is
// no memory, or one group is being decoded.
bool group_still_decode(struct group_still *g, const struct frame_group *group, int count);
// Waits for the frame that is being decoded; `done` is not called after it. NULL is fine.
void group_still_free(struct group_still *g);

DECLS_END
#endif
