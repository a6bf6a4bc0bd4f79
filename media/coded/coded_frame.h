// SPDX-License-Identifier: GPL-2.0-or-later
// One coded frame of one size (an access unit), as the encoder leaves it and as all viewers of that
// size share it.
#ifndef WEIR_MEDIA_CODED_CODED_FRAME_H
#define WEIR_MEDIA_CODED_CODED_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/usec.h"
#include "media/rtp/packetiser.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CODED_FRAME_MAX_NALS = 64 };

struct coded_frame {
    int references; // use coded_frame_ref and coded_frame_unref
    int64_t number; // source frame number
    int reorder;    // its slot in the order of decoding (stored_plan.h), less its number
    int size_id;
    int temporal_id;
    bool key;            // an IDR, with its parameter sets
    int64_t depends_on;  // frame number, -1 = none
    usec_t pts;          // media time
    usec_t capture_wall; // wall clock at capture
    usec_t captured;     // the same instant on the sender's monotonic clock
    usec_t encode_time;  // how long encoding took
    int nal_count;
    struct nal nals[CODED_FRAME_MAX_NALS]; // into data
    size_t bytes;                          // of data: NAL units with start codes (Annex B)
    uint8_t *data;                         // behind the struct, freed with it
};

struct coded_frame *coded_frame_new(size_t bytes); // one reference, all else zero; NULL: no memory
struct coded_frame *coded_frame_ref(struct coded_frame *f);
void coded_frame_unref(struct coded_frame *f); // NULL is fine; any thread

#ifdef __cplusplus
}
#endif
#endif
