// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/base/err.h"
#include "sender/http/live_library.h"
#include "tests/support/manifests.hpp"

namespace
{

constexpr usec_t NOW = 1000 * USEC_PER_SEC;
constexpr usec_t WALL = (1735689600LL + 437696000) * USEC_PER_SEC; // the first one is 2025-01-01
// Since 2025: quarters of a second count segments, seconds count discontinuities.
constexpr int64_t FIRST = 437696000 * 4LL; // 1750784000

// A library of two renditions, v0 and opus: segments of 2 s in 2 parts.
struct rig {
    live_manifest about;
    live_library *library;
    int requests = 0, changes = 0;
    usec_t now = NOW;
    http_reply reply{};

    rig()
    {
        static const live_library_events events = {on_request, on_change};
        for (int i = 0; i < 2; i++)
            about.m.renditions[i].segment_count = 0;
        about.m.run.number = 0;
        library = live_library_new(&about.m, "/live", &events, this);
        REQUIRE(library);
    }
    ~rig()
    {
        live_library_free(library);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;

    static void on_request(void *ctx)
    {
        static_cast<rig *>(ctx)->requests++;
    }
    static void on_change(void *ctx)
    {
        static_cast<rig *>(ctx)->changes++;
    }
    // Returns what `get` returns; `text` is the body.
    int get(const std::string &path, const char *number = nullptr, const char *part = nullptr)
    {
        content_request r{};
        r.path = path.c_str();
        REQUIRE(http_target_parse(r.path, &r.target) == 0);
        REQUIRE(http_reload_parse(number, part, &r.reload) == 0);
        http_content *c = live_library_content(library);
        reply = {};
        text.clear();
        int err = c->ops->get(c, &r, now, now, &reply);
        if (err == 0) {
            text.assign(reinterpret_cast<const char *>(reply.body->data), reply.body->bytes);
            http_body_unref(reply.body);
        }
        return err;
    }
    void part(int rendition, int64_t segment, int number, const std::string &bytes)
    {
        cmaf_part p{};
        p.segment = segment;
        p.number = number;
        p.time = segment * 2000 + number * 1000;
        p.duration = 1000;
        p.independent = number == 0;
        p.wall = WALL + p.time * 1000 + drift;
        p.bytes = bytes.size();
        p.data = static_cast<uint8_t *>(malloc(bytes.size()));
        memcpy(p.data, bytes.data(), bytes.size());
        live_library_part(library, rendition, &p);
    }
    void segment(int rendition, int64_t number)
    {
        part(rendition, number, 0, std::to_string(number) + "a");
        part(rendition, number, 1, std::to_string(number) + "b");
        live_library_segment(library, rendition, number);
    }
    void init(int rendition)
    {
        live_library_init(library, rendition, reinterpret_cast<uint8_t *>(strdup("init")), 4);
    }
    // The path of a file of this run.
    std::string file(const char *rest)
    {
        return "/live/" + token + "/" + rest;
    }
    void begin()
    {
        live_library_begin(library, WALL);
        char text_of[32];
        snprintf(text_of, sizeof(text_of), "%llx", static_cast<unsigned long long>(WALL));
        token = text_of;
    }
    std::string text, token;
    usec_t drift = 0; // of the wall clock
};

} // namespace

TEST_CASE("live_library: the first request is told, and waits for a segment")
{
    rig r;
    CHECK(live_library_asked(r.library) == 0);
    CHECK(r.get("/other/index.m3u8") == ERR_NOT_FOUND);
    CHECK(r.get("/live/v7.m3u8") == ERR_NOT_FOUND);
    CHECK(r.requests == 0);
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS); // it is not known whether there is audio
    CHECK(r.requests == 1);
    CHECK(live_library_asked(r.library) == NOW);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    CHECK(r.reply.deadline == NOW + 6 * USEC_PER_SEC); // three target durations
    CHECK(r.get("/live/index.mpd") == HTTP_WAITS);
    CHECK(r.requests == 1);
    r.begin();
    r.part(0, 5, 0, "x");
    CHECK(r.changes == 1);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    live_library_segment(r.library, 0, 5);
    CHECK(r.get("/live/v0.m3u8") == 0);
    CHECK(r.reply.max_age == 1);
    CHECK(r.get("/live/index.mpd") == HTTP_WAITS); // no audio yet
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS);
    r.segment(1, 5);
    CHECK(r.get("/live/index.m3u8") == 0);
    CHECK(r.get("/live/index.mpd") == 0);
    CHECK(r.text.find("<S t=\"10000\" d=\"1000\"/>") != std::string::npos);
}

