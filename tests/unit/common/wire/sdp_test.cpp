// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/wire/sdp.h"

static struct sdp example()
{
    struct sdp s = {};
    strcpy(s.title, "Test picture");
    s.source = SDP_SOURCE_TEST;
    strcpy(s.clock, "boot:1234");
    strcpy(s.control, "trackID=1");
    s.duration = -1;
    s.payload_type = RTP_PT_H264;
    s.bitrate_bps = 1920500;
    s.codec = SDP_H264;
    strcpy(s.profile_level_id, "42C01E");
    strcpy(s.sprop, "Z0LAHtkDxWhAAAADAEAAAAwDxYuS,aMuMsg==");
    s.ext = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID, RTP_EXT_MADE_ID};
    s.tmmbr = s.ccfb = true;
    struct ladder &l = s.ladder;
    l.source_fps = {30000, 1001};
    l.source_width = 1280;
    l.source_height = 720;
    l.size_count = 2;
    l.sizes[0] = {256, 144, {15000, 1001}, 2};
    l.sizes[1] = {1280, 720, {30000, 1001}, 2};
    l.level_count = 3;
    l.levels[0] = {0, 0, 80000};
    l.levels[1] = {0, 1, 120000};
    l.levels[2] = {1, 1, 1920500};
    return s;
}

static const char golden[] = "v=0\r\n"
                             "o=- 1 1 IN IP4 0.0.0.0\r\n"
                             "s=Test picture\r\n"
                             "c=IN IP4 0.0.0.0\r\n"
                             "t=0 0\r\n"
                             "a=control:*\r\n"
                             "a=range:npt=now-\r\n"
                             "a=x-weir-clock:boot:1234\r\n"
                             "m=video 0 RTP/AVP 96\r\n"
                             "b=AS:1921\r\n"
                             "a=rtpmap:96 H264/90000\r\n"
                             "a=fmtp:96 packetization-mode=1;profile-level-id=42C01E;"
                             "sprop-parameter-sets=Z0LAHtkDxWhAAAADAEAAAAwDxYuS,aMuMsg==\r\n"
                             "a=rtcp-fb:96 nack\r\n"
                             "a=rtcp-fb:96 nack pli\r\n"
                             "a=rtcp-fb:96 ccm tmmbr\r\n"
                             "a=rtcp-fb:* ack ccfb\r\n"
                             "a=extmap:1 http://www.webrtc.org/experiments/rtp-hdrext/"
                             "abs-capture-time\r\n"
                             "a=extmap:2 urn:x-weir:rtp-hdrext:adu\r\n"
                             "a=extmap:3 urn:x-weir:rtp-hdrext:feedback\r\n"
                             "a=extmap:4 urn:x-weir:rtp-hdrext:made\r\n"
                             "a=control:trackID=1\r\n"
                             "a=x-weir-source:test 1280x720@30000/1001\r\n"
                             "a=x-weir-size:0 256x144@15000/1001 layers=2\r\n"
                             "a=x-weir-size:1 1280x720@30000/1001 layers=2\r\n"
                             "a=x-weir-level:0 size=0 tid=0 rate=80000\r\n"
                             "a=x-weir-level:1 size=0 tid=1 rate=120000\r\n"
                             "a=x-weir-level:2 size=1 tid=1 rate=1920500\r\n";

static int decode(const std::string &text, struct sdp *s)
{
    std::vector<char> copy(text.begin(), text.end()); // its own allocation: overreads show
    return sdp_decode(copy.data(), copy.size(), s);
}

TEST_CASE("sdp: encoding and decoding of a known text")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) == (int)strlen(golden));
    CHECK(std::string(out) == golden);

    REQUIRE(decode(golden, &back) == 0);
    CHECK(std::string(back.title) == s.title);
    CHECK(back.source == SDP_SOURCE_TEST);
    CHECK(std::string(back.clock) == s.clock);
    CHECK(std::string(back.control) == "trackID=1");
    CHECK(back.duration == -1);
    CHECK(back.payload_type == 96);
    CHECK(back.codec == SDP_H264);
    CHECK(std::string(back.profile_level_id) == s.profile_level_id);
    CHECK(std::string(back.sprop) == s.sprop);
    CHECK(back.ext.capture == 1);
    CHECK(back.ext.adu == 2);
    CHECK(back.ext.feedback == 3);
    CHECK((back.tmmbr && back.ccfb));
    back.bitrate_bps = s.bitrate_bps; // written, not read
    char again[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&back, false, again, sizeof(again)) > 0);
    CHECK(std::string(again) == golden);
}

