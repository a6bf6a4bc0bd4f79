// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include "common/base/err.h"
#include "media/coded/audio.h"
#include "tests/support/coded_stream.hpp"
#include "tests/support/mp4_reader.hpp"

TEST_CASE("cmaf_track: the codecs' names")
{
    char name[CMAF_CODEC_TEXT];
    cmaf_codec_name(CMAF_H264, "64001f", name);
    CHECK(std::string(name) == "avc1.64001f");
    cmaf_codec_name(CMAF_OPUS, nullptr, name);
    CHECK(std::string(name) == "Opus");
    cmaf_codec_name(CMAF_AAC, nullptr, name);
    CHECK(std::string(name) == "mp4a.40.2");
}

TEST_CASE("cmaf_track: learns the parameter sets of a key frame")
{
    ladder l = one_size(160, 96, 30, 2, {{1, 150000}});
    encoder_ptr e = make_encoder(l);
    frame_ptr key = encode(e.get(), l, 0, 0), next = encode(e.get(), l, 0, 1);
    cmaf_track t{};
    CHECK(cmaf_track_learn(&t, next.get()) == ERR_NOT_FOUND);
    REQUIRE(cmaf_track_learn(&t, key.get()) == 0);
    CHECK(t.sps.count == 1);
    CHECK(t.sps.data[2] == 0x67);
    CHECK(t.pps.count == 1);
    CHECK(t.pps.data[2] == 0x68);
}

TEST_CASE("cmaf_track: libavformat reads the init segment of each codec")
{
    ladder l = one_size(160, 96, 30, 2, {{1, 150000}});
    encoder_ptr e = make_encoder(l);
    frame_ptr key = encode(e.get(), l, 0, 0);
    cmaf_track video{};
    video.codec = CMAF_H264;
    video.timescale = 12810;
    video.width = 160;
    video.height = 96;
    REQUIRE(cmaf_track_learn(&video, key.get()) == 0);
    mp4_file v(init_segment(video));
    CHECK(v.parameters->codec_id == AV_CODEC_ID_H264);
    CHECK(v.parameters->width == 160);
    CHECK(v.parameters->height == 96);
    CHECK(v.time_base.den == 12810);
    CHECK(v.parameters->extradata_size > 16);
    CHECK(v.parameters->extradata[1] == video.sps.data[2 + 1]);

    cmaf_track opus{};
    opus.codec = CMAF_OPUS;
    opus.timescale = AUDIO_RATE;
    mp4_file o(init_segment(opus));
    CHECK(o.parameters->codec_id == AV_CODEC_ID_OPUS);
    CHECK(o.parameters->sample_rate == AUDIO_RATE);
    CHECK(o.parameters->ch_layout.nb_channels == AUDIO_CHANNELS);

    cmaf_track aac{};
    aac.codec = CMAF_AAC;
    aac.timescale = AUDIO_RATE;
    aac.bitrate_bps = 96000;
    mp4_file a(init_segment(aac));
    CHECK(a.parameters->codec_id == AV_CODEC_ID_AAC);
    CHECK(a.parameters->bit_rate == 96000);
    REQUIRE(a.parameters->extradata_size == 2);
    CHECK(a.parameters->extradata[0] == 0x11); // LC, 48 kHz, two channels
    CHECK(a.parameters->extradata[1] == 0x90);
}

namespace
{

// A key frame of these NAL units.
frame_ptr frame_of(const std::vector<std::vector<uint8_t>> &nals)
{
    size_t bytes = 0;
    for (const auto &n : nals)
        bytes += n.size();
    frame_ptr f(coded_frame_new(bytes), coded_frame_unref);
    REQUIRE(f);
    uint32_t at = 0;
    for (const auto &n : nals) {
        f->nals[f->nal_count].offset = at;
        f->nals[f->nal_count++].len = (uint32_t)n.size();
        std::copy(n.begin(), n.end(), f->data + at);
        at += (uint32_t)n.size();
    }
    return f;
}

std::vector<uint8_t> unit(uint8_t type, size_t bytes, uint8_t fill = 0x42)
{
    std::vector<uint8_t> n(bytes, fill);
    n[0] = type;
    return n;
}

} // namespace

