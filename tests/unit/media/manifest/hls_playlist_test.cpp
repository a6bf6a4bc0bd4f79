// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "common/base/err.h"
#include "media/manifest/hls_playlist.h"
#include "tests/support/manifests.hpp"

namespace
{

std::string media(const manifest &m, int rendition)
{
    std::string out(hls_media_playlist_room(&m, m.renditions[rendition].segment_count), '\0');
    int len = hls_media_playlist(&m, rendition, &out[0], out.size());
    REQUIRE(len > 0);
    out.resize(static_cast<size_t>(len));
    return out;
}

} // namespace

TEST_CASE("hls_playlist: the multivariant playlist has each video with each audio rendition")
{
    live_manifest m;
    char out[4096];
    REQUIRE(hls_multivariant_playlist(&m.m, out, sizeof(out)) > 0);
    CHECK(std::string(out) ==
          "#EXTM3U\n"
          "#EXT-X-VERSION:9\n"
          "#EXT-X-INDEPENDENT-SEGMENTS\n"
          "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"opus\",NAME=\"opus\",DEFAULT=YES,AUTOSELECT=YES,"
          "CHANNELS=\"2\",URI=\"opus.m3u8\"\n"
          "#EXT-X-STREAM-INF:BANDWIDTH=1110,AVERAGE-BANDWIDTH=1009,CODECS=\"avc1.64001f,Opus\","
          "RESOLUTION=640x360,FRAME-RATE=4.000,AUDIO=\"opus\"\n"
          "v0.m3u8\n");
    CHECK(hls_multivariant_playlist(&m.m, out, 100) == ERR_FULL);
    m.m.rendition_count = 1; // without audio
    REQUIRE(hls_multivariant_playlist(&m.m, out, sizeof(out)) > 0);
    CHECK(std::string(out) ==
          "#EXTM3U\n"
          "#EXT-X-VERSION:9\n"
          "#EXT-X-INDEPENDENT-SEGMENTS\n"
          "#EXT-X-STREAM-INF:BANDWIDTH=1100,AVERAGE-BANDWIDTH=1000,CODECS=\"avc1.64001f\","
          "RESOLUTION=640x360,FRAME-RATE=4.000\n"
          "v0.m3u8\n");
}

TEST_CASE("hls_playlist: players start with the best variant of at most 500 kbit/s")
{
    const struct {
        const char *what;
        int kbps[3];
        int audio_kbps; // 0: none
        const char *order;
    } rows[] = {{"all below", {100, 200, 300}, 0, "201"},
                {"some above", {100, 480, 900}, 0, "102"},
                {"at the bound", {100, 499, 500}, 0, "201"},
                {"audio counts", {100, 480, 900}, 30, "012"},
                {"all above", {600, 900, 2000}, 0, "012"},
                {"all above, descending", {2000, 900, 600}, 0, "201"},
                {"half the frames at more bits", {300, 200, 900}, 0, "012"}};
    for (const auto &row : rows) {
        CAPTURE(row.what);
        manifest m{};
        for (int i = 0; i < 3; i++) {
            m.renditions[i].codec = CMAF_H264;
            m.renditions[i].bandwidth_bps = 1000 * row.kbps[i];
            snprintf(m.renditions[i].name, MANIFEST_NAME, "v%d", i);
        }
        m.renditions[3].codec = CMAF_AAC;
        m.renditions[3].bandwidth_bps = 1000 * row.audio_kbps;
        m.rendition_count = row.audio_kbps ? 4 : 3;
        char out[4096];
        REQUIRE(hls_multivariant_playlist(&m, out, sizeof(out)) > 0);
        std::string text = out, order;
        for (size_t at = 0; (at = text.find("\nv", at)) != std::string::npos; at++)
            order += text[at + 2];
        CHECK(order == row.order);
    }
}

TEST_CASE("hls_playlist: a live media playlist has parts of the last three target durations")
{
    live_manifest m;
    CHECK(hls_target_duration(&m.m) == 2);
    CHECK(media(m.m, 0) == "#EXTM3U\n"
                           "#EXT-X-VERSION:9\n"
                           "#EXT-X-TARGETDURATION:2\n"
                           "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=2.50000\n"
                           "#EXT-X-PART-INF:PART-TARGET=1.00000\n"
                           "#EXT-X-MEDIA-SEQUENCE:100\n"
                           "#EXT-X-DISCONTINUITY-SEQUENCE:3\n"
                           "#EXT-X-INDEPENDENT-SEGMENTS\n"
                           "#EXT-X-MAP:URI=\"abc/v0.mp4\"\n"
                           "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:20.000Z\n"
                           "#EXTINF:2.00000,\n"
                           "abc/v0-100.m4s\n"
                           "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:22.000Z\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-101.0.m4s\",INDEPENDENT=YES\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-101.1.m4s\"\n"
                           "#EXTINF:2.00000,\n"
                           "abc/v0-101.m4s\n"
                           "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:24.000Z\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-102.0.m4s\",INDEPENDENT=YES\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-102.1.m4s\"\n"
                           "#EXTINF:2.00000,\n"
                           "abc/v0-102.m4s\n"
                           "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:26.000Z\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-103.0.m4s\",INDEPENDENT=YES\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-103.1.m4s\"\n"
                           "#EXTINF:2.00000,\n"
                           "abc/v0-103.m4s\n"
                           "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:28.000Z\n"
                           "#EXT-X-PART:DURATION=1.00000,URI=\"abc/v0-104.0.m4s\",INDEPENDENT=YES\n"
                           "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"abc/v0-104.1.m4s\"\n"
                           "#EXT-X-RENDITION-REPORT:URI=\"opus.m3u8\",LAST-MSN=104,LAST-PART=0\n");
}

