// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "media/manifest/dash_manifest.h"
#include "tests/support/manifests.hpp"

namespace
{

std::string mpd(const manifest &m)
{
    std::string out(dash_manifest_room(&m, 5), '\0');
    int len = dash_manifest(&m, 1700000040 * USEC_PER_SEC, &out[0], out.size());
    REQUIRE(len > 0);
    out.resize(static_cast<size_t>(len));
    return out;
}

} // namespace

TEST_CASE("dash_manifest: complete segments, on a time line that begins at media time 0")
{
    live_manifest m;
    m.video[2].duration = 1999; // and a gap of 1 behind it
    std::string text = mpd(m.m);
    INFO(text);
    const char *const expected[] = {
        "type=\"dynamic\" availabilityStartTime=\"2023-11-14T22:13:16.000Z\" "
        "publishTime=\"2023-11-14T22:14:00.000Z\"",
        "<Period id=\"abc\" start=\"PT0S\">",
        "<Representation id=\"v0\" codecs=\"avc1.64001f\" bandwidth=\"1100\" width=\"640\" "
        "height=\"360\" frameRate=\"4000/1000\" sar=\"1:1\">",
        "<SegmentTemplate timescale=\"1000\" startNumber=\"100\" initialization=\"abc/v0.mp4\" "
        "media=\"abc/v0-$Number$.m4s\"><SegmentTimeline><S t=\"4000\" d=\"2000\" r=\"1\"/>"
        "<S d=\"1999\"/><S t=\"10000\" d=\"2000\"/></SegmentTimeline>",
        "<Representation id=\"opus\" codecs=\"Opus\" bandwidth=\"10\" audioSamplingRate=\"48000\">",
        "<S t=\"4000\" d=\"2000\" r=\"3\"/>",
    };
    for (const char *part : expected)
        CHECK(text.find(part) != std::string::npos);
    char little[64];
    CHECK(dash_manifest(&m.m, 0, little, sizeof(little)) == ERR_FULL);
}

TEST_CASE("dash_manifest: media that ended is static, until its end on the time line")
{
    live_manifest m;
    m.m.ended = true;
    std::string text = mpd(m.m);
    CHECK(text.find("type=\"static\" mediaPresentationDuration=\"PT12.000S\"") !=
          std::string::npos);
    CHECK(text.find("availabilityStartTime") == std::string::npos);
}
