// SPDX-License-Identifier: GPL-2.0-or-later
// A coded frame or audio packet on its way to a recording.
#ifndef WEIR_MEDIA_RECORD_RECORD_PACKET_H
#define WEIR_MEDIA_RECORD_RECORD_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct record_packet { // on the heap, freed with free()
    bool is_audio;     // Opus; else H.264, Annex B, or VP9, a superframe of all sizes
    bool key;          // a key frame; of H.264 with its parameter sets
    bool begins;       // a key frame with which a file begins
    bool ends;         // no media: the file ends
    usec_t time;       // on the recording's time line, which goes on from file to file
    usec_t decode;     // at most `time`; ascends from frame to frame
    usec_t wall;       // wall clock at capture
    bool has_audio;    // of a key frame: whether the stream has audio,
    struct fps fps;    // and its frame rate; 0/0: unknown
    int width, height; // of a key frame of VP9; 0: it is H.264
    size_t bytes;
    uint8_t *data; // allocated with the struct; 64 zero bytes follow
};

// All but the size is zero. NULL: no memory.
struct record_packet *record_packet_new(size_t bytes);

DECLS_END
#endif