TEST_CASE("sdp: a file of filler over IPv6, without a ladder")
{
    struct sdp s = {}, back;
    s.duration = 12.3456;
    s.payload_type = RTP_PT_SYNTHETIC;
    strcpy(s.title, "two\r\na=lines");
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, true, out, sizeof(out)) > 0);
    std::string text = out;
    CHECK(text.find("c=IN IP6 ::\r\n") != std::string::npos);
    CHECK(text.find("a=range:npt=0-12.346\r\n") != std::string::npos);
    CHECK(text.find("s=two  a=lines\r\n") != std::string::npos);
    CHECK(text.find("x-weir-level") == std::string::npos);
    REQUIRE(decode(text, &back) == 0);
    CHECK(back.codec == SDP_SYNTHETIC);
    CHECK(back.payload_type == 97);
    CHECK(back.duration == Approx(12.346));
    CHECK(back.ladder.level_count == 0);
    s.title[0] = '\0';
    sdp_encode(&s, true, out, sizeof(out));
    REQUIRE(decode(out, &back) == 0);
    CHECK(back.title[0] == '\0');
}

TEST_CASE("sdp: H.264 comes before other codecs")
{
    const std::string begin = "v=0\r\nm=video 0 RTP/AVP 96 100\r\n",
                      vp9 = "a=rtpmap:100 VP9/90000\r\n", h264 = "a=rtpmap:96 H264/90000\r\n",
                      hevc = "a=rtpmap:100 H265/90000\r\n",
                      jpeg = "v=0\r\nm=video 0 RTP/AVP 26\r\n",
                      adu = "a=extmap:2 " RTP_EXT_ADU_URI "\r\n";
    struct row {
        std::string text;
        int result;
        enum sdp_codec codec;
    };
    const row rows[] = {
        {begin + vp9 + adu, 0, SDP_VP9},
        {begin + vp9, 0, SDP_VP9},
        {begin + vp9 + h264, 0, SDP_H264},
        {begin + h264 + vp9 + adu, 0, SDP_H264},
        {begin + hevc + adu, 0, SDP_HEVC},
        {begin + hevc, 0, SDP_HEVC},
        {begin + hevc + h264, 0, SDP_H264},
        {begin + hevc + vp9 + adu, 0, SDP_HEVC},
        {jpeg, 0, SDP_JPEG},
        {jpeg + "a=rtpmap:26 jpeg/90000\r\n", 0, SDP_JPEG},
        {"v=0\r\nm=video 0 RTP/AVP 97\r\na=rtpmap:97 JPEG/90000\r\n", 0, SDP_JPEG},
        {jpeg + "m=video 0 RTP/AVP 96\r\n" + h264, 0, SDP_H264},
        {begin + h264 + "m=video 0 RTP/AVP 26\r\n", 0, SDP_H264},
        {"v=0\r\nm=audio 0 RTP/AVP 26\r\n", ERR_UNSUPPORTED, SDP_JPEG},
        {"v=0\r\nm=video 0 RTP/AVP 27\r\n", ERR_UNSUPPORTED, SDP_JPEG},
        // Payloads with decoding order numbers (RFC 7798, 4.4).
        {begin + hevc + adu + "a=fmtp:100 sprop-max-don-diff=1\r\n", ERR_UNSUPPORTED, SDP_HEVC},
        {begin + hevc + adu + "a=fmtp:100 sprop-max-don-diff=0\r\n", 0, SDP_HEVC},
    };
    for (const row &r : rows) {
        CAPTURE(r.text);
        struct sdp s;
        REQUIRE(decode(r.text, &s) == r.result);
        CHECK((r.result || s.codec == r.codec));
    }
    struct sdp s = example();
    s.codec = SDP_VP9;
    s.payload_type = sdp_payload_type(SDP_VP9);
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(std::string(out).find("a=rtpmap:100 VP9/90000\r\na=fmtp:100 profile-id=0\r\n") !=
          std::string::npos);
}

