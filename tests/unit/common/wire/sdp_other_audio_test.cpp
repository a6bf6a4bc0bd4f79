// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp_other_audio.h"

#include <catch2/catch.hpp>
#include <string>

namespace
{

const std::string head = "v=0\r\ns=yard\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                         "a=control:trackID=1\r\n";
const std::string aac = "m=audio 0 RTP/AVP 97\r\na=control:trackID=2\r\n"
                        "a=rtpmap:97 mpeg4-generic/16000/1\r\n";
const std::string lengths = "sizelength=13;indexlength=3;indexdeltalength=3";

bool read(const std::string &media, sdp_audio *out)
{
    const std::string text = head + media;
    *out = {};
    return sdp_other_audio_read(text.data(), text.size(), out);
}

} // namespace

TEST_CASE("sdp: audio of cameras in L16 and G.726")
{
    struct row {
        std::string line; // of format 97, or the type alone
        sdp_audio_codec codec;
        int rate, channels, bits;
    };
    const row table[] = {
        {"L16/8000", SDP_AUDIO_L16, 8000, 1, 0},
        {"l16/44100/2", SDP_AUDIO_L16, 44100, 2, 0},
        {"10", SDP_AUDIO_L16, 44100, 2, 0},
        {"11", SDP_AUDIO_L16, 44100, 1, 0},
        {"2", SDP_AUDIO_G726, 8000, 1, 4},
        {"G726-16/8000", SDP_AUDIO_G726, 8000, 1, 2},
        {"g726-24", SDP_AUDIO_G726, 8000, 1, 3},
        {"G726-32/8000/1", SDP_AUDIO_G726, 8000, 1, 4},
        {"G726-40/8000", SDP_AUDIO_G726, 8000, 1, 5},
        {"AAL2-G726-32/8000", SDP_AUDIO_G726_AAL2, 8000, 1, 4},
        {"AAL2-G726-40/8000", SDP_AUDIO_G726_AAL2, 8000, 1, 5},
    };
    for (const row &r : table) {
        INFO(r.line);
        sdp_audio a;
        bool is_type = r.line.size() <= 2;
        REQUIRE(read(is_type ? "m=audio 0 RTP/AVP " + r.line + "\na=control:2\n"
                             : "m=audio 0 RTP/AVP 97\na=rtpmap:97 " + r.line + "\na=control:2\n",
                     &a));
        CHECK(a.payload_type == (is_type ? std::stoi(r.line) : 97));
        CHECK(a.codec == r.codec);
        CHECK(a.clock_rate == r.rate);
        CHECK(a.channels == r.channels);
        CHECK(a.bits == r.bits);
    }
    for (const char *line : {"L16", "L16/8000/3", "G726-32/8000/2", "G726-48/8000", "G726/8000"}) {
        INFO(line);
        sdp_audio a;
        CHECK_FALSE(
            read(std::string("m=audio 0 RTP/AVP 97\na=rtpmap:97 ") + line + "\na=control:2\n", &a));
    }
}

TEST_CASE("sdp: audio of cameras in AAC and G.711")
{
    struct row {
        std::string media;
        sdp_audio_codec codec;
        int type, rate, channels, config_bytes;
    };
    const row table[] = {
        {"m=audio 0 RTP/AVP 0\na=control:2\n", SDP_AUDIO_PCMU, 0, 8000, 1, 0},
        {"m=audio 0 RTP/AVP 8\na=control:2\n", SDP_AUDIO_PCMA, 8, 8000, 1, 0},
        {"m=audio 0 RTP/AVP 8\na=rtpmap:8 pcma/8000\na=control:2\n", SDP_AUDIO_PCMA, 8, 8000, 1, 0},
        {"m=audio 0 RTP/AVPF 99\na=rtpmap:99 PCMU/16000/2\na=control:2\n", SDP_AUDIO_PCMU, 99,
         16000, 2, 0},
        {"m=audio 0 RTP/AVP 98\na=rtpmap:98 PCMU\na=control:2\n", SDP_AUDIO_PCMU, 98, 8000, 1, 0},
        {aac + "a=fmtp:97 streamtype=5;profile-level-id=1;mode=AAC-hbr;config=1408;" + lengths +
             "\n",
         SDP_AUDIO_AAC, 97, 16000, 1, 2},
        {aac + "a=fmtp:97 SizeLength=13; IndexLength=3; indexDeltaLength=3; "
               "config=2B92080056e500\r\n",
         SDP_AUDIO_AAC, 97, 16000, 1, 7},
        {"m=audio 0 RTP/AVP 0\na=sendonly\na=control:2\n" // the loudspeaker
         "m=audio 0 RTP/AVP 8\na=recvonly\na=control:3\n",
         SDP_AUDIO_PCMA, 8, 8000, 1, 0},
        {"m=audio 0 RTP/AVP 9\na=control:2\nm=audio 0 RTP/AVP 0\na=control:3\n", SDP_AUDIO_PCMU, 0,
         8000, 1, 0},
    };
    for (const row &r : table) {
        INFO(r.media);
        sdp_audio a;
        REQUIRE(read(r.media, &a));
        CHECK(a.present);
        CHECK(a.codec == r.codec);
        CHECK(a.payload_type == r.type);
        CHECK(a.clock_rate == r.rate);
        CHECK(a.channels == r.channels);
        CHECK(a.config_bytes == r.config_bytes);
    }
    sdp_audio a;
    REQUIRE(read(table[5].media, &a));
    CHECK(std::string(a.control) == "trackID=2");
    CHECK(a.config[0] == 0x14);
    CHECK(a.config[1] == 0x08);
}

TEST_CASE("sdp: audio that cannot be decoded is not taken")
{
    const std::string fmtp = "a=fmtp:97 ";
    const std::string table[] = {
        "",
        "m=audio 0 RTP/AVP 0\n",                                                   // no control
        "m=audio 0 RTP/AVP 0\na=control:" + std::string(SDP_MAX_TEXT, 'x') + "\n", // too long
        "m=audio 0 RTP/SAVP 0\na=control:2\n",
        "m=audio 0 RTP/AVP 9\na=control:2\n",  // G.722
        "m=audio 0 RTP/AVP 97\na=control:2\n", // no name
        "m=audio 0 RTP/AVP x\na=control:2\n",
        "m=audio\na=control:2\n",
        "m=application 0 RTP/AVP 0\na=control:2\n",
        "m=audio 0 RTP/AVP 0\na=rtpmap:0 PCMU/0\na=control:2\n",
        "m=audio 0 RTP/AVP 0\na=rtpmap:0 PCMU/8000/3\na=control:2\n",
        "m=audio 0 RTP/AVP 0\na=rtpmap:0 PCMU/800000\na=control:2\n",
        "m=audio 0 RTP/AVP 97\na=rtpmap:97 MP4A-LATM/16000\na=control:2\n",
        aac, // no parameters
        aac + fmtp + lengths + "\n",
        aac + fmtp + "config=1408\n",
        aac + fmtp + "config=140;" + lengths + "\n",
        aac + fmtp + "config=14x8;" + lengths + "\n",
        aac + fmtp + "config=" + std::string(2 * SDP_MAX_AUDIO_CONFIG + 2, '0') + ";" + lengths +
            "\n",
        aac + fmtp + "config=1408;sizelength=6;indexlength=2;indexdeltalength=2\n", // AAC-lbr
        aac + "a=fmtp:96 config=1408;" + lengths + "\n",
    };
    for (const std::string &media : table) {
        INFO(media);
        sdp_audio a;
        CHECK_FALSE(read(media, &a));
        CHECK_FALSE(a.present);
    }
}
