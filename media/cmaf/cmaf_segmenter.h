// SPDX-License-Identifier: GPL-2.0-or-later
// Cuts the samples of one track into the parts and segments of a grid (cmaf_grid.h). A part is one
// CMAF chunk; a segment is the concatenation of its parts.
//
// A segment begins with a sample that decoding can start with. If that comes late, the segment
// before becomes longer by whole parts; if none comes for a whole segment, the next one begins
// without it.
//
// A part ends as soon as its last sample is here. That it was the last one of its segment is known
// at once if decoding can start with any sample, else with the next sample.
//
// On an open grid (cmaf_grid_init_open) the caller says where each segment begins.
#ifndef WEIR_MEDIA_CMAF_CMAF_SEGMENTER_H
#define WEIR_MEDIA_CMAF_CMAF_SEGMENTER_H

#include "common/base/decls.h"
#include "media/cmaf/cmaf_chunk.h"
#include "media/cmaf/cmaf_grid.h"

DECLS_BEGIN

struct cmaf_part {
    int64_t segment;
    int number;       // within the segment, from 0
    int64_t time;     // decoding time, in the track's units
    int64_t duration; // in the track's units
    bool independent; // decoding can start with it
    usec_t wall;      // capture time of its first sample; 0: unknown
    size_t bytes;
    uint8_t *data; // malloc'ed
};

struct cmaf_segmenter_events {
    void (*on_part)(void *ctx, const struct cmaf_part *p); // takes over p->data
    void (*on_segment)(void *ctx, int64_t segment);        // the segment is complete
};

struct cmaf_segmenter {
    struct cmaf_grid grid;
    uint32_t timescale;
    bool all_keys;                              // decoding can start with any sample
    const struct cmaf_segmenter_events *events; // static
    void *ctx;                                  // borrowed
    bool begun;
    bool open;              // a segment is open
    int64_t segment;        // the open one
    int part;               // the next part of the open segment
    struct cmaf_place cell; // place on the grid of the samples in `chunk`
    bool is_cut;            // the next segment begins where `next` has been moved to
    struct cmaf_grid next;
    int64_t last; // time of the last sample
    int64_t end;  // its end
    uint32_t sequence;
    usec_t wall; // of the first sample in `chunk`
    struct cmaf_chunk chunk;
};

void cmaf_segmenter_init(struct cmaf_segmenter *s, const struct cmaf_grid *grid, uint32_t timescale,
                         bool all_keys, const struct cmaf_segmenter_events *events, void *ctx);
void cmaf_segmenter_destroy(struct cmaf_segmenter *s);
// Adds a sample: `f`, a frame of H.264, or `data`, a packet. Samples before the first that decoding
// can start with, and samples that are not later than the one before, are left out. `wall`: its
// capture time. Returns 0, ERR_NO_MEMORY or ERR_FULL: then the sample and the rest of the part are
// lost.
int cmaf_segmenter_frame(struct cmaf_segmenter *s, const struct cmaf_sample *sample,
                         const struct coded_frame *f, usec_t wall);
int cmaf_segmenter_packet(struct cmaf_segmenter *s, const struct cmaf_sample *sample,
                          const void *data, size_t bytes, usec_t wall);
// On an open grid: from frame `frame` on, samples belong to `segment`. If the last sample is not
// before that, from the next sample on. Call it for the first segment, too.
void cmaf_segmenter_cut(struct cmaf_segmenter *s, int64_t segment, int64_t frame);
// Ends the open part and the open segment: no sample follows.
void cmaf_segmenter_end(struct cmaf_segmenter *s);

DECLS_END
#endif
