// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/video/live_edges.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "tests/support/two_levels.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct rig {
    ladder levels = two_levels(); // 10 frames/s
    std::unique_ptr<qoe, void (*)(qoe *)> q{qoe_new("u", 0, 0), qoe_free};
    std::unique_ptr<playout, void (*)(playout *)> p{nullptr, playout_free};
    live_edges edges;
    std::vector<viewing_event> events;
    viewing_sink sink{q.get(), on_event, this};

    rig()
    {
        playout_config config{};
        config.ladder = &levels;
        p.reset(playout_new(&config));
        live_edges_init(&edges);
    }
    static void on_event(void *ctx, const viewing_event *e)
    {
        static_cast<rig *>(ctx)->events.push_back(*e);
    }
    void shown(int64_t number, usec_t captured, usec_t at, usec_t waited = 100 * ms)
    {
        qoe_media_edge e = {captured, at, 1};
        live_edges_shown(&edges, p.get(), &sink, &e, number, waited);
    }
};

} // namespace

TEST_CASE("live_edges: media begins at the first frame, though a later picture is the first shown")
{
    rig r;
    live_edges_begin(&r.edges, 10);
    r.shown(12, 9000 * ms, 1000 * ms);
    REQUIRE(r.events.size() == 1);
    CHECK(r.events[0].kind == VIEWING_LIVE_BEGIN);
    CHECK(r.events[0].edge.captured == 8800 * ms); // two frames before
    CHECK(r.events[0].edge.shown == 800 * ms);
    r.shown(13, 9100 * ms, 1100 * ms);
    CHECK(r.events.size() == 1);
}

TEST_CASE(
    "live_edges: media ends after the last frame, though an earlier picture is the last shown")
{
    rig r;
    live_edges_end(&r.edges, r.p.get(), &r.sink, 15, 1500 * ms);
    CHECK(r.events.empty()); // no picture was shown
    live_edges_begin(&r.edges, 10);
    r.shown(10, QOE_UNKNOWN, 1000 * ms);
    r.events.clear();
    live_edges_end(&r.edges, r.p.get(), &r.sink, 15, 1500 * ms);
    REQUIRE(r.events.size() == 1);
    CHECK(r.events[0].kind == VIEWING_LIVE_END);
    CHECK(r.events[0].edge.captured == QOE_UNKNOWN);
    CHECK(r.events[0].edge.shown == 1500 * ms);
    CHECK(r.events[0].at == 1500 * ms);
}

TEST_CASE("live_edges: the sender stood still only if both clocks say so")
{
    struct {
        const char *what;
        usec_t captured, at; // of the picture after: its number is the next
        bool stood;
    } rows[] = {
        {"it went on", 9100 * ms, 1100 * ms, false},
        {"both clocks passed 60 s", 69100 * ms, 61100 * ms, true},
        {"the sender's clock alone was set", 69100 * ms, 1100 * ms, false},
        {"the viewer alone stood still", 9100 * ms, 61100 * ms, false},
        {"the media's gap is far longer than the viewer's", 129100 * ms, 61100 * ms, false},
        {"no clock", QOE_UNKNOWN, 61100 * ms, false},
    };
    for (const auto &row : rows) {
        INFO(row.what);
        rig r;
        live_edges_begin(&r.edges, 10);
        r.shown(10, 9000 * ms, 1000 * ms);
        r.events.clear();
        r.shown(11, row.captured, row.at);
        REQUIRE(r.events.size() == (row.stood ? 2 : 0));
        if (row.stood) {
            CHECK(r.events[0].kind == VIEWING_LIVE_END);
            CHECK(r.events[0].edge.shown == 1100 * ms); // one frame after the last picture
            CHECK(r.events[1].kind == VIEWING_LIVE_BEGIN);
            CHECK(r.events[1].edge.shown == row.at);
        }
    }
}