TEST_CASE("live_library: a blocking reload waits for its part")
{
    rig r;
    r.begin();
    r.segment(0, 0);
    r.part(0, 1, 0, "1a");
    // Segment 0 has the number of the wall clock, FIRST.
    const struct {
        const char *number, *part;
        int result;
    } rows[] = {
        {"1750784000", nullptr, 0},
        {"1750784000", "7", 0},
        {"1750784001", "0", 0},
        {"1750784001", "1", HTTP_WAITS},
        {"1750784001", nullptr, HTTP_WAITS},
        {"1750784003", "0", HTTP_WAITS},
        {"1750784004", "0", ERR_MALFORMED},
    };
    for (auto &row : rows) {
        INFO(row.number << " " << (row.part ? row.part : "-"));
        CHECK(r.get("/live/v0.m3u8", row.number, row.part) == row.result);
        if (row.result == 0)
            CHECK(r.reply.max_age == 12);
    }
    live_library_finish(r.library); // nothing follows
    CHECK(r.get("/live/v0.m3u8", "1750784003", "0") == 0);
    CHECK(r.text.find("#EXT-X-ENDLIST") != std::string::npos);
}

TEST_CASE("live_library: files never change, and go when a playlist no longer has them")
{
    rig r;
    r.begin();
    CHECK(r.get(r.file("v0.mp4")) == HTTP_WAITS);
    r.init(0);
    CHECK(r.get(r.file("v0.mp4")) == 0);
    CHECK(r.text == "init");
    CHECK(r.reply.immutable);
    CHECK(std::string(r.reply.type) == "video/mp4");
    CHECK(r.get("/live/0/v0.mp4") == ERR_NOT_FOUND); // of another run
    for (int64_t k = 0; k < LIVE_KEPT + 3; k++)
        r.segment(0, k);
    r.part(0, LIVE_KEPT + 3, 0, "open");
    auto name = [&](int64_t k, const char *rest) {
        return r.file(("v0-" + std::to_string(FIRST + k) + rest).c_str());
    };
    CHECK(r.get(name(0, ".m4s")) == ERR_NOT_FOUND);
    CHECK(r.get(name(3, ".m4s")) == 0);
    CHECK(r.text == "3a3b");
    CHECK(r.get(name(3, ".0.m4s")) == ERR_NOT_FOUND); // no playlist has its parts
    CHECK(r.get(name(LIVE_KEPT + 2, ".1.m4s")) == 0);
    CHECK(r.text == std::to_string(LIVE_KEPT + 2) + "b");
    CHECK(r.get(name(LIVE_KEPT + 3, ".0.m4s")) == 0);
    CHECK(r.text == "open");
    // The announced part and its segment are waited for, others are not.
    CHECK(r.get(name(LIVE_KEPT + 3, ".1.m4s")) == HTTP_WAITS);
    CHECK(r.get(name(LIVE_KEPT + 3, ".2.m4s")) == ERR_NOT_FOUND);
    CHECK(r.get(name(LIVE_KEPT + 3, ".m4s")) == HTTP_WAITS);
    CHECK(r.get(name(LIVE_KEPT + 5, ".m4s")) == ERR_NOT_FOUND);
    CHECK(r.get(name(LIVE_KEPT + 3, ".999.m4s")) == ERR_NOT_FOUND);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    size_t count = 0;
    for (size_t at = 0; (at = r.text.find("#EXTINF", at)) != std::string::npos; at++)
        count++;
    CHECK(count == LIVE_WINDOW);
}