TEST_CASE("sdp: a camera's H.265 and its parameter sets, and JPEG")
{
    const std::string begin = "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=yard\r\nt=0 0\r\n";
    struct sdp s;
    REQUIRE(decode(begin + "m=video 0 RTP/AVP 98\r\na=rtpmap:98 h265/90000\r\n"
                           "a=fmtp:98 profile-id=1;sprop-vps=QAEM;sprop-sps=QgEB;sprop-pps=RAHB\r\n"
                           "a=framerate:20\r\na=control:trackID=1\r\n",
                   &s) == 0);
    CHECK(s.codec == SDP_HEVC);
    CHECK(sdp_is_third_party(&s));
    CHECK(s.payload_type == 98);
    CHECK(std::string(s.control) == "trackID=1");
    CHECK(s.ladder.source_fps.num == 20000);
    CHECK(std::string(s.sprop) == "QAEM,QgEB,RAHB");
    REQUIRE(decode(begin + "m=video 0 RTP/AVP 26\r\na=framerate:10\r\na=control:trackID=2\r\n",
                   &s) == 0);
    CHECK(sdp_is_third_party(&s));
    CHECK(s.payload_type == 26);
    CHECK(std::string(s.control) == "trackID=2");
}

TEST_CASE("sdp: HEVC's format and parameter sets")
{
    struct sdp s = example(), back;
    s.codec = SDP_HEVC;
    s.payload_type = sdp_payload_type(SDP_HEVC);
    strcpy(s.profile_level_id, "01015d");
    strcpy(s.sprop, "QAE=,QgE=,RAE=");
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(std::string(out).find(
              "a=rtpmap:101 H265/90000\r\na=fmtp:101 profile-id=1;tier-flag=1;level-id=93;"
              "sprop-vps=QAE=;sprop-sps=QgE=;sprop-pps=RAE=\r\n") != std::string::npos);
    REQUIRE(decode(out, &back) == 0);
    CHECK(back.codec == SDP_HEVC);
    CHECK(std::string(back.profile_level_id) == s.profile_level_id);
    CHECK(std::string(back.sprop) == s.sprop);

    const std::string head =
        "v=0\r\nm=video 0 RTP/AVP 101\r\na=rtpmap:101 H265/90000\r\na=extmap:2 " RTP_EXT_ADU_URI
        "\r\na=fmtp:101 ";
    REQUIRE(decode(head + "level-id=120;tier-flag=256;profile-id=x\r\n", &back) == 0);
    CHECK(std::string(back.profile_level_id) == "010078"); // others are RFC 7798's defaults
    CHECK(decode(head + "sprop-vps=" + std::string(600, 'A') +
                     ";sprop-sps=" + std::string(600, 'A') + "\r\n",
                 &back) == ERR_TOO_BIG);
    s.profile_level_id[0] = '\0'; // unknown: no fmtp line
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(std::string(out).find("a=fmtp:101") == std::string::npos);
}

TEST_CASE("sdp: media that have frames")
{
    struct row {
        enum sdp_source source;
        enum sdp_codec codec;
        bool frames;
        const char *name;
    };
    const row rows[] = {
        {SDP_SOURCE_TEST, SDP_H264, true, "test"},
        {SDP_SOURCE_UNKNOWN, SDP_H264, true, "unknown"},
        {SDP_SOURCE_CAMERA, SDP_VP9, true, "camera"},
        {SDP_SOURCE_GREEDY, SDP_SYNTHETIC, false, "greedy"},
        {SDP_SOURCE_UNKNOWN, SDP_SYNTHETIC, false, "unknown"},
        {SDP_SOURCE_GODDARD, SDP_SYNTHETIC, true, "goddard"},
        {SDP_SOURCE_LAYERS, SDP_SYNTHETIC, true, "layers"},
    };
    for (const row &r : rows) {
        CAPTURE(r.name);
        struct sdp s = example(), back;
        s.source = r.source;
        s.codec = r.codec;
        s.payload_type = sdp_payload_type(r.codec);
        char out[SDP_MAX_BYTES];
        REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
        CHECK(std::string(out).find(std::string("x-weir-source:") + r.name) != std::string::npos);
        REQUIRE(decode(out, &back) == 0);
        CHECK(back.source == r.source);
        CHECK(sdp_has_frames(&back) == r.frames);
        CHECK(back.codec == r.codec);
        CHECK(back.payload_type == s.payload_type);
        CHECK(sdp_has_pictures(&back) == (r.codec != SDP_SYNTHETIC));
    }
}

