// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/session/comparison.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "common/net/clock.h"
#include "media/pattern/pattern_picture.h"
#include "stream/qoe/qoe.h"

namespace
{

const int WIDTH = 320, HEIGHT = 180;

sdp description(sdp_source source)
{
    sdp s = {};
    s.source = source;
    s.codec = SDP_H264;
    s.ladder.source_width = WIDTH;
    s.ladder.source_height = HEIGHT;
    s.ladder.source_fps = {30, 1};
    return s;
}

struct fixture {
    uv_loop_t loop;
    play_options options = {};
    std::unique_ptr<qoe, void (*)(qoe *)> report{qoe_new("rtsp://h/", 0, 0), qoe_free};
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct trace *events = trace_new(out, false, 0);
    struct comparison *c = nullptr;

    explicit fixture(const play_options &o = {}, source *reference = nullptr) : options(o)
    {
        REQUIRE(uv_loop_init(&loop) == 0);
        comparison_config config = {.loop = &loop,
                                    .options = &options,
                                    .qoe = report.get(),
                                    .events = events,
                                    .reference = reference};
        c = comparison_new(&config);
        REQUIRE(c);
    }
    ~fixture()
    {
        comparison_free(c);
        uv_run(&loop, UV_RUN_DEFAULT);
        CHECK(uv_loop_close(&loop) == 0);
        trace_free(events);
        fclose(out);
        free(text);
    }
    void push(int64_t number, frame_fate fate)
    {
        pattern_picture *pattern = pattern_picture_new(WIDTH, HEIGHT, {30, 1});
        play_frame f = {};
        f.picture = picture_new(WIDTH, HEIGHT);
        REQUIRE((pattern && f.picture));
        pattern_picture_draw(pattern, number, f.picture);
        pattern_picture_free(pattern);
        f.number = number;
        f.fate = fate;
        comparison_push(c, &f);
        picture_unref(f.picture);
    }
    // Waits for unfinished comparisons. Returns the pictures that were compared.
    double compared()
    {
        comparison_finish(c, clock_now() + 600 * USEC_PER_SEC);
        uv_run(&loop, UV_RUN_NOWAIT);
        qoe_json r;
        qoe_read(report.get(), &r, 0);
        return r.picture.compared;
    }
};

} // namespace

TEST_CASE("comparison: pictures are compared if their source is known", "[threads]")
{
    struct {
        const char *name;
        sdp_source source;
        bool no_picture;
        bool compared;
    } rows[] = {
        {"the test picture is drawn again", SDP_SOURCE_TEST, false, true},
        {"--no-picture", SDP_SOURCE_TEST, true, false},
        {"a file without --reference", SDP_SOURCE_FILE, false, false},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        play_options o = {};
        o.no_picture = row.no_picture;
        fixture f(o);
        sdp s = description(row.source);
        REQUIRE(comparison_open(f.c, &s));
        f.push(5, FATE_SHOWN);
        double n = f.compared();
        if (row.compared)
            CHECK(n == 1);
        else
            CHECK_FALSE(n > 0);
        CHECK(comparison_sheet(f.c) == nullptr);
    }
}

TEST_CASE("comparison: sizes that weir-send never sends are not compared")
{
    fixture f;
    sdp s = description(SDP_SOURCE_TEST);
    s.ladder.source_width = 1 << 20;
    REQUIRE(comparison_open(f.c, &s));
    f.push(5, FATE_SHOWN);
    CHECK_FALSE(f.compared() > 0);
}

TEST_CASE("comparison: a reference of another size or rate is not used", "[threads]")
{
    const struct {
        const char *name;
        bool is_described, compared;
    } rows[] = {
        {"test:320x180@30", true, true},
        {"test:320x180@30/1", true, true},
        {"test:640x360@30", true, false},
        {"test:320x180@25", true, false},
        {"test:320x180@30000/1001", true, false},
        {"test:320x180@30", false, true}, // by a server that is not weir-send
    };
    for (const auto &row : rows) {
        INFO(row.name);
        int err;
        fixture f({}, source_open(row.name, true, &err));
        sdp s = description(SDP_SOURCE_FILE);
        if (!row.is_described)
            s.ladder.source_width = s.ladder.source_height = 0;
        REQUIRE(comparison_open(f.c, &s));
        f.push(5, FATE_SHOWN);
        CHECK((f.compared() > 0) == row.compared);
    }
}

TEST_CASE("comparison: only shown pictures count, over all connections")
{
    fixture f;
    sdp s = description(SDP_SOURCE_TEST);
    f.push(1, FATE_SHOWN); // nothing is described yet
    REQUIRE(comparison_open(f.c, &s));
    f.push(5, FATE_SHOWN);
    f.push(6, FATE_SKIPPED);
    REQUIRE(comparison_open(f.c, &s)); // another connection
    f.push(7, FATE_SHOWN);
    CHECK(f.compared() == 2);
}

TEST_CASE("comparison: --picture-events has a line for each picture of the source")
{
    play_options o = {};
    o.picture_events = true;
    fixture f(o);
    sdp s = description(SDP_SOURCE_TEST);
    REQUIRE(comparison_open(f.c, &s));
    f.push(5, FATE_SHOWN);
    f.push(8, FATE_SHOWN);
    CHECK(f.compared() == 2); // 6 and 7 were not shown: they are in the trace alone
    fflush(f.out);
    std::string lines(f.text, f.len);
    size_t count = 0;
    for (size_t at = 0; (at = lines.find("\"picture\"", at)) != std::string::npos; at++)
        count++;
    CHECK(count >= 4);
}

TEST_CASE("comparison: a contact sheet is made even if nothing can be compared")
{
    play_options o = {};
    o.contact_sheet = "sheet.png";
    fixture f(o);
    sdp s = description(SDP_SOURCE_FILE);
    CHECK(comparison_sheet(f.c) == nullptr);
    REQUIRE(comparison_open(f.c, &s));
    f.push(5, FATE_SHOWN);
    f.compared();
    REQUIRE(comparison_sheet(f.c));
    CHECK(contact_sheet_count(comparison_sheet(f.c)) == 1);
}
