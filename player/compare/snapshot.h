// SPDX-License-Identifier: GPL-2.0-or-later
// Saves the picture on the screen when the viewer presses the snapshot key.
#ifndef WEIR_PLAYER_COMPARE_SNAPSHOT_H
#define WEIR_PLAYER_COMPARE_SNAPSHOT_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"

DECLS_BEGIN

typedef void snapshot_fn(void *ctx, const char *name, bool written);

// Writes `p` to weir-snapshot-NUMBER.png in the current directory, on libuv's workers: compressing
// a picture takes longer than a frame interval. `done` is called once, on the loop.
void snapshot_take(uv_loop_t *loop, struct picture *p, snapshot_fn *done, void *ctx);

DECLS_END
#endif