TEST_CASE("sdp: lack of room is reported")
{
    struct sdp s = example();
    char out[SDP_MAX_BYTES];
    for (size_t cap = 0; cap <= strlen(golden); cap++)
        CHECK(sdp_encode(&s, false, out, cap) == ERR_FULL);
    CHECK(sdp_encode(&s, false, out, strlen(golden) + 1) == (int)strlen(golden));
}

TEST_CASE("sdp: a third party's camera")
{
    struct sdp s;
    REQUIRE(decode("v=0\n"
                   "o=- 1 1 IN IP4 192.0.2.1\n"
                   "s= \n"
                   "t=0 0\n"
                   "a=control:rtsp://192.0.2.1/cam/\n"
                   "m=audio 0 RTP/AVP 0\n"
                   "a=control:track1\n"
                   "m=video 0 RTP/AVP 26 98 99\n"
                   "a=fmtp:98 packetization-mode=1; profile-level-id=4d0029;x=y; "
                   "sprop-parameter-sets=Z00AKeKQ,aO48gA==\n"
                   "a=fmtp:99 packetization-mode=0\n"
                   "a=rtpmap:26 JPEG/90000\n"
                   "a=rtpmap:98 h264/90000\n"
                   "a=rtpmap:99 H264/90000\n"
                   "a=extmap:3/recvonly http://www.webrtc.org/experiments/rtp-hdrext/"
                   "abs-capture-time attribute\n"
                   "a=extmap:20 urn:x-weir:rtp-hdrext:adu\n"
                   "a=range:clock=19961108T142300Z-\n"
                   "a=control:track2\n"
                   "m=video 0 RTP/AVP 98\n"
                   "a=rtpmap:98 H264/90000\n"
                   "a=control:track3\n",
                   &s) == 0);
    CHECK(s.title[0] == '\0');
    CHECK(s.codec == SDP_H264);
    CHECK(s.payload_type == 98);
    CHECK(std::string(s.control) == "track2");
    CHECK(std::string(s.profile_level_id) == "4d0029");
    CHECK(std::string(s.sprop) == "Z00AKeKQ,aO48gA==");
    CHECK(s.ext.capture == 3);
    CHECK(s.ext.adu == 0);
    CHECK(s.duration == -1);
    CHECK(s.ladder.level_count == 0);
}

TEST_CASE("sdp: audio next to the video")
{
    struct sdp s = example();
    s.audio.present = true;
    s.audio.payload_type = 111;
    s.audio.bitrate_bps = 64000;
    s.audio.ext.adu = 2;
    strcpy(s.audio.control, "trackID=1");
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    const char *medium = strstr(out, "m=audio");
    REQUIRE(medium);
    CHECK(std::string(medium) == "m=audio 0 RTP/AVP 111\r\n"
                                 "b=AS:64\r\n"
                                 "a=rtpmap:111 opus/48000/2\r\n"
                                 "a=fmtp:111 sprop-stereo=1\r\n"
                                 "a=ptime:20\r\n"
                                 "a=extmap:2 urn:x-weir:rtp-hdrext:adu\r\n"
                                 "a=control:trackID=1\r\n");
    struct sdp back;
    REQUIRE(sdp_decode(out, strlen(out), &back) == 0);
    CHECK(back.audio.present);
    CHECK(back.audio.payload_type == 111);
    CHECK(back.audio.ext.adu == 2);
    CHECK(back.audio.ext.feedback == 0);
    CHECK(std::string(back.audio.control) == "trackID=1");
    CHECK(std::string(back.control) == std::string(s.control));
    CHECK(back.payload_type == s.payload_type);
}

TEST_CASE("sdp: AAC is written, not read")
{
    struct sdp s = example();
    s.audio.present = true;
    s.audio.codec = SDP_AUDIO_AAC;
    s.audio.payload_type = 98;
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    const char *medium = strstr(out, "m=audio");
    REQUIRE(medium);
    CHECK(std::string(medium) ==
          "m=audio 0 RTP/AVP 98\r\n"
          "a=rtpmap:98 mpeg4-generic/48000/2\r\n"
          "a=fmtp:98 streamtype=5;profile-level-id=41;mode=AAC-hbr;sizelength=13;indexlength=3;"
          "indexdeltalength=3;config=1190\r\n");
    struct sdp back;
    REQUIRE(sdp_decode(out, strlen(out), &back) == 0);
    CHECK_FALSE(back.audio.present);
    CHECK(std::string(back.other_audio) == "mpeg4-generic");
}

