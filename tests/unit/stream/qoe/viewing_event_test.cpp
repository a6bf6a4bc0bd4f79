// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/viewing_event.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "tests/support/two_levels.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct viewing {
    std::unique_ptr<qoe, void (*)(qoe *)> q{qoe_new("u", 0, 0), qoe_free};
    std::vector<viewing_event> heard;
    viewing_sink sink;

    viewing()
    {
        ladder levels = two_levels();
        qoe_setup setup = {"udp", "", "test", "", &levels, true};
        qoe_on_setup(q.get(), &setup, 0);
        sink = {q.get(), on_event, this};
    }
    static void on_event(void *ctx, const viewing_event *e)
    {
        static_cast<viewing *>(ctx)->heard.push_back(*e);
    }
    viewing_event event(viewing_kind kind, usec_t at)
    {
        viewing_event e{};
        e.kind = kind;
        e.at = at * ms;
        return e;
    }
    void emit(viewing_event e)
    {
        viewing_emit(&sink, &e);
    }
    void shown(int64_t number, usec_t at)
    {
        viewing_event e = event(VIEWING_SHOWN, at);
        e.shown.figures.number = number;
        e.shown.figures.level = 1;
        e.shown.at = at * ms;
        emit(e);
    }
    qoe_json report(usec_t at)
    {
        qoe_json r;
        qoe_read(q.get(), &r, at * ms);
        return r;
    }
};

} // namespace

TEST_CASE("viewing_event: each end of a frame counts in its group")
{
    struct {
        frame_end end;
        int lost, late, undecodable;
    } table[] = {
        {FRAME_END_LOST, 1, 0, 0},   {FRAME_END_LATE, 0, 1, 0},   {FRAME_END_SLOW, 0, 1, 0},
        {FRAME_END_UNSEEN, 0, 1, 0}, {FRAME_END_FAILED, 0, 0, 1}, {FRAME_END_UNDECODABLE, 0, 0, 1},
    };
    for (const auto &row : table) {
        viewing v;
        viewing_event e = v.event(VIEWING_NOT_SHOWN, 10);
        e.lost.end = row.end;
        v.emit(e);
        qoe_json r = v.report(20);
        INFO(row.end);
        CHECK(r.playback.frames_lost == row.lost);
        CHECK(r.playback.frames_late == row.late);
        CHECK(r.playback.frames_undecodable == row.undecodable);
        CHECK(v.heard.size() == 1);
    }
    viewing v;
    v.emit(v.event(VIEWING_SKIPPED, 10));
    CHECK(v.report(20).playback.frames_skipped == 1);
}

TEST_CASE("viewing_event: the sink gets the freeze that an event ends")
{
    viewing v;
    v.emit(v.event(VIEWING_START, 0));
    v.shown(0, 0);
    v.shown(1, 100);
    v.shown(2, 900);
    REQUIRE(v.heard.size() == 4);
    CHECK(v.heard[2].freeze == nullptr);
    REQUIRE(v.heard[3].freeze != nullptr);
    CHECK(v.report(950).freezes.count == 1);
}

TEST_CASE("viewing_event: stalls, pauses and totals are in the report, with or without a sink")
{
    for (bool listens : {true, false}) {
        viewing v;
        if (!listens)
            v.sink.on_event = nullptr;
        v.emit(v.event(VIEWING_START, 0));
        v.shown(0, 0);
        viewing_event begin = v.event(VIEWING_STALL_BEGIN, 100),
                      end = v.event(VIEWING_STALL_END, 400);
        begin.stall.cause = STALL_OUTAGE;
        end.stall.cause = STALL_NETWORK;
        v.emit(begin);
        v.emit(end);
        frame_totals totals{};
        totals.expected = 5;
        totals.shown = 4;
        viewing_event sum = v.event(VIEWING_TOTALS, 400);
        sum.totals = &totals;
        v.emit(sum);
        qoe_json r = v.report(500);
        CHECK(r.rebuffering.by_cause[STALL_NETWORK].total == Approx(0.3));
        CHECK(r.causes.expected == 5);
        CHECK(v.heard.size() == (listens ? 5u : 0u));
    }
}
