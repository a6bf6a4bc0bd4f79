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

TEST_CASE("dash_manifest: a period has no set of audio without a segment, the first one neither")
{
    for (bool silent : {false, true}) { // or audio that is left out, whatever it has
        live_manifest m;
        m.m.run.number = 0;
        m.m.silent = silent;
        m.m.renditions[1].segment_count *= silent;
        std::string text = mpd(m.m);
        CHECK(text.find("contentType=\"video\"") != std::string::npos);
        CHECK(text.find("contentType=\"audio\"") == std::string::npos);
    }
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

TEST_CASE("dash_manifest: each run is a period, with the segments of its time line")
{
    live_manifest m;
    const manifest_run runs[] = {{"aa", 0, 0, 0}, {"bb", 1, 8 * USEC_PER_SEC, 20 * USEC_PER_SEC}};
    for (int i = 0; i < 5; i++) {
        m.video[i].run = &runs[i >= 2];
        m.opus[i].run = &runs[0]; // no audio in the second
    }
    m.m.run = runs[1];
    std::string text = mpd(m.m);
    INFO(text);
    const char *const expected[] = {
        "<Period id=\"aa\" start=\"PT0S\">",
        "startNumber=\"100\" initialization=\"aa/v0.mp4\" media=\"aa/v0-$Number$.m4s\">"
        "<SegmentTimeline><S t=\"4000\" d=\"2000\" r=\"1\"/></SegmentTimeline>",
        "<S t=\"4000\" d=\"2000\" r=\"3\"/>",
        "</Period>\n<Period id=\"bb\" start=\"PT20.000S\">",
        "startNumber=\"102\" presentationTimeOffset=\"8000\" initialization=\"bb/v0.mp4\" "
        "media=\"bb/v0-$Number$.m4s\"><SegmentTimeline><S t=\"8000\" d=\"2000\" r=\"1\"/>",
    };
    for (const char *part : expected)
        CHECK(text.find(part) != std::string::npos);
    CHECK(text.find("bb/opus") == std::string::npos);
    m.m.ended = true; // the second run's end: 20 + 12 - 8 s
    CHECK(mpd(m.m).find("mediaPresentationDuration=\"PT24.000S\"") != std::string::npos);
}