TEST_CASE("sdp: which audio is supported")
{
    struct row {
        const char *audio; // behind the video
        bool present;
        const char *other = "";
    };
    const std::string video = "v=0\na=extmap:2 urn:x-weir:rtp-hdrext:adu\na=control:*\n"
                              "m=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\n";
    const row table[] = {
        {"", false},
        {"m=audio 0 RTP/AVP 0\na=rtpmap:0 PCMU/8000\n", false, "PCMU"},
        {"m=audio 0 RTP/AVP 8 0\n", false, "PCMA"},
        {"m=audio 0 RTP/AVP 15\n", false, "an unknown format"},
        {"m=audio 0 RTP/AVP 97\na=rtpmap:97 MPEG4-GENERIC/44100/2\n", false, "MPEG4-GENERIC"},
        {"m=audio 0 RTP/AVP 8\nm=audio 0 RTP/AVP 98\na=rtpmap:98 opus/48000/2\n", true},
        {"m=audio 0 RTP/AVP 98\na=rtpmap:98 opus\n", true},
        {"m=audio 0 RTP/AVP 98\na=rtpmap:98 opus/16000\n", false, "opus"},
        {"m=audio 0 RTP/AVP 0 98\na=rtpmap:98 OPUS/48000/2\n", true},
        {"m=audio 0 RTP/AVPF 98\na=rtpmap:98 opus/48000/2\n", true},
        {"m=audio 0 RTP/SAVP 98\na=rtpmap:98 opus/48000/2\n", false},
        {"m=audio 0 RTP/AVP 98\na=rtpmap:99 opus/48000/2\n", false,
         "an unknown format"},                                       // not offered
        {"m=audio 0 RTP/AVP 96\na=rtpmap:96 opus/48000/2\n", false}, // could not be told apart
        {"m=video 0 RTP/AVP 98\na=rtpmap:98 opus/48000/2\n", false},
    };
    for (const row &r : table) {
        INFO(r.audio);
        struct sdp s;
        REQUIRE(decode(video + r.audio, &s) == 0);
        CHECK(s.audio.present == r.present);
        CHECK(s.audio.ext.adu == (r.present ? 2 : 0)); // the session's is for all media
        CHECK(s.audio.control[0] == '\0');             // its control is not
        CHECK(std::string(s.other_audio) == r.other);
    }
    struct sdp s;
    std::string own = "v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
                      "m=audio 0 RTP/AVP 96\na=rtpmap:96 opus/48000/2\n";
    REQUIRE(decode(own, &s) == 0); // others give each medium a way of its own
    CHECK(s.audio.present);
    std::string control(SDP_MAX_TEXT, 'x');
    CHECK(decode(video + "m=audio 0 RTP/AVP 98\na=rtpmap:98 opus/48000/2\na=control:" + control +
                     "\n",
                 &s) == ERR_TOO_BIG);
}

