// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/cmaf/cmaf_track.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "media/coded/audio.h"
#include "media/rtp/h264.h"

static const uint32_t UNITY[9] = {0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000};

static void find_set(const struct coded_frame *f, enum h264_nal_type type, const uint8_t **data,
                     size_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    for (int i = 0; i < f->nal_count && !*data; i++) {
        const uint8_t *nal = f->data + f->nals[i].offset;
        if (f->nals[i].len < 4 || h264_nal_type_of(*nal) != type)
            continue;
        *data = nal;
        *bytes = f->nals[i].len;
    }
}

int cmaf_track_learn(struct cmaf_track *t, const struct coded_frame *key)
{
    const uint8_t *sps, *pps;
    size_t sps_bytes, pps_bytes;
    find_set(key, H264_SPS, &sps, &sps_bytes);
    find_set(key, H264_PPS, &pps, &pps_bytes);
    if (!sps || !pps)
        return ERR_NOT_FOUND;
    if (sps_bytes > CMAF_MAX_SET || pps_bytes > CMAF_MAX_SET)
        return ERR_TOO_BIG;
    memcpy(t->sps, sps, sps_bytes);
    memcpy(t->pps, pps, pps_bytes);
    t->sps_bytes = sps_bytes;
    t->pps_bytes = pps_bytes;
    return 0;
}

bool cmaf_track_differs(const struct cmaf_track *t, const struct coded_frame *key)
{
    const uint8_t *sps, *pps;
    size_t sps_bytes, pps_bytes;
    find_set(key, H264_SPS, &sps, &sps_bytes);
    find_set(key, H264_PPS, &pps, &pps_bytes);
    return sps && pps &&
           (sps_bytes != t->sps_bytes || memcmp(sps, t->sps, sps_bytes) != 0 ||
            pps_bytes != t->pps_bytes || memcmp(pps, t->pps, pps_bytes) != 0);
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
    mp4_box(w, "avcC"); // ISO/IEC 14496-15, 5.3.3.1
    mp4_u8(w, 1);
    mp4_bytes(w, t->sps + 1, 3); // profile, constraints, level
    mp4_u8(w, 0xfc | 3);         // lengths of 4 bytes
    mp4_u8(w, 0xe0 | 1);         // one SPS
    mp4_u16(w, (unsigned)t->sps_bytes);
    mp4_bytes(w, t->sps, t->sps_bytes);
    mp4_u8(w, 1); // one PPS
    mp4_u16(w, (unsigned)t->pps_bytes);
    mp4_bytes(w, t->pps, t->pps_bytes);
    if (t->sps[1] >= 100) { // High and above: 4:2:0, 8 bits, no SPS extension
        mp4_u8(w, 0xfc | 1);
        mp4_u8(w, 0xf8);
        mp4_u8(w, 0xf8);
        mp4_u8(w, 0);
    }
    mp4_end(w);
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
