// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/sdp_hevc.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"
#include "common/wire/sdp.h"

namespace
{

std::string rewrite(const std::string &text)
{
    std::string out(text.size(), '\0');
    out.resize(sdp_hevc_rewrite(text.data(), text.size(), &out[0]));
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

TEST_CASE("other descriptions are not rewritten")
{
    for (const char *text :
         {"", "\n", "a=rtpmap:", "a=rtpmap:96 H264/90000\r\n", "a=rtpmap:96H265/90000",
          "a=fmtp:96 H265/90000\n", "a=rtpmap:96 H265/9000"})
        CHECK(rewrite(text).empty());
}
