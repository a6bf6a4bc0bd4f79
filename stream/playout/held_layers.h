// SPDX-License-Identifier: GPL-2.0-or-later
// The layers of pictures, but for the smallest one (held_frames.h), that wait in the playout
// buffer. A layer can arrive before its picture, when that is sent again; they are joined when the
// picture leaves the buffer.
//
// Bounds: HELD_LAYERS_MAX layers and HELD_LAYERS_MAX_BYTES of coded data; what does not fit is
// refused. Pure, not thread-safe.
#ifndef WEIR_STREAM_PLAYOUT_HELD_LAYERS_H
#define WEIR_STREAM_PLAYOUT_HELD_LAYERS_H

#include "common/base/decls.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum { HELD_LAYERS_MAX = 7 * 4096, HELD_LAYERS_MAX_BYTES = 64 << 20 };

struct held_layers { // all zero to begin with; held_layers.c alone uses the fields
    int first, count, room;
    size_t bytes;
    struct received_frame **held; // owned, from `first` on, by picture and size; NULL: no room
};

size_t held_layers_bytes(const struct held_layers *h);
// Takes over a frame of size 1 or above. 0; ERR_RANGE: it is held already; ERR_FULL; ERR_NO_MEMORY.
// On an error the caller keeps `f`.
int held_layers_add(struct held_layers *h, struct received_frame *f);
// Returns true if all sizes 1 .. size_id of picture `number` are held.
bool held_layers_has(const struct held_layers *h, int64_t number, int size_id);
// Appends to `f`, of size 0, the layers of its picture up to the first that is missing
// (received_frame.upper). Drops the picture's other layers, and those of earlier pictures.
void held_layers_join(struct held_layers *h, struct received_frame *f);
void held_layers_drop_below(struct held_layers *h, int64_t number);
void held_layers_drop_all(struct held_layers *h);

DECLS_END
#endif
