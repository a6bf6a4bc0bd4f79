// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/cmaf/cmaf_track.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "media/coded/audio.h"
#include "media/rtp/h264.h"

enum { MAX_SPS = 31, MAX_PPS = 255 }; // their counts have 5 and 8 bits

static const uint32_t UNITY[9] = {0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000};

static bool has_set(const struct cmaf_sets *s, const uint8_t *nal, size_t bytes)
{
    for (size_t at = 0; at < s->bytes;) {
        size_t length = (size_t)s->data[at] << 8 | s->data[at + 1];
        if (length == bytes && memcmp(s->data + at + 2, nal, bytes) == 0)
            return true;
        at += 2 + length;
    }
    return false;
}

// Returns 0, or ERR_TOO_BIG. A camera may send the same set twice.
static int add_set(struct cmaf_sets *s, int max, const uint8_t *nal, size_t bytes)
{
    if (has_set(s, nal, bytes))
        return 0;
    if (s->count == max || bytes + 2 > sizeof(s->data) - s->bytes)
        return ERR_TOO_BIG;
    s->data[s->bytes] = (uint8_t)(bytes >> 8);
    s->data[s->bytes + 1] = (uint8_t)bytes;
    memcpy(s->data + s->bytes + 2, nal, bytes);
    s->bytes += 2 + bytes;
    s->count++;
    return 0;
}

static int find_sets(const struct coded_frame *f, struct cmaf_sets *sps, struct cmaf_sets *pps)
{
    sps->count = pps->count = 0;
    sps->bytes = pps->bytes = 0;
    int err = 0;
    for (int i = 0; i < f->nal_count && !err; i++) {
        const uint8_t *nal = f->data + f->nals[i].offset;
        if (f->nals[i].len < 4)
            continue;
        if (h264_nal_type_of(*nal) == H264_SPS)
            err = add_set(sps, MAX_SPS, nal, f->nals[i].len);
        else if (h264_nal_type_of(*nal) == H264_PPS)
            err = add_set(pps, MAX_PPS, nal, f->nals[i].len);
    }
    return err ? err : sps->count && pps->count ? 0 : ERR_NOT_FOUND;
}

int cmaf_track_learn(struct cmaf_track *t, const struct coded_frame *key)
{
    struct cmaf_sets sps, pps;
    int err = find_sets(key, &sps, &pps);
    if (err)
        return err;
    t->sps = sps;
    t->pps = pps;
    return 0;
}

static bool differs(const struct cmaf_sets *a, const struct cmaf_sets *b)
{
    return a->bytes != b->bytes || memcmp(a->data, b->data, a->bytes) != 0;
}

bool cmaf_track_differs(const struct cmaf_track *t, const struct coded_frame *key)
{
    struct cmaf_sets sps, pps;
    return find_sets(key, &sps, &pps) == 0 && (differs(&sps, &t->sps) || differs(&pps, &t->pps));
}

void cmaf_codec_name(enum cmaf_codec codec, const char *profile, char out[CMAF_CODEC_TEXT])
{
    static const char *const names[] = {[CMAF_OPUS] = "Opus", [CMAF_AAC] = "mp4a.40.2"};
    if (codec == CMAF_H264)
        snprintf(out, CMAF_CODEC_TEXT, "avc1.%.6s", profile);
    else
        snprintf(out, CMAF_CODEC_TEXT, "%s", names[codec]);
}

static bool is_video(const struct cmaf_track *t)
{
    return t->codec == CMAF_H264;
}

static void write_matrix(struct mp4_writer *w)
{
    for (int i = 0; i < 9; i++)
        mp4_u32(w, UNITY[i]);
}

static void write_ftyp(struct mp4_writer *w)
{
    static const char brands[][5] = {"iso6", "cmfc", "mp41"};
    mp4_box(w, "ftyp");
    mp4_bytes(w, "iso6", 4);
    mp4_u32(w, 0);
    for (int i = 0; i < 3; i++)
        mp4_bytes(w, brands[i], 4);
    mp4_end(w);
}

static void write_mvhd(struct mp4_writer *w)
{
    mp4_full_box(w, "mvhd", 0, 0);
    mp4_zeros(w, 8);     // times of creation and modification
    mp4_u32(w, 1000);    // timescale
    mp4_u32(w, 0);       // duration: that of the fragments
    mp4_u32(w, 0x10000); // rate 1
    mp4_u16(w, 0x100);   // volume 1
    mp4_zeros(w, 10);
    write_matrix(w);
    mp4_zeros(w, 24);
    mp4_u32(w, 2); // next track ID
    mp4_end(w);
}

