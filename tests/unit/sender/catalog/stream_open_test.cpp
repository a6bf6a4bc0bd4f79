// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/catalog/stream_open.h"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <string>

TEST_CASE("stream_open: which options have the video of a file encoded again")
{
    const struct {
        const char *reason; // how it begins; "": its own video may pass
        std::function<void(options &)> change;
    } table[] = {
        {"", [](options &) {}},
        {"", [](options &o) { o.loop = true; }},
        {"--no-passthrough ", [](options &o) { o.no_pass = true; }},
        {"--level ", [](options &o) { o.level_count = 1; }},
        {"--codec ", [](options &o) { o.codec = SDP_VP9; }},
        {"--profile ", [](options &o) { o.baseline = true; }},
        {"--http ", [](options &o) { o.http.ss_family = AF_INET; }},
        {"--push ", [](options &o) { strcpy(o.push.text, "rtsp://h/live"); }},
        {"--record ", [](options &o) { o.record = "a.mkv"; }},
    };
    for (const auto &row : table) {
        auto o = std::make_unique<options>();
        *o = {};
        o->codec = SDP_H264;
        row.change(*o);
        const char *reason = stream_open_must_encode(o.get());
        INFO(row.reason);
        REQUIRE((reason != nullptr) == (*row.reason != '\0'));
        if (reason)
            CHECK(std::string(reason).rfind(row.reason, 0) == 0);
    }
}