TEST_CASE("live_library: of large segments fewer are kept, but as many as players need")
{
    constexpr size_t MIB = 1 << 20;
    // Segments of 2 s. 14 MiB: 6 MiB too large for three in the playlist, four that left it, and
    // the open one.
    const struct {
        size_t half; // bytes of a part
        int listed, kept;
    } rows[] = {{2 * MIB, 6, 13}, {3 * MIB, 4, 9}, {4 * MIB, 3, 7}, {7 * MIB, 3, 7}};
    for (auto &row : rows) {
        rig r;
        r.begin();
        const std::string part(row.half - 1000, 'x');
        int64_t first = 0;
        size_t most = 0;
        for (int64_t k = 0; k < 40; k++) {
            r.part(0, k, 0, k < 30 ? part : "x");
            r.part(0, k, 1, k < 30 ? part : "x");
            live_library_segment(r.library, 0, k);
            int kept = 0;
            size_t bytes = 0;
            for (int64_t i = 0; i <= k; i++)
                if (r.get(r.file(("v0-" + std::to_string(FIRST + i) + ".m4s").c_str())) == 0) {
                    kept++;
                    bytes += r.text.size();
                }
            most = std::max(most, bytes);
            REQUIRE(r.get("/live/v0.m3u8") == 0);
            int listed = 0;
            for (size_t at = 0; (at = r.text.find("#EXTINF", at)) != std::string::npos; at++)
                listed++;
            const std::string tag = "#EXT-X-MEDIA-SEQUENCE:";
            const int64_t begin = std::stoll(r.text.substr(r.text.find(tag) + tag.size()));
            CHECK(begin >= first); // also when segments become small
            first = begin;
            INFO(row.half << " " << k);
            CHECK(listed >= std::min<int64_t>(k + 1, 3));
            if (k >= 25 && k < 30) {
                CHECK(listed == row.listed);
                CHECK(kept == row.kept);
            }
        }
        CHECK(most <= std::max(LIVE_BYTES, 7 * 2 * row.half));
    }
}

TEST_CASE("live_library: a part is the same when its segment is complete, and to a slow reader")
{
    rig r;
    r.begin();
    r.part(0, 0, 0, "first ");
    r.part(0, 0, 1, "second");
    auto path = [&](const char *rest) {
        return r.file(("v0-" + std::to_string(FIRST) + rest).c_str());
    };
    content_request q{};
    const std::string name = path(".1.m4s");
    q.path = name.c_str();
    REQUIRE(http_target_parse(q.path, &q.target) == 0);
    REQUIRE(http_reload_parse(nullptr, nullptr, &q.reload) == 0);
    http_content *c = live_library_content(r.library);
    http_reply before{}, after{};
    REQUIRE(c->ops->get(c, &q, NOW, NOW, &before) == 0);
    live_library_segment(r.library, 0, 0);
    REQUIRE(c->ops->get(c, &q, NOW, NOW, &after) == 0);
    CHECK(r.get(path(".0.m4s")) == 0);
    CHECK(r.text == "first ");
    CHECK(r.get(path(".m4s")) == 0);
    CHECK(r.text == "first second");
    live_library_end(r.library, false);
    for (http_body *b : {before.body, after.body}) {
        CHECK(std::string(reinterpret_cast<const char *>(b->data), b->bytes) == "second");
        http_body_unref(b);
    }
}

TEST_CASE("live_library: numbers ascend through runs, a new run has new names")
{
    rig r;
    r.begin();
    r.segment(0, 100);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-MEDIA-SEQUENCE:1750784000\n") != std::string::npos);
    CHECK(r.text.find("#EXT-X-DISCONTINUITY-SEQUENCE:437696000\n") != std::string::npos);
    live_library_end(r.library, false);
    CHECK(live_library_asked(r.library) == 0);
    CHECK(r.get(r.file("v0-1750784000.m4s")) == ERR_NOT_FOUND);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    r.begin(); // at the same time, and the media begins anew
    r.segment(1, 0);
    r.segment(0, 0);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-MEDIA-SEQUENCE:1750784002\n") != std::string::npos);
    CHECK(r.text.find("#EXT-X-DISCONTINUITY-SEQUENCE:437696001\n") != std::string::npos);
}