static void write_tkhd(struct mp4_writer *w, const struct cmaf_track *t)
{
    mp4_full_box(w, "tkhd", 0, 7); // enabled, in the movie and in the preview
    mp4_zeros(w, 8);
    mp4_u32(w, 1); // track ID
    mp4_zeros(w, 4 + 4 + 8);
    mp4_u16(w, 0);                       // layer
    mp4_u16(w, is_video(t) ? 0 : 1);     // alternate group
    mp4_u16(w, is_video(t) ? 0 : 0x100); // volume
    mp4_u16(w, 0);
    write_matrix(w);
    mp4_u32(w, (uint32_t)t->width << 16);
    mp4_u32(w, (uint32_t)t->height << 16);
    mp4_end(w);
}

static void write_mdhd(struct mp4_writer *w, const struct cmaf_track *t)
{
    mp4_full_box(w, "mdhd", 0, 0);
    mp4_zeros(w, 8);
    mp4_u32(w, t->timescale);
    mp4_u32(w, 0);
    mp4_u16(w, 0x55c4); // language: und
    mp4_u16(w, 0);
    mp4_end(w);
}

static void write_hdlr(struct mp4_writer *w, const struct cmaf_track *t)
{
    static const char names[2][6] = {"sound", "video"};
    mp4_full_box(w, "hdlr", 0, 0);
    mp4_u32(w, 0);
    mp4_bytes(w, is_video(t) ? "vide" : "soun", 4);
    mp4_zeros(w, 12);
    mp4_bytes(w, names[is_video(t)], 6);
    mp4_end(w);
}

// ISO/IEC 14496-15, 5.3.3.1.
static void write_avcc(struct mp4_writer *w, const struct cmaf_track *t)
{
    enum { BASELINE = 66, MAIN = 77, EXTENDED = 88 };
    const uint8_t *sps = t->sps.data + 2; // the first one
    size_t bytes = (size_t)t->sps.data[0] << 8 | t->sps.data[1];
    struct h264_format f;
    if (h264_sps_format(sps, bytes, &f) != 0)
        f = (struct h264_format){.chroma_format = 1, .luma_bits = 8, .chroma_bits = 8};
    mp4_box(w, "avcC");
    mp4_u8(w, 1);
    mp4_bytes(w, sps + 1, 3); // profile, constraints, level
    mp4_u8(w, 0xfc | 3);      // lengths of 4 bytes
    mp4_u8(w, 0xe0 | (unsigned)t->sps.count);
    mp4_bytes(w, t->sps.data, t->sps.bytes);
    mp4_u8(w, (unsigned)t->pps.count);
    mp4_bytes(w, t->pps.data, t->pps.bytes);
    if (sps[1] != BASELINE && sps[1] != MAIN && sps[1] != EXTENDED) {
        mp4_u8(w, 0xfc | (unsigned)f.chroma_format);
        mp4_u8(w, 0xf8 | (unsigned)(f.luma_bits - 8));
        mp4_u8(w, 0xf8 | (unsigned)(f.chroma_bits - 8));
        mp4_u8(w, 0); // SPS extensions
    }
    mp4_end(w);
}

static void write_avc1(struct mp4_writer *w, const struct cmaf_track *t)
{
    mp4_box(w, "avc1");
    mp4_zeros(w, 6);
    mp4_u16(w, 1); // data reference
    mp4_zeros(w, 16);
    mp4_u16(w, (unsigned)t->width);
    mp4_u16(w, (unsigned)t->height);
    mp4_u32(w, 0x480000); // 72 dpi
    mp4_u32(w, 0x480000);
    mp4_u32(w, 0);
    mp4_u16(w, 1);    // frames per sample
    mp4_zeros(w, 32); // compressor's name
    mp4_u16(w, 0x18); // depth
    mp4_u16(w, 0xffff);
    write_avcc(w, t);
    mp4_end(w);
}

static void write_audio_entry(struct mp4_writer *w, const char *type)
{
    mp4_box(w, type);
    mp4_zeros(w, 6);
    mp4_u16(w, 1); // data reference
    mp4_zeros(w, 8);
    mp4_u16(w, AUDIO_CHANNELS);
    mp4_u16(w, 16); // bits
    mp4_u32(w, 0);
    mp4_u32(w, (uint32_t)AUDIO_RATE << 16);
}