TEST_CASE("hls_playlist: media that ended has no hint, and stored media no parts")
{
    live_manifest m;
    m.m.ended = true;
    std::string text = media(m.m, 1);
    CHECK(text.find("#EXT-X-ENDLIST\n") == text.size() - 15);
    CHECK(text.find("HINT") == std::string::npos);
    m.m.stored = true;
    m.m.run.number = 0;
    m.m.segment_parts = 0;
    for (auto &s : m.opus) {
        s.complete = true;
        s.wall = 0;
        s.part_count = 0;
    }
    m.m.renditions[1].segment_count = 1;
    CHECK(media(m.m, 1) == "#EXTM3U\n"
                           "#EXT-X-VERSION:9\n"
                           "#EXT-X-TARGETDURATION:2\n"
                           "#EXT-X-PLAYLIST-TYPE:VOD\n"
                           "#EXT-X-MEDIA-SEQUENCE:100\n"
                           "#EXT-X-INDEPENDENT-SEGMENTS\n"
                           "#EXT-X-MAP:URI=\"abc/opus.mp4\"\n"
                           "#EXTINF:2.00000,\n"
                           "abc/opus-100.m4s\n"
                           "#EXT-X-ENDLIST\n");
}

TEST_CASE("hls_playlist: the stated room suffices for the longest numbers")
{
    live_manifest m;
    m.m.rendition_count = MANIFEST_MAX_RENDITIONS;
    snprintf(m.m.run.token, sizeof(m.m.run.token), "%s", "0123456789abcdef012");
    for (int i = 1; i < MANIFEST_MAX_RENDITIONS; i++) {
        m.m.renditions[i] = m.m.renditions[0];
        snprintf(m.m.renditions[i].name, MANIFEST_NAME, "v%d", i);
    }
    for (auto &s : m.video) {
        s.number += 99999999000;
        s.part_count = MANIFEST_MAX_PARTS;
        s.duration = INT64_C(12000) * 12810;
        for (auto &p : s.parts)
            p = {INT32_C(12000) * 12810, true};
    }
    CHECK(media(m.m, 0).size() > 1000);
}

TEST_CASE("hls_playlist: audio that does not come is in no variant and no report")
{
    live_manifest m;
    m.m.silent = true;
    char out[4096];
    REQUIRE(hls_multivariant_playlist(&m.m, out, sizeof(out)) > 0);
    CHECK(std::string(out) ==
          "#EXTM3U\n"
          "#EXT-X-VERSION:9\n"
          "#EXT-X-INDEPENDENT-SEGMENTS\n"
          "#EXT-X-STREAM-INF:BANDWIDTH=1100,AVERAGE-BANDWIDTH=1000,CODECS=\"avc1.64001f\","
          "RESOLUTION=640x360,FRAME-RATE=4.000\n"
          "v0.m3u8\n");
    REQUIRE(hls_media_playlist(&m.m, 0, out, sizeof(out)) > 0);
    CHECK(std::string(out).find("RENDITION-REPORT") == std::string::npos);
}

TEST_CASE("hls_playlist: a run begins with a discontinuity and its own init segment")
{
    live_manifest m;
    const manifest_run runs[] = {{"aa", 3, 0, 0}, {"bb", 4, 0, 0}, {"cc", 6, 0, 0}};
    const int of[] = {0, 0, 1, 2, 2};
    for (int i = 0; i < 5; i++)
        m.video[i].run = &runs[of[i]];
    m.m.run = runs[2];
    m.m.begins_anywhere = true;
    std::string text = media(m.m, 0), kept;
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
        end = text.find('\n', at);
        std::string line = text.substr(at, end - at);
        if (line.find("DISCONTINUITY") != std::string::npos ||
            line.find("MAP") != std::string::npos || line[0] != '#')
            kept += line + "\n";
    }
    CHECK(kept == "#EXT-X-DISCONTINUITY-SEQUENCE:3\n"
                  "#EXT-X-MAP:URI=\"aa/v0.mp4\"\n"
                  "aa/v0-100.m4s\n"
                  "aa/v0-101.m4s\n"
                  "#EXT-X-DISCONTINUITY\n"
                  "#EXT-X-MAP:URI=\"bb/v0.mp4\"\n"
                  "bb/v0-102.m4s\n"
                  "#EXT-X-DISCONTINUITY\n"
                  "#EXT-X-DISCONTINUITY\n"
                  "#EXT-X-MAP:URI=\"cc/v0.mp4\"\n"
                  "cc/v0-103.m4s\n");
    CHECK(text.find("INDEPENDENT-SEGMENTS") == std::string::npos);
    CHECK(text.find("URI=\"cc/v0-104.0.m4s\"") != std::string::npos);
}