TEST_CASE("live_library: numbers are above those of the library that had the path before")
{
    // A published stream ends, and comes back 12 s later with segments of another length.
    int64_t number = 0, discontinuity = 0;
    for (int i = 0; i < 2; i++) {
        rig r;
        const double targets[] = {0.5, 0.5};
        live_library_begin(r.library, WALL + i * 12 * USEC_PER_SEC);
        live_library_settle(r.library, i ? 10 : 1, targets);
        for (int64_t k = 0; k < 12; k++)
            r.segment(0, k);
        REQUIRE(r.get("/live/v0.m3u8") == 0);
        auto value = [&](const std::string &tag) {
            size_t at = r.text.find(tag + ":");
            REQUIRE(at != std::string::npos);
            return std::stoll(r.text.substr(at + tag.size() + 1));
        };
        const int64_t last = value("#EXT-X-MEDIA-SEQUENCE") + LIVE_WINDOW - 1;
        CHECK(value("#EXT-X-MEDIA-SEQUENCE") > number);
        CHECK(value("#EXT-X-DISCONTINUITY-SEQUENCE") > discontinuity);
        CHECK(last < INT64_C(1) << 32); // xs:unsignedInt
        number = last;
        discontinuity = value("#EXT-X-DISCONTINUITY-SEQUENCE");
    }
}

TEST_CASE("live_library: audio that does not come is left out, until it comes")
{
    rig r;
    r.begin();
    r.segment(0, 0);
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS);
    CHECK(r.get("/live/opus.m3u8") == HTTP_WAITS);
    live_library_leave_out_audio(r.library);
    REQUIRE(r.get("/live/index.m3u8") == 0);
    CHECK(r.text.find("opus") == std::string::npos);
    CHECK(r.text.find("v0.m3u8") != std::string::npos);
    REQUIRE(r.get("/live/index.mpd") == 0);
    CHECK(r.text.find("opus") == std::string::npos);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("RENDITION-REPORT") == std::string::npos);
    CHECK(r.get("/live/opus.m3u8") == ERR_NOT_FOUND);
    CHECK(r.get(r.file("opus.mp4")) == ERR_NOT_FOUND);
    r.segment(0, 1);
    r.part(1, 2, 0, "2a"); // it comes
    CHECK(r.get("/live/opus.m3u8") == ERR_NOT_FOUND);
    r.part(1, 2, 1, "2b");
    live_library_segment(r.library, 1, 2);
    r.segment(0, 2);
    REQUIRE(r.get("/live/index.m3u8") == 0);
    CHECK(r.text.find("opus.m3u8") != std::string::npos);
    REQUIRE(r.get("/live/index.mpd") == 0);
    CHECK(r.text.find("<Representation id=\"opus\"") != std::string::npos);
    CHECK(r.text.find("<S t=\"4000\" d=\"2000\"/>") != std::string::npos);
    REQUIRE(r.get("/live/opus.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-MEDIA-SEQUENCE:1750784002\n") != std::string::npos);
    live_library_leave_out_audio(r.library); // it stops
    REQUIRE(r.get("/live/index.mpd") == 0);
    CHECK(r.text.find("opus") == std::string::npos);
    CHECK(r.get("/live/opus.m3u8") == ERR_NOT_FOUND);
    live_library_end(r.library, false);
    r.begin(); // it may come now
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS);
}

TEST_CASE("live_library: media that ends before its audio came has none")
{
    rig r;
    r.begin();
    r.segment(0, 0);
    live_library_finish(r.library);
    REQUIRE(r.get("/live/index.m3u8") == 0);
    CHECK(r.text.find("opus") == std::string::npos);
    CHECK(r.get("/live/index.mpd") == 0);
}

