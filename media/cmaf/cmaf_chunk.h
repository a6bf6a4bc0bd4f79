// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a CMAF chunk (ISO/IEC 23000-19, 7.3.2.3): optionally prft (the wall clock of its first
// sample), then one moof and one mdat. A chunk collects samples in decoding order.
#ifndef WEIR_MEDIA_CMAF_CMAF_CHUNK_H
#define WEIR_MEDIA_CMAF_CMAF_CHUNK_H

#include "common/base/decls.h"
#include "media/cmaf/cmaf_track.h"

DECLS_BEGIN

enum {
    CMAF_CHUNK_SAMPLES = 1024,
    CMAF_CHUNK_BOXES = 96,       // bytes of a chunk's boxes without prft and data
    CMAF_CHUNK_SAMPLE_BOXES = 16 // and these, in trun, for each sample
};

struct cmaf_sample {
    int64_t time;     // decoding time in the track's units, from 0
    int64_t duration; // in the track's units
    int32_t offset;   // time of presentation minus time of decoding
    bool key;         // decoding can start here
    uint32_t bytes;
};

struct cmaf_chunk { // zero: empty
    int count;
    struct cmaf_sample samples[CMAF_CHUNK_SAMPLES];
    struct mp4_writer data; // of all samples
};

void cmaf_chunk_destroy(struct cmaf_chunk *c); // the chunk is empty again
// Add a sample; `s->bytes` is set by the chunk. Times ascend: the duration of the sample before
// this one becomes the distance between the two. Returns 0; ERR_FULL; ERR_NO_MEMORY.
int cmaf_chunk_add(struct cmaf_chunk *c, const struct cmaf_sample *s, const void *data,
                   size_t bytes);
// Adds a frame: its NAL units with lengths of 4 bytes. Parameter sets and delimiters are left out,
// as the init segment has the former (ISO/IEC 14496-15, 5.4.2).
int cmaf_chunk_add_h264(struct cmaf_chunk *c, const struct cmaf_sample *s,
                        const struct coded_frame *f);
// Returns the time after the last sample. The chunk is not empty.
int64_t cmaf_chunk_end(const struct cmaf_chunk *c);
// Writes the chunk, which is not empty, to `out`. `sequence`: the number of the moof, ascending.
// `wall`: the wall clock of the first sample; 0: unknown.
void cmaf_chunk_write(const struct cmaf_chunk *c, uint32_t sequence, usec_t wall,
                      struct mp4_writer *out);

DECLS_END
#endif