TEST_CASE("cmaf_track: parameter sets that are missing, cut off or too large are not learnt")
{
    const uint8_t SPS = 0x67, PPS = 0x68;
    const struct {
        const char *what;
        std::vector<std::vector<uint8_t>> nals;
        int err;
    } rows[] = {
        {"none", {unit(0x65, 9)}, ERR_NOT_FOUND},
        {"no PPS", {unit(SPS, 9)}, ERR_NOT_FOUND},
        {"no SPS", {unit(PPS, 9)}, ERR_NOT_FOUND},
        {"a PPS of three bytes", {unit(SPS, 9), unit(PPS, 3)}, ERR_NOT_FOUND},
        {"an SPS of three bytes", {unit(SPS, 3), unit(PPS, 4)}, ERR_NOT_FOUND},
        {"a large SPS", {unit(SPS, CMAF_MAX_SET - 1), unit(PPS, 4)}, ERR_TOO_BIG},
        {"a large PPS", {unit(SPS, 9), unit(PPS, CMAF_MAX_SET - 1)}, ERR_TOO_BIG},
        {"the largest", {unit(SPS, CMAF_MAX_SET - 2), unit(PPS, CMAF_MAX_SET - 2)}, 0},
        {"the first that is whole", {unit(SPS, 2), unit(SPS, 9), unit(PPS, 4)}, 0},
        {"more in all than there is room for",
         {unit(SPS, 9), unit(PPS, 600, 1), unit(PPS, 600, 2)},
         ERR_TOO_BIG},
    };
    for (const auto &row : rows) {
        INFO(row.what);
        cmaf_track t{};
        CHECK(cmaf_track_learn(&t, frame_of(row.nals).get()) == row.err);
        CHECK((t.sps.count > 0) == (row.err == 0));
        CHECK((t.pps.count > 0) == (row.err == 0));
    }
}

TEST_CASE("cmaf_track: avcC has all parameter sets, each once, and the format of the first SPS")
{
    // High 4:2:2 (122): SPS 0, chroma_format_idc 2, 10 bits of luma, 9 of chroma: ue(0) 1, ue(2)
    // 011, ue(2) 011, ue(1) 010.
    const std::vector<uint8_t> sps = {0x67, 122, 0x10, 30, 0xb6, 0x80, 0x80};
    const std::vector<uint8_t> second = {0x67, 100, 0, 30, 0x40, 9};
    const std::vector<uint8_t> pps[] = {{0x68, 1, 2, 3}, {0x68, 4, 5, 6, 7}};
    cmaf_track t{};
    t.codec = CMAF_H264;
    t.timescale = 90000;
    REQUIRE(cmaf_track_learn(&t, frame_of({sps, second, pps[0], sps, pps[1], pps[0]}).get()) == 0);
    const std::vector<uint8_t> segment = init_segment(t);
    const std::string text(segment.begin(), segment.end());
    const size_t at = text.find("avcC");
    REQUIRE(at != std::string::npos);
    const std::vector<uint8_t> avcc = {
        1,    122,  0x10, 30,   0xff,                                           // as in the SPS
        0xe2, 0,    7,    0x67, 122,  0x10, 30,   0xb6, 0x80, 0x80,             // two SPS
        0,    6,    0x67, 100,  0,    30,   0x40, 9,                            //
        2,    0,    4,    0x68, 1,    2,    3,    0,    5,    0x68, 4, 5, 6, 7, // two PPS
        0xfe, 0xfa, 0xf9, 0};                                                   // 4:2:2, 10, 9 bits
    CHECK(std::vector<uint8_t>(segment.begin() + (long)at + 4,
                               segment.begin() + (long)at + 4 + (long)avcc.size()) == avcc);
    CHECK_FALSE(cmaf_track_differs(&t, frame_of({sps, second, pps[0], pps[1]}).get()));
    CHECK(cmaf_track_differs(&t, frame_of({sps, second, pps[0]}).get()));
    CHECK_FALSE(cmaf_track_differs(&t, frame_of({unit(0x65, 9)}).get()));
}

TEST_CASE("cmaf_track: avcC has the chroma format of High profile, and none of Baseline")
{
    for (uint8_t profile : {66, 77, 100, 110}) {
        CAPTURE(profile);
        cmaf_track t{};
        t.codec = CMAF_H264;
        t.timescale = 90000;
        t.width = 64;
        t.height = 48;
        std::vector<uint8_t> sps = {0x67, profile, 0, 30, 1}, pps = {0x68, 1, 2, 3};
        REQUIRE(cmaf_track_learn(&t, frame_of({sps, pps}).get()) == 0);
        const std::vector<uint8_t> segment = init_segment(t);
        const std::string text(segment.begin(), segment.end());
        const size_t at = text.find("avcC");
        REQUIRE(at != std::string::npos);
        const size_t length = (uint8_t)text[at - 1]; // of the box, with its length and name
        // Version, profile, constraints, level, two bytes, SPS and PPS with a length each; a count
        // of PPSs.
        CHECK(length == 8 + 6 + 2 + sps.size() + 1 + 2 + pps.size() + (profile >= 100 ? 4 : 0));
    }
}