TEST_CASE("live_library: after a gap in the numbers, a playlist begins anew")
{
    rig r;
    r.begin();
    r.segment(0, 0);
    r.segment(0, 1);
    r.segment(0, 5);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-MEDIA-SEQUENCE:1750784005\n") != std::string::npos);
    CHECK(r.text.find("-1750784001.") == std::string::npos);
}

TEST_CASE("live_library: the MPD says the same begin for a whole run")
{
    rig r;
    r.begin();
    auto begun = [&] {
        REQUIRE(r.get("/live/index.mpd") == 0);
        size_t at = r.text.find("availabilityStartTime=");
        REQUIRE(at != std::string::npos);
        return r.text.substr(at, r.text.find(' ', at) - at);
    };
    r.segment(0, 0);
    r.segment(1, 0);
    CHECK(begun() == "availabilityStartTime=\"2038-11-14T22:13:20.000Z\"");
    r.drift = 70000;
    for (int64_t k = 1; k < LIVE_KEPT + 2; k++) {
        r.segment(0, k);
        r.segment(1, k);
    }
    CHECK(begun() == "availabilityStartTime=\"2038-11-14T22:13:20.000Z\"");
    live_library_end(r.library, false);
    r.begin();
    r.segment(0, 0);
    r.segment(1, 0);
    CHECK(begun() == "availabilityStartTime=\"2038-11-14T22:13:20.070Z\"");
}

TEST_CASE("live_library: who polls a run that has ended does not keep it")
{
    rig r;
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS);
    r.begin();
    r.segment(0, 0);
    r.now = NOW + USEC_PER_SEC;
    CHECK(r.get("/live/v0.m3u8") == 0);
    CHECK(live_library_asked(r.library) == NOW + USEC_PER_SEC);
    live_library_finish(r.library);
    r.now = NOW + 9 * USEC_PER_SEC;
    CHECK(r.get("/live/v0.m3u8") == 0);
    CHECK(live_library_asked(r.library) == NOW + USEC_PER_SEC);
    live_library_end(r.library, false);
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS);
    CHECK(live_library_asked(r.library) == r.now);
    CHECK(r.requests == 2);
}

TEST_CASE("live_library: after an end for good there is nothing, and no run is requested")
{
    rig r;
    CHECK(r.get("/live/index.m3u8") == HTTP_WAITS);
    r.begin();
    r.init(0);
    r.segment(0, 0);
    live_library_finish(r.library);
    live_library_end(r.library, true);
    for (const std::string &path : {std::string("/live/index.m3u8"), std::string("/live/v0.m3u8"),
                                    std::string("/live/index.mpd"), r.file("v0.mp4"),
                                    r.file("v0-1750784000.m4s"), r.file("v0-1750784001.0.m4s")}) {
        INFO(path);
        CHECK(r.get(path) == ERR_NOT_FOUND);
    }
    CHECK(r.requests == 1);
    CHECK(live_library_asked(r.library) == 0);
}

TEST_CASE("live_library: the next run continues the numbers, and has an init segment of its own")
{
    rig r;
    r.begin();
    const std::string before = r.token;
    r.init(0);
    for (int64_t k = 0; k < 2; k++) {
        r.segment(0, k);
        r.segment(1, k);
    }
    r.about.m.renditions[0].width = 1280;
    live_library_next_run(r.library, &r.about.m, WALL + 10 * USEC_PER_SEC);
    char name[32];
    snprintf(name, sizeof(name), "%llx", static_cast<unsigned long long>(WALL + 10 * USEC_PER_SEC));
    r.token = name;
    CHECK(r.get(r.file("v0.mp4")) == HTTP_WAITS);
    CHECK(r.get("/live/" + before + "/v0.mp4") == 0); // players still read it
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-DISCONTINUITY\n") == std::string::npos);
    r.init(0);
    r.segment(0, 2);
    r.segment(1, 2);
    REQUIRE(r.get("/live/index.m3u8") == 0);
    CHECK(r.text.find("RESOLUTION=1280x360") != std::string::npos);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find(before + "/v0-1750784001.m4s\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"" +
                      r.token + "/v0.mp4\"\n") != std::string::npos);
    CHECK(r.get(r.file("v0-1750784002.m4s")) == 0);
    CHECK(r.get("/live/" + before + "/v0-1750784002.m4s") == ERR_NOT_FOUND);
    CHECK(r.get(r.file("v0-1750784001.m4s")) == ERR_NOT_FOUND);
    REQUIRE(r.get("/live/index.mpd") == 0);
    CHECK(r.text.find("start=\"PT4.000S\"") != std::string::npos);
    CHECK(r.text.find("presentationTimeOffset=\"4000\"") != std::string::npos);
    for (int64_t k = 3; k < LIVE_KEPT + 4; k++)
        r.segment(0, k);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-DISCONTINUITY-SEQUENCE:437696001\n") != std::string::npos);
    CHECK(r.text.find("#EXT-X-DISCONTINUITY\n") == std::string::npos);
}

