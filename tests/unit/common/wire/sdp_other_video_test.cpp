// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp_other_video.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"
#include "common/wire/sdp.h"

namespace
{

std::string rewrite(const std::string &text, sdp_other_video codec = SDP_OTHER_HEVC,
                    size_t room = 100)
{
    std::string out(text.size() + room, '\0');
    out.resize(sdp_other_video_rewrite(text.data(), text.size(), codec, &out[0], out.size()));
    return out;
}

} // namespace

TEST_CASE("a description of H.265 is read")
{
    const std::string text = "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=yard\r\nt=0 0\r\n"
                             "m=video 0 RTP/AVP 98\r\na=rtpmap:98 h265/90000\r\n"
                             "a=fmtp:98 profile-id=1;sprop-vps=QAEMAf//AWA=\r\na=framerate:20\r\n"
                             "a=control:trackID=1\r\n";
    sdp s;
    const std::string other = rewrite(text);
    CHECK(other.find("fmtp") == std::string::npos);
    REQUIRE(sdp_decode(other.data(), other.size(), &s) == 0);
    CHECK(s.codec == SDP_H264);
    CHECK(s.payload_type == 98);
    CHECK(std::string(s.control) == "trackID=1");
    CHECK(s.ladder.source_fps.num == 20000);
}

TEST_CASE("a description of JPEG is read, with or without the codec's name")
{
    for (const char *name : {"", "a=rtpmap:26 JPEG/90000\r\n", "a=rtpmap:26 jpeg/90000\r\n"}) {
        const std::string text = "v=0\r\ns=yard\r\nm=video 0 RTP/AVP 26\r\n" + std::string(name) +
                                 "a=framerate:10\r\na=control:trackID=2\r\n";
        sdp s;
        CHECK(rewrite(text).empty());
        const std::string other = rewrite(text, SDP_OTHER_JPEG);
        REQUIRE(sdp_decode(other.data(), other.size(), &s) == 0);
        CHECK(s.codec == SDP_H264);
        CHECK(s.payload_type == 26);
        CHECK(std::string(s.control) == "trackID=2");
        CHECK(rewrite(text, SDP_OTHER_JPEG, 0).empty()); // no room for the name
    }
}

TEST_CASE("other descriptions are not rewritten")
{
    for (const char *text :
         {"", "\n", "a=rtpmap:", "a=rtpmap:96 H264/90000\r\n", "a=rtpmap:96H265/90000",
          "a=fmtp:96 H265/90000\n", "a=rtpmap:96 H265/9000"})
        CHECK(rewrite(text).empty());
    for (const char *text : {"", "m=video 0 RTP/AVP 26", "m=video 0 RTP/AVP 96\n",
                             "m=audio 0 RTP/AVP 26\n", "m=video 0\n", "a=rtpmap:26 JPEG/9000\n"})
        CHECK(rewrite(text, SDP_OTHER_JPEG).empty());
}
