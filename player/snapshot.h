// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's snapshot key.
#ifndef WEIR_PLAYER_SNAPSHOT_H
#define WEIR_PLAYER_SNAPSHOT_H

#include <uv.h>

#include "media/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SNAPSHOT_NAME = 64 };

// Writes `p` to weir-snapshot-NUMBER.png in the current directory, on libuv's workers: compressing
// a picture takes longer than one may stand on the screen. Fills `name` with the file's.
void snapshot_take(uv_loop_t *loop, struct picture *p, char name[SNAPSHOT_NAME]);

#ifdef __cplusplus
}
#endif
#endif
