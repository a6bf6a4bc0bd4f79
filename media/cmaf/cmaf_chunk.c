// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/cmaf/cmaf_chunk.h"

#include <assert.h>

#include "common/base/err.h"
#include "media/rtp/h264.h"

enum {
    TRUN_FLAGS = 0x1 | 0x100 | 0x200 | 0x400 | 0x800, // data offset; each sample's duration,
                                                      // size, flags and time offset
    BASE_IS_MOOF = 0x20000,
    DEPENDS_ON_NONE = 2 << 24, // sample_depends_on
    DEPENDS_ON_SOME = 1 << 24,
    NON_SYNC = 1 << 16,
};
#define NTP_TO_UNIX 2208988800 // seconds from 1900 to 1970

void cmaf_chunk_destroy(struct cmaf_chunk *c)
{
    mp4_writer_destroy(&c->data);
    c->count = 0;
}

// Adds the sample, whose bytes are behind `begin` in the data.
static int end_sample(struct cmaf_chunk *c, const struct cmaf_sample *s, size_t begin)
{
    if (c->data.failed)
        return ERR_NO_MEMORY;
    if (c->count > 0) {
        struct cmaf_sample *last = &c->samples[c->count - 1];
        assert(s->time > last->time);
        last->duration = s->time - last->time;
    }
    struct cmaf_sample *sample = &c->samples[c->count++];
    *sample = *s;
    sample->bytes = (uint32_t)(c->data.len - begin);
    return 0;
}

int cmaf_chunk_add(struct cmaf_chunk *c, const struct cmaf_sample *s, const void *data,
                   size_t bytes)
{
    if (c->count == CMAF_CHUNK_SAMPLES)
        return ERR_FULL;
    size_t begin = c->data.len;
    mp4_bytes(&c->data, data, bytes);
    return end_sample(c, s, begin);
}

static bool belongs_to_sample(const struct coded_frame *f, int nal)
{
    if (f->nals[nal].len == 0)
        return false;
    enum h264_nal_type type = h264_nal_type_of(f->data[f->nals[nal].offset]);
    return type != H264_SPS && type != H264_PPS && type != H264_DELIMITER;
}

int cmaf_chunk_add_h264(struct cmaf_chunk *c, const struct cmaf_sample *s,
                        const struct coded_frame *f)
{
    if (c->count == CMAF_CHUNK_SAMPLES)
        return ERR_FULL;
    size_t begin = c->data.len;
    for (int i = 0; i < f->nal_count; i++) {
        if (!belongs_to_sample(f, i))
            continue;
        mp4_u32(&c->data, f->nals[i].len);
        mp4_bytes(&c->data, f->data + f->nals[i].offset, f->nals[i].len);
    }
    return end_sample(c, s, begin);
}

int64_t cmaf_chunk_end(const struct cmaf_chunk *c)
{
    assert(c->count > 0);
    return c->samples[c->count - 1].time + c->samples[c->count - 1].duration;
}

// ISO/IEC 14496-12, 8.16.5.
static void write_prft(const struct cmaf_chunk *c, usec_t wall, struct mp4_writer *w)
{
    uint64_t seconds = (uint64_t)(wall / USEC_PER_SEC + NTP_TO_UNIX);
    uint64_t fraction = ((uint64_t)(wall % USEC_PER_SEC) << 32) / USEC_PER_SEC;
    mp4_full_box(w, "prft", 1, 24); // flags: the time of capture
    mp4_u32(w, 1);                  // track ID
    mp4_u64(w, seconds << 32 | fraction);
    mp4_u64(w, (uint64_t)c->samples[0].time);
    mp4_end(w);
}

static void write_trun(const struct cmaf_chunk *c, struct mp4_writer *w, size_t *data_offset)
{
    mp4_full_box(w, "trun", 1, TRUN_FLAGS);
    mp4_u32(w, (uint32_t)c->count);
    *data_offset = w->len;
    mp4_u32(w, 0);
    for (int i = 0; i < c->count; i++) {
        const struct cmaf_sample *s = &c->samples[i];
        mp4_u32(w, (uint32_t)s->duration);
        mp4_u32(w, s->bytes);
        mp4_u32(w, s->key ? DEPENDS_ON_NONE : DEPENDS_ON_SOME | NON_SYNC);
        mp4_u32(w, (uint32_t)s->offset);
    }
    mp4_end(w);
}

void cmaf_chunk_write(const struct cmaf_chunk *c, uint32_t sequence, usec_t wall,
                      struct mp4_writer *w)
{
    assert(c->count > 0);
    if (wall > 0)
        write_prft(c, wall, w);
    size_t moof = w->len, data_offset;
    mp4_box(w, "moof");
    mp4_full_box(w, "mfhd", 0, 0);
    mp4_u32(w, sequence);
    mp4_end(w);
    mp4_box(w, "traf");
    mp4_full_box(w, "tfhd", 0, BASE_IS_MOOF);
    mp4_u32(w, 1); // track ID
    mp4_end(w);
    mp4_full_box(w, "tfdt", 1, 0);
    mp4_u64(w, (uint64_t)c->samples[0].time);
    mp4_end(w);
    write_trun(c, w, &data_offset);
    mp4_end(w);
    mp4_end(w);
    mp4_patch_u32(w, data_offset, (uint32_t)(w->len - moof + 8)); // after the header of mdat
    mp4_box(w, "mdat");
    mp4_bytes(w, c->data.data, c->data.len);
    mp4_end(w);
}