static std::string with(const std::string &from, const std::string &to)
{
    std::string text = golden;
    size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

TEST_CASE("sdp: refused descriptions")
{
    const struct {
        const char *from;
        std::string to;
        int result;
    } cases[] = {
        {"v=0", "v=1", ERR_MALFORMED},
        {"t=0 0", "T=0 0", 0}, // strangers' lines are passed over
        {"t=0 0", "t", 0},
        {"m=video 0", "m=video x", ERR_MALFORMED},
        {"m=video 0", "m=video 0/2", 0},
        {"m=video", "m=audio", ERR_UNSUPPORTED},
        {"RTP/AVP", "RTP/AVPF", 0},
        {"RTP/AVP", "RTP/AVP/TCP", 0}, // SETUP chooses the transport
        {"v=0", "\r\n\r\nv=0", 0},
        {"v=0", "", 0},                // no version
        {"v=0", "\xef\xbb\xbfv=0", 0}, // after a byte order mark
        {"RTP/AVP", "RTP/SAVP", ERR_UNSUPPORTED},
        {"H264/90000", "H266/90000", ERR_UNSUPPORTED},
        {"H264/90000", "H264/48000", ERR_UNSUPPORTED},
        {"rtpmap:96", "rtpmap:97", ERR_UNSUPPORTED},
        {"rtpmap:96", "rtpmap:128", ERR_UNSUPPORTED},
        {"packetization-mode=1", "packetization-mode=2", ERR_UNSUPPORTED},
        {"42C01E", "nonsense", 0},
        {"trackID=1", std::string(SDP_MAX_TEXT, 'x'), ERR_TOO_BIG},
        {"aMuMsg==", std::string(SDP_MAX_PARAMETER_SETS, 'x'), ERR_TOO_BIG},
        {"Test picture", std::string(SDP_MAX_TEXT, 'x'), 0}, // cut short
        {"Test picture", std::string(SDP_MAX_BYTES, 'x'), ERR_TOO_BIG},
        {"source:test", "source:moon", 0}, // unknown
        {"1280x720@30000/1001\r\na=x-weir-size:0", "0x720@30/1\r\na=x-weir-size:0", ERR_MALFORMED},
        {"1280x720@30000/1001\r\na=x-weir-size:0", "1280x720\r\na=x-weir-size:0", ERR_MALFORMED},
        {"a=x-weir-source:", "a=x-other:", ERR_MALFORMED}, // sizes of no source
        {"256x144@15000/1001", "256x144@15000/0", ERR_MALFORMED},
        {"256x144@15000/1001", "257x144@15000/1001", ERR_MALFORMED},
        {"256x144@15000/1001", "256x144@60/1", ERR_MALFORMED},
        {"layers=2", "layers=2 later=1", 0},
        {"layers=2", "layers=2later", ERR_MALFORMED},
        {"layers=2", "layers=99", ERR_MALFORMED},
        {"x-weir-size:1", "x-weir-size:0", ERR_MALFORMED},
        {"x-weir-level:1", "x-weir-level:7", ERR_MALFORMED},
        {"size=1", "size=2", ERR_MALFORMED},
        {"tid=1 rate=1920500", "tid=2 rate=1920500", ERR_MALFORMED},
        {"rate=1920500", "rate=120000", ERR_MALFORMED},
        {"rate=1920500", "rate=99999999999", ERR_MALFORMED},
    };
    for (const auto &c : cases) {
        INFO(c.from << " -> " << c.to.substr(0, 60));
        struct sdp s;
        CHECK(decode(with(c.from, c.to), &s) == c.result);
        if (c.result == 0)
            CHECK(s.title[0] == (c.to[0] == 'x' ? 'x' : 'T'));
    }
    struct sdp s;
    CHECK(decode("", &s) == ERR_MALFORMED);
    CHECK(decode("\r\n\r\n", &s) == ERR_MALFORMED);
    // what cameras send: a line with control characters is skipped, a NUL is the end
    REQUIRE(decode(with("s=Test picture", "s=a\x01"), &s) == 0);
    CHECK(s.title[0] == '\0');
    REQUIRE(decode(golden + std::string("\0v=1\r\n", 6), &s) == 0);
    // a title is cut to its room, white space at the cut goes too
    REQUIRE(decode(with("Test picture", "T" + std::string(SDP_MAX_TEXT, ' ') + "x"), &s) == 0);
    CHECK(std::string(s.title) == "T");
}

TEST_CASE("sdp: too many sizes and levels")
{
    std::string sizes = "a=x-weir-size:1", levels = "a=x-weir-level:2";
    for (int i = 2; i < LADDER_MAX_SIZES + 1; i++)
        sizes = "a=x-weir-size:" + std::to_string(LADDER_MAX_SIZES + 2 - i) +
                " 256x144@15/1 layers=2\r\n" + sizes;
    struct sdp s;
    CHECK(decode(with("a=x-weir-size:1", sizes), &s) == ERR_MALFORMED);
    std::string many;
    for (int i = 0; i <= LADDER_MAX_LEVELS; i++)
        many += "a=x-weir-level:" + std::to_string(i) +
                " size=0 tid=0 rate=" + std::to_string(1000 + i) + "\r\n";
    CHECK(decode(with("a=x-weir-level:0", many + "a=x-weir-level:0"), &s) == ERR_MALFORMED);
}

TEST_CASE("sdp: truncations and mutations give a valid ladder or none")
{
    auto check = [](const std::string &text) {
        auto s = std::make_unique<struct sdp>();
        int err = decode(text, s.get());
        if (err == 0 && s->ladder.level_count > 0)
            REQUIRE(ladder_is_valid(&s->ladder));
        return err;
    };
    // without the rtpmap line's codec there is no medium of ours
    size_t needed = std::string(golden).find("H264/90000") + strlen("H264");
    for (size_t len = 0; len < strlen(golden); len++) {
        int err = check(std::string(golden, len));
        if (len < needed)
            REQUIRE(err != 0);
    }
    struct rng rng = rng_seeded(7);
    for (int i = 0; i < 10000; i++) {
        std::string text = golden;
        for (uint64_t k = 1 + rng_below(&rng, 4); k-- > 0;)
            text[rng_below(&rng, text.size())] = (char)(32 + rng_below(&rng, 96));
        check(text);
    }
}

TEST_CASE("sdp: third parties' descriptions")
{
    auto s = std::make_unique<struct sdp>();
    const char *gstreamer =
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=Session\r\nt=0 0\r\na=tool:x\r\n"
        "a=control:*\r\na=range:npt=now-\r\n"
        "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 OPUS/48000/2\r\na=control:stream=1\r\n"
        "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=framerate:29.97\r\n"
        "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z0LA,aM48\r\n"
        "a=control:stream=0\r\n";
    REQUIRE(decode(gstreamer, s.get()) == 0);
    CHECK(sdp_is_third_party(s.get()));
    CHECK(std::string(s->control) == "stream=0");
    CHECK(std::string(s->base).empty()); // "*": the presentation's own URL
    CHECK(std::string(s->sprop) == "Z0LA,aM48");
    CHECK((s->ladder.source_fps.num == 29970 && s->ladder.source_fps.den == 1000));
    CHECK((s->ladder.level_count == 0 && !s->nack && !s->pli && s->duration < 0));

    const char *camera =
        "v=0\no=- 1 1 IN IP4 0.0.0.0\nX-odd line\na=control:rtsp://h/all/\n"
        "m=video 0 RTP/AVPF 98\na=rtpmap:98 h264\na=framerate:0\na=rtcp-fb:98 nack pli\n"
        "a=rtcp-fb:* nack\na=extmap:1 "
        "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time\n";
    REQUIRE(decode(camera, s.get()) == 0);
    CHECK(sdp_is_third_party(s.get()));
    CHECK(s->payload_type == 98);
    CHECK(std::string(s->base) == "rtsp://h/all/");
    CHECK((s->ladder.source_fps.num == 25 && s->ladder.source_fps.den == 1));
    CHECK((s->nack && s->pli && !s->tmmbr));
    for (const auto &[line, takes] : std::vector<std::pair<const char *, bool>>{
             {"* ccm tmmbr", true},
             {"98 ccm tmmbr", true},
             {"* ccm tmmbr smaxpr=120", true},
             {"* ccm  tmmbr ", true},
             {"* ccm tmmbrx", false},
             {"* ccm fir", false},
             {"* ccm", false},
             {"tmmbr", false},
         }) {
        INFO(line);
        REQUIRE(decode(std::string(camera) + "a=rtcp-fb:" + line + "\n", s.get()) == 0);
        CHECK(s->tmmbr == takes);
    }
    for (const char *rate : {"2147483647/1", "1/2147483647", "25000000/1000000"}) {
        std::string pretends = std::string(camera) + "a=x-weir-source:test 16x16@" + rate + "\n";
        REQUIRE(decode(pretends.c_str(), s.get()) == 0);
        CHECK(s->source == SDP_SOURCE_UNKNOWN);
        CHECK((s->ladder.source_fps.num == 25 && s->ladder.source_fps.den == 1));
    }
    REQUIRE(decode(golden, s.get()) == 0);
    CHECK_FALSE(sdp_is_third_party(s.get()));
    CHECK(s->nack);
}

TEST_CASE("sdp: sizes that are layers of one picture")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    s.ladder.cumulative = true;
    for (int i = 1; i < s.ladder.size_count; i++) {
        s.ladder.sizes[i].fps = s.ladder.sizes[0].fps;
        s.ladder.sizes[i].layers = s.ladder.sizes[0].layers = 2;
    }
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(std::string(out).find("a=x-weir-layers:sizes\r\n") != std::string::npos);
    REQUIRE(decode(out, &back) == 0);
    CHECK(back.ladder.cumulative);
    REQUIRE(decode(golden, &back) == 0);
    CHECK_FALSE(back.ladder.cumulative);
    s.ladder.sizes[0].layers = 1; // another pattern than that of the other sizes
    REQUIRE(s.ladder.size_count > 1);
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(decode(out, &back) == ERR_MALFORMED);
}

