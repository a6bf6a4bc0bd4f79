// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/server_dialect.h"

#include <catch2/catch.hpp>
#include <string>

TEST_CASE("server dialect: streams that count as weir-send's")
{
    const std::string adu =
        std::string("a=extmap:") + std::to_string(RTP_EXT_ADU_ID) + " " RTP_EXT_ADU_URI "\r\n";
    const std::string h264 = "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n";
    const struct {
        std::string medium;
        bool of_weir;
    } table[] = {
        {h264 + adu, true},
        {h264, false},
        // A name alone is not sufficient: the packets must carry the numbers.
        {"a=x-weir-source:test 16x16@30/1\r\n" + h264, false},
        {h264 + "a=extmap:3 urn:ietf:params:rtp-hdrext:toffset\r\n", false},
        {"m=video 0 RTP/AVP 98\r\na=rtpmap:98 x-weir-synthetic/90000\r\n" + adu, true},
        {"m=video 0 RTP/AVP 98\r\na=rtpmap:98 x-weir-synthetic/90000\r\n", true},
    };
    for (const auto &row : table) {
        INFO(row.medium);
        const std::string text = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n" + row.medium;
        sdp s;
        REQUIRE(sdp_decode(text.data(), text.size(), &s) == 0);
        const server_dialect *d = server_dialect_of(&s);
        CHECK(d->knows_weir_parameters == row.of_weir);
        CHECK(d->knows_weir_transports == row.of_weir);
        CHECK(d->reads_alternatives == row.of_weir);
        CHECK(d->pipelines == row.of_weir);
        CHECK(d->knows_now == row.of_weir);
        CHECK(d->shares_files == row.of_weir);
        CHECK(d->has_levels == row.of_weir);
        CHECK(d->describes_order == row.of_weir);
        CHECK(d->audio_has_own_flow != row.of_weir);
        CHECK(d->names_media_source != row.of_weir);
        CHECK(d->numbers_from_stamps != row.of_weir);
        CHECK(d->sets_from_sdp != row.of_weir);
    }
}
