// SPDX-License-Identifier: GPL-2.0-or-later
// Synthetic media: frames of fixed sizes at fixed times, without pictures, so that an experiment
// does not depend on picture content:
//
//   synthetic:goddard         the seven levels of the Goddard server (Chung, Claypool, Kinicki:
//                             MTP, 2005, Figure 6), 1 KB at 10 frames/s to 8 KB at 30 frames/s; a
//                             KB is 1000 bytes
//   synthetic:layers:N,BYTES[,FPS]  the hierarchical dummy layers of Fiksdal's thesis (2003), which
//                             uses 8 layers of 1024 bytes. A picture of level k has k + 1 layers of
//                             BYTES each. A layer is a size, and a coded frame of its own, which
//                             depends on the next lower layer (struct ladder.cumulative). The
//                             thesis gives no frame rate; FPS is 25 by default. 11 frames/s of 8
//                             layers are the 90 kB/s at which its streams end up
//
// Each level is a size of its own, and no frame depends on an earlier one, so a switch of levels
// takes effect with the next frame. Frame numbers count at a common multiple of all levels' rates,
// so each level's frames are evenly spaced. A frame consists of H.264 filler NAL units (type 12),
// which any H.264 depacketiser accepts. A frame's size is the size of those units in RTP payloads,
// without start codes.
#ifndef WEIR_MEDIA_CODED_SYNTHETIC_H
#define WEIR_MEDIA_CODED_SYNTHETIC_H

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/coded/coded_frame.h"

DECLS_BEGIN

enum {
    SYNTHETIC_MAX_LAYERS = LADDER_MAX_SIZES,
    SYNTHETIC_MIN_LAYER = 16, // bytes
    SYNTHETIC_MAX_LAYER = 16384,
    SYNTHETIC_MAX_FPS = 1000, // of layers
};

struct synthetic {
    enum sdp_source kind; // SDP_SOURCE_GODDARD or SDP_SOURCE_LAYERS
    char name[48];
    struct ladder ladder;
    int bytes[LADDER_MAX_SIZES]; // of a frame of each size
};

void synthetic_goddard(struct synthetic *out);
// Parses the text after "synthetic:", which is "goddard" or "layers:LAYERS,BYTES[,FPS]". Returns 0,
// ERR_MALFORMED, or ERR_RANGE for values outside the bounds above.
int synthetic_parse(const char *text, struct synthetic *out);

// Makes frame `number` of a size; the caller fills in its capture times. Returns NULL if the size
// has no such frame, or on lack of memory.
struct coded_frame *synthetic_frame(const struct synthetic *s, int size_id, int64_t number);

DECLS_END
#endif