TEST_CASE("sdp: the order of frames")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    s.reorders = true;
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(std::string(out).find("a=x-weir-order:decoding\r\n") != std::string::npos);
    REQUIRE(decode(out, &back) == 0);
    CHECK(back.reorders);
    REQUIRE(decode(golden, &back) == 0);
    CHECK_FALSE(back.reorders);
}

TEST_CASE("sdp: the validator of a prepared file")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    snprintf(s.validator, sizeof(s.validator), "bytes=123 mtime=456.000000789");
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    REQUIRE(decode(out, &back) == 0);
    CHECK(std::string(back.validator) == s.validator);
    std::string text = out;
    text[text.find("456")] = '\x80'; // not ASCII: ignored
    REQUIRE(decode(text.c_str(), &back) == 0);
    CHECK(back.validator[0] == '\0');
    text = out;
    text.insert(text.find("456"), 100, '4'); // too long: another one would be the same
    REQUIRE(decode(text.c_str(), &back) == 0);
    CHECK(back.validator[0] == '\0');
}

TEST_CASE("sdp: the tracks of subtitles")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    s.subtitle_count = 2;
    s.subtitle_shown = 2;
    snprintf(s.subtitles[0], sizeof(s.subtitles[0]), "eng, all\nof it");
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    REQUIRE(decode(out, &back) == 0);
    REQUIRE(back.subtitle_count == 2);
    CHECK(back.subtitle_shown == 2);
    CHECK(std::string(back.subtitles[0]) == "eng, all of it");
    CHECK(std::string(back.subtitles[1]) == ""); // without a name
    std::string text = out;
    const std::string line = "a=x-weir-subtitles:\r\n";
    for (int i = 0; i < SUBTITLE_TRACKS; i++)
        text.insert(text.find(line), "a=x-weir-subtitles: x" + std::string(300, ' ') + "x\r\n");
    REQUIRE(decode(text.c_str(), &back) == 0);
    CHECK(std::string(back.subtitles[1]) == "x"); // cut to its room; white space at the cut goes
    CHECK(back.subtitle_count == SUBTITLE_TRACKS);
}

