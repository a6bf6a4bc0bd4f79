// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

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
    CHECK(t.sps[0] == 0x67);
    CHECK(t.pps[0] == 0x68);
    CHECK_FALSE(cmaf_track_differs(&t, key.get()));
    CHECK_FALSE(cmaf_track_differs(&t, next.get())); // has none
    t.sps[3]++;
    CHECK(cmaf_track_differs(&t, key.get()));
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
    CHECK(v.parameters->extradata[1] == video.sps[1]);

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
