// SPDX-License-Identifier: GPL-2.0-or-later
// Media without pictures, frames of fixed sizes at fixed times, so that an experiment does not
// depend on what a picture shows:
//
//   synthetic:goddard         the seven levels of the Goddard server (Chung, Claypool, Kinicki:
//                             MTP, 2005, Figure 6), 1 KB at 10 frames/s to 8 KB at 30 frames/s; a
//                             KB is 1000 bytes
//   synthetic:layers:N,BYTES  the hierarchical dummy layers of Fiksdal's thesis (2003, which has 8
//                             of 1024 bytes): a frame of level k is k + 1 layers of BYTES each, one
//                             NAL unit a layer. It prints no frame rate: 25
//
// A level is a size of its own, and no frame leans on another, so a switch of levels takes effect
// with the next frame. Frame numbers count at a rate that all levels' rates divide, so each level's
// frames come evenly. A frame consists of H.264 filler NAL units (type 12), which any
// depacketiser for H.264 takes; its bytes count those units, as they stand in RTP payloads.
#ifndef WEIR_MEDIA_CODED_SYNTHETIC_H
#define WEIR_MEDIA_CODED_SYNTHETIC_H

#include "common/wire/sdp.h"
#include "media/coded/coded_frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SYNTHETIC_MAX_LAYERS = LADDER_MAX_SIZES,
    SYNTHETIC_MIN_LAYER = 16, // bytes
    SYNTHETIC_MAX_LAYER = 16384,
};

struct synthetic_size {
    int nals; // of a frame
    int nal_bytes;
};

struct synthetic {
    enum sdp_source kind; // SDP_SOURCE_GODDARD or SDP_SOURCE_LAYERS
    char name[48];
    struct ladder ladder;
    struct synthetic_size sizes[LADDER_MAX_SIZES];
};

void synthetic_goddard(struct synthetic *out);
// What stands behind "synthetic:", "goddard" or "layers:LAYERS,BYTES". 0; ERR_MALFORMED; ERR_RANGE:
// see the bounds above.
int synthetic_parse(const char *text, struct synthetic *out);

// Frame `number` of a size; its times are the caller's to fill in. NULL: the size has no such
// frame, or no memory.
struct coded_frame *synthetic_frame(const struct synthetic *s, int size_id, int64_t number);

#ifdef __cplusplus
}
#endif
#endif