TEST_CASE("sdp: the audio tracks")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    CHECK(std::string(out).find("x-weir-audio") == std::string::npos);
    s.audio_track_count = 2;
    snprintf(s.audio_tracks[0], sizeof(s.audio_tracks[0]), "eng, all\nof it");
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    REQUIRE(decode(out, &back) == 0);
    REQUIRE(back.audio_track_count == 2);
    CHECK(std::string(back.audio_tracks[0]) == "eng, all of it");
    CHECK(std::string(back.audio_tracks[1]) == ""); // without a name
    std::string text = out;
    const std::string line = "a=x-weir-audio:\r\n";
    for (int i = 0; i < SDP_AUDIO_TRACKS; i++)
        text.insert(text.find(line), "a=x-weir-audio: x" + std::string(300, ' ') + "x\r\n");
    REQUIRE(decode(text.c_str(), &back) == 0);
    CHECK(std::string(back.audio_tracks[1]) == "x"); // cut to its room; white space at the cut goes
    CHECK(back.audio_track_count == SDP_AUDIO_TRACKS);
}

TEST_CASE("sdp: the proxies on the way")
{
    struct sdp s = example(), back;
    char out[SDP_MAX_BYTES];
    snprintf(s.via, sizeof(s.via), "RTSP/1.0 core, RTSP/1.0 edge-3");
    REQUIRE(sdp_encode(&s, false, out, sizeof(out)) > 0);
    REQUIRE(decode(out, &back) == 0);
    CHECK(std::string(back.via) == s.via);
    std::string text = out;
    text[text.find("edge-3")] = '\xff'; // not ASCII: ignored
    REQUIRE(decode(text.c_str(), &back) == 0);
    CHECK(back.via[0] == '\0');
}