TEST_CASE("live_library: a playlist never announces a segment without the discontinuity before it")
{
    rig r;
    r.begin();
    r.segment(0, 0);
    r.part(0, 1, 0, "1a");
    live_library_end_run(r.library);
    live_library_segment(r.library, 0, 1);
    const std::string old = r.token;
    live_library_next_run(r.library, &r.about.m, WALL + 10 * USEC_PER_SEC);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find(old + "/v0-1750784001.0.m4s") != std::string::npos);
    CHECK(r.text.find("1750784002") == std::string::npos); // the next segment, the new run's
    CHECK(r.text.find("/v0-1750784001.m4s") == std::string::npos);
    CHECK(r.get("/live/v0.m3u8", "1750784001") == HTTP_WAITS);
    CHECK(r.get("/live/v0.m3u8", "1750784002", "0") == HTTP_WAITS);
    CHECK(r.get("/live/v0.m3u8", "1750784000") == 0);
    r.part(0, 2, 0, "2a");
    REQUIRE(r.get("/live/v0.m3u8", "1750784001") == 0);
    CHECK(r.text.find(old + "/v0-1750784001.m4s\n#EXT-X-DISCONTINUITY\n") != std::string::npos);
    CHECK(r.text.find("/v0-1750784002.0.m4s") != std::string::npos);
}

TEST_CASE("live_library: no playlist is without a segment, if the first run ends in its first one")
{
    rig r;
    r.begin();
    r.part(0, 0, 0, "0a");
    live_library_end_run(r.library);
    live_library_segment(r.library, 0, 0);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    live_library_next_run(r.library, &r.about.m, WALL + 10 * USEC_PER_SEC);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    r.part(0, 1, 0, "1a");
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXTINF") != std::string::npos);
}

TEST_CASE("live_library: of many runs in a row the oldest go, with their segments")
{
    rig r;
    r.begin();
    for (int64_t k = 0; k < 20; k++) {
        r.init(0);
        r.segment(0, k);
        live_library_next_run(r.library, &r.about.m, WALL + k);
    }
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-MEDIA-SEQUENCE:1750784014\n") != std::string::npos);
    CHECK(r.text.find("#EXT-X-DISCONTINUITY-SEQUENCE:437696014\n") != std::string::npos);
}

TEST_CASE("live_library: the first segment settles how long segments are")
{
    rig r;
    const double targets[] = {0.75, 0.5};
    r.begin();
    live_library_settle(r.library, 10, targets);
    CHECK(r.get("/live/v0.m3u8") == HTTP_WAITS);
    CHECK(r.reply.deadline == NOW + 30 * USEC_PER_SEC);
    r.part(0, 0, 0, "a");
    live_library_settle(r.library, 4, targets);
    live_library_segment(r.library, 0, 0);
    REQUIRE(r.get("/live/v0.m3u8") == 0);
    CHECK(r.text.find("#EXT-X-TARGETDURATION:4\n") != std::string::npos);
    CHECK(r.text.find("PART-TARGET=0.75000\n") != std::string::npos);
}
