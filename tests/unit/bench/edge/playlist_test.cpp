// SPDX-License-Identifier: GPL-2.0-or-later
extern "C" {
#include "tests/bench/edge/playlist.h"
}

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "common/base/err.h"

namespace
{

const usec_t NOON = INT64_C(1769860800) * USEC_PER_SEC; // 2026-01-31T12:00:00Z

struct fixture {
    std::unique_ptr<playlist> p = std::make_unique<playlist>();

    int read(const std::string &text, bool parts = false, const char *url = "/live/v0.m3u8?a=/b")
    {
        return playlist_decode(p.get(), text.data(), text.size(), url, parts);
    }
};

const char LIVE[] = "#EXTM3U\r\n"
                    "#EXT-X-TARGETDURATION:2\n"
                    "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n"
                    "#EXT-X-PART-INF:PART-TARGET=0.5\n"
                    "#EXT-X-MEDIA-SEQUENCE:7\n"
                    "#EXT-X-MAP:URI=\"a/init.mp4\"\n"
                    "#EXT-X-PROGRAM-DATE-TIME:2026-01-31T12:00:00.250Z\n"
                    "#EXTINF:2.0,\n"
                    "a/7.m4s\n"
                    "#EXT-X-PART:DURATION=0.5,URI=\"a/8.0.m4s\",INDEPENDENT=YES\n"
                    "#EXT-X-PART:DURATION=0.5,URI=\"/b/8.1.m4s\"\n"
                    "#EXTINF:1,\n"
                    "a/8.m4s\n"
                    "#EXT-X-PART:DURATION=0.5,URI=\"a/9.0.m4s\"\n";

} // namespace

TEST_CASE("edge playlist: segments")
{
    fixture f;
    REQUIRE(f.read(LIVE) == 0);
    const playlist &p = *f.p;
    REQUIRE(p.count == 2);
    CHECK(p.items[0].msn == 7);
    CHECK(p.items[0].at == NOON + 250000);
    CHECK(p.items[0].duration == 2 * USEC_PER_SEC);
    CHECK(std::string(p.items[0].url) == "/live/a/7.m4s");
    CHECK(p.items[1].at == NOON + 2250000);
    CHECK(std::string(p.items[1].url) == "/live/a/8.m4s");
    CHECK(p.next_msn == 9);
    CHECK(p.next_part == 0);
    CHECK(p.target == 2 * USEC_PER_SEC);
    CHECK(p.hold_back == 6 * USEC_PER_SEC); // the default
    CHECK(p.part_hold_back == 1500000);
    CHECK(p.can_block_reload);
    CHECK_FALSE(p.ended);
    CHECK(std::string(p.map) == "/live/a/init.mp4");
    CHECK(playlist_end(&p) == NOON + 3250000);
    CHECK(playlist_find(&p, 8, 0) == &p.items[1]);
    CHECK(playlist_find(&p, 0, 0) == &p.items[0]);
    CHECK(playlist_find(&p, 9, 0) == nullptr);
}

TEST_CASE("edge playlist: parts")
{
    fixture f;
    REQUIRE(f.read(LIVE, true) == 0);
    const playlist &p = *f.p;
    REQUIRE(p.count == 4); // a segment, two parts in place of the next one, and one more part
    const struct {
        int64_t msn;
        int part;
        usec_t after;
        bool independent;
        const char *url;
    } expected[] = {{7, 0, 0, true, "/live/a/7.m4s"},
                    {8, 0, 2000000, true, "/live/a/8.0.m4s"},
                    {8, 1, 2500000, false, "/b/8.1.m4s"},
                    {9, 0, 3000000, false, "/live/a/9.0.m4s"}};
    for (int i = 0; i < 4; i++) {
        CAPTURE(i);
        CHECK(p.items[i].msn == expected[i].msn);
        CHECK(p.items[i].part == expected[i].part);
        CHECK(p.items[i].at == NOON + 250000 + expected[i].after);
        CHECK(p.items[i].independent == expected[i].independent);
        CHECK(std::string(p.items[i].url) == expected[i].url);
    }
    CHECK(p.next_msn == 9);
    CHECK(p.next_part == 1);
    CHECK(p.part_target == USEC_PER_SEC / 2);
    CHECK(playlist_find(&p, 8, 1) == &p.items[2]);
    CHECK(playlist_find(&p, 8, 2) == &p.items[3]);
}

TEST_CASE("edge playlist: a multivariant one names its lowest variant")
{
    fixture f;
    REQUIRE(f.read("#EXTM3U\n"
                   "#EXT-X-STREAM-INF:CODECS=\"avc1,opus\",BANDWIDTH=900\nv1.m3u8\n"
                   "#EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=1,BANDWIDTH=300\nv0.m3u8\n"
                   "#EXT-X-STREAM-INF:BANDWIDTH=600\nv2.m3u8\n") == 0);
    CHECK(std::string(f.p->variant) == "/live/v0.m3u8");
    CHECK(f.p->count == 0);
    CHECK(playlist_end(f.p.get()) == 0);
}

TEST_CASE("edge playlist: dates with an offset, and the end")
{
    for (const char *date : {"2026-01-31T13:00:00+0100", "2026-01-31T06:30:00.000-05:30"}) {
        CAPTURE(date);
        fixture f;
        REQUIRE(f.read("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PROGRAM-DATE-TIME:" +
                       std::string(date) + "\n#EXTINF:2\n1.m4s\n#EXT-X-ENDLIST") == 0);
        CHECK(f.p->items[0].at == NOON);
        CHECK(f.p->ended);
    }
}

TEST_CASE("edge playlist: what is none")
{
    const std::string head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n",
                      dated = head + "#EXT-X-PROGRAM-DATE-TIME:2026-01-31T12:00:00Z\n";
    std::string many = dated;
    for (int i = 0; i <= PLAYLIST_ITEMS; i++)
        many += "#EXTINF:1,\na\n";
    const std::string rows[] = {"",
                                "#EXTM3",
                                "<html>",
                                "#EXTM3U\n",
                                head + "#EXTINF:2,\n1.m4s\n", // no date
                                dated + "1.m4s\n",            // no duration
                                dated + "#EXTINF\n1.m4s\n",
                                dated + "#EXTINF:nan\n1.m4s\n",
                                dated + "#EXTINF:1e300\n1.m4s\n",
                                dated + "#EXTINF:-1\n1.m4s\n",
                                dated + "#EXTINF:2,\nhttp://other/1.m4s\n",
                                dated + "#EXTINF:2,\n" + std::string(PLAYLIST_URL_BYTES, 'a') +
                                    "\n",
                                dated + "#EXT-X-PART:DURATION=1\n",
                                head + "#EXT-X-MAP:BYTERANGE=1\n",
                                head + "#EXT-X-STREAM-INF:CODECS=1\n",
                                head + "#EXT-X-MEDIA-SEQUENCE:99999999999999999999\n",
                                head + std::string(2000, '#'),
                                many};
    for (const std::string &text : rows) {
        INFO(text.substr(0, 120));
        fixture f;
        CHECK(f.read(text) == ERR_MALFORMED);
    }
}
