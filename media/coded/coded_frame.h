// SPDX-License-Identifier: GPL-2.0-or-later
// One coded frame of one size (an access unit), which all viewers of that size share.
// Reference-counted.
#ifndef WEIR_MEDIA_CODED_CODED_FRAME_H
#define WEIR_MEDIA_CODED_CODED_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "media/rtp/packetiser.h"

DECLS_BEGIN

enum { CODED_FRAME_MAX_NALS = 64 };

struct coded_frame {
    int references; // use coded_frame_ref and coded_frame_unref
    int64_t number; // source frame number
    int reorder;    // slot in decoding order (stored_plan.h) minus `number`
    int size_id;
    int temporal_id;
    bool key;            // an IDR, with its parameter sets
    int64_t depends_on;  // frame number in this size, -1 = none
    bool on_lower;       // depends on the frame of the next smaller size with this number, too
    int level;           // of a relayed frame: the level that its origin serves
    int starts;          // cumulative ladder: the sizes from this one on start anew with this
                         // picture (coded_frame_starts); the number of sizes: none
    usec_t pts;          // media time
    usec_t shown_after;  // of a relayed frame: the media time at which it is shown, minus that of
                         // its number. Not 0 where numbers are in decoding order and there are B
                         // frames; may be negative
    usec_t capture_wall; // wall clock at capture
    bool hides_capture;  // that time tells nothing: it is not sent
    usec_t captured;     // time of capture on the sender's monotonic clock
    usec_t encode_time;  // duration of encoding
    usec_t made;         // of live media: time from its capture until the sender had it; 0: unknown
    bool is_slow;        // the sender's machine does not keep up (made_ext)
    int nal_count;
    struct nal nals[CODED_FRAME_MAX_NALS]; // offsets into `data`
    size_t bytes;                          // length of `data`
    uint8_t *data; // NAL units with start codes (Annex B); allocated and freed with the struct
};

struct coded_frame *
coded_frame_new(size_t bytes); // one reference, other members zero; NULL: no memory
struct coded_frame *coded_frame_ref(struct coded_frame *f);
void coded_frame_unref(struct coded_frame *f); // NULL is fine; any thread

// Returns true if the frame starts its size anew: it depends on no earlier frame of it.
static inline bool coded_frame_starts(const struct coded_frame *f)
{
    return f->depends_on < 0;
}

DECLS_END
#endif