// The times of packets are those of what a decoder outputs for them, so nothing is skipped at the
// start (PreSkip).
static void write_opus(struct mp4_writer *w)
{
    write_audio_entry(w, "Opus");
    mp4_box(w, "dOps");
    mp4_u8(w, 0); // version
    mp4_u8(w, AUDIO_CHANNELS);
    mp4_u16(w, 0); // PreSkip
    mp4_u32(w, AUDIO_RATE);
    mp4_u16(w, 0); // gain
    mp4_u8(w, 0);  // mapping family: mono or stereo
    mp4_end(w);
    mp4_end(w);
}

enum { // tags of descriptors (ISO/IEC 14496-1, 7.2.2.1)
    ES_DESCRIPTOR = 3,
    DECODER_CONFIG = 4,
    DECODER_SPECIFIC = 5,
    SL_CONFIG = 6,
};

static void write_aac(struct mp4_writer *w, const struct cmaf_track *t)
{
    // Audio object type 2 (LC), frequency index 3 (48 kHz), 2 channels, frames of 1024.
    static const uint8_t config[2] = {2 << 3 | 3 >> 1, (3 & 1) << 7 | AUDIO_CHANNELS << 3};
    write_audio_entry(w, "mp4a");
    mp4_full_box(w, "esds", 0, 0);
    mp4_u8(w, ES_DESCRIPTOR);
    mp4_u8(w, 3 + 2 + 13 + 2 + sizeof(config) + 3);
    mp4_u16(w, 1); // ES_ID
    mp4_u8(w, 0);
    mp4_u8(w, DECODER_CONFIG);
    mp4_u8(w, 13 + 2 + sizeof(config));
    mp4_u8(w, 0x40);       // MPEG-4 audio
    mp4_u8(w, 5 << 2 | 1); // audio stream
    mp4_zeros(w, 3);       // buffer size: not stated
    mp4_u32(w, (uint32_t)t->bitrate_bps);
    mp4_u32(w, (uint32_t)t->bitrate_bps);
    mp4_u8(w, DECODER_SPECIFIC);
    mp4_u8(w, sizeof(config));
    mp4_bytes(w, config, sizeof(config));
    mp4_u8(w, SL_CONFIG);
    mp4_u8(w, 1);
    mp4_u8(w, 2); // as MP4 requires
    mp4_end(w);
    mp4_end(w);
}

static void write_stsd(struct mp4_writer *w, const struct cmaf_track *t)
{
    mp4_full_box(w, "stsd", 0, 0);
    mp4_u32(w, 1);
    if (t->codec == CMAF_H264)
        write_avc1(w, t);
    else if (t->codec == CMAF_OPUS)
        write_opus(w);
    else
        write_aac(w, t);
    mp4_end(w);
}

// The tables of samples, which are empty: fragments have their own.
static void write_stbl(struct mp4_writer *w, const struct cmaf_track *t)
{
    static const char tables[3][5] = {"stts", "stsc", "stco"};
    mp4_box(w, "stbl");
    write_stsd(w, t);
    for (int i = 0; i < 3; i++) {
        mp4_full_box(w, tables[i], 0, 0);
        mp4_u32(w, 0);
        mp4_end(w);
    }
    mp4_full_box(w, "stsz", 0, 0);
    mp4_zeros(w, 8);
    mp4_end(w);
    mp4_end(w);
}

static void write_minf(struct mp4_writer *w, const struct cmaf_track *t)
{
    mp4_box(w, "minf");
    if (is_video(t)) {
        mp4_full_box(w, "vmhd", 0, 1);
        mp4_zeros(w, 8);
    } else {
        mp4_full_box(w, "smhd", 0, 0);
        mp4_zeros(w, 4);
    }
    mp4_end(w);
    mp4_box(w, "dinf");
    mp4_full_box(w, "dref", 0, 0);
    mp4_u32(w, 1);
    mp4_full_box(w, "url ", 0, 1); // in the same file
    mp4_end(w);
    mp4_end(w);
    mp4_end(w);
    write_stbl(w, t);
    mp4_end(w);
}

void cmaf_track_init_segment(const struct cmaf_track *t, struct mp4_writer *w)
{
    write_ftyp(w);
    mp4_box(w, "moov");
    write_mvhd(w);
    mp4_box(w, "trak");
    write_tkhd(w, t);
    mp4_box(w, "mdia");
    write_mdhd(w, t);
    write_hdlr(w, t);
    write_minf(w, t);
    mp4_end(w);
    mp4_end(w);
    mp4_box(w, "mvex");
    mp4_full_box(w, "trex", 0, 0);
    mp4_u32(w, 1); // track ID
    mp4_u32(w, 1); // sample description
    mp4_zeros(w, 12);
    mp4_end(w);
    mp4_end(w);
    mp4_end(w);
}
