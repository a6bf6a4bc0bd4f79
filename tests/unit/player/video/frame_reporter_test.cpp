// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "player/video/frame_reporter.h"
#include "tests/support/two_levels.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t wall_ahead = 1700000000000 * ms;

// The session began at 0; the sender's wall clock is 50 ms ahead of ours.
struct viewing {
    ladder levels = two_levels();
    clock_sync clock{};
    playout *p;
    std::unique_ptr<frame_outcomes, void (*)(frame_outcomes *)> ledger{frame_outcomes_new(),
                                                                       frame_outcomes_free};
    std::unique_ptr<qoe, void (*)(qoe *)> q{qoe_new("u", 0, 0), qoe_free};
    char *text = nullptr;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct trace *trace = trace_new(out, false, 0);
    std::unique_ptr<frame_reporter> t{new frame_reporter};

    explicit viewing(bool live = false)
    {
        clock.known = true;
        clock.offset = 50 * ms;
        qoe_setup setup = {"udp", "", "test", &levels, true};
        qoe_on_setup(q.get(), &setup, 0);
        playout_config c{};
        c.ladder = &levels;
        c.level = 1;
        p = playout_new(&c);
        frame_reporter_config config = {&levels, &clock, p, ledger.get(), q.get(), trace, live};
        frame_reporter_init(t.get(), &config);
    }
    viewing(const viewing &) = delete;
    viewing &operator=(const viewing &) = delete;
    ~viewing()
    {
        trace_free(trace);
        fclose(out);
        free(text);
        playout_free(p);
    }
    // Captured at 100, written at 110, here at 180: all ms of our clock.
    received_frame frame(int64_t number, int level = 1) const
    {
        received_frame f{};
        f.number = number;
        f.temporal_id = static_cast<int>(number & 1);
        f.level = level;
        f.bytes = 700;
        f.capture_wall = wall_ahead + (100 + 50) * ms;
        f.first_written_us = static_cast<uint32_t>(wall_ahead + (110 + 50) * ms);
        f.last_arrived = 180 * ms;
        return f;
    }
    live_arrival arrived(const received_frame &f)
    {
        return frame_reporter_arrived(t.get(), &f, wall_ahead, 181 * ms);
    }
    // Decoding took 5 ms.
    void shown(int64_t number, usec_t at)
    {
        play_frame f{};
        f.number = number;
        f.level = 1;
        f.bytes = 700;
        f.capture_wall = wall_ahead + (100 + 50) * ms;
        f.last_arrived = 180 * ms;
        f.handed_over = 200 * ms;
        f.decode_time = 5 * ms;
        f.decoded_at = 206 * ms;
        f.shown_at = at * ms;
        frame_outcomes_handed(ledger.get(), number);
        frame_reporter_shown(t.get(), &f, wall_ahead, at * ms);
    }
    void action(playout_kind kind, int64_t number)
    {
        playout_action a{};
        a.kind = kind;
        a.number = number;
        frame_reporter_action(t.get(), &a, 2000 * ms);
    }
    std::string traced()
    {
        fflush(out);
        return std::string(text, len);
    }
    qoe_json report()
    {
        qoe_on_frames(q.get(), frame_outcomes_totals(ledger.get()));
        qoe_json r;
        qoe_read(q.get(), &r, 3000 * ms);
        return r;
    }
};

} // namespace

TEST_CASE("frame_reporter: a frame's way by the stamps of the sender")
{
    viewing v;
    live_arrival a = v.arrived(v.frame(3));
    CHECK(a.media == 300 * ms);
    CHECK(a.encoder == 10 * ms);
    CHECK(a.transport == 70 * ms);
    v.shown(3, 260);
    qoe_json r = v.report();
    CHECK(r.latency.frame.mean == Approx(80));
    CHECK(r.latency.display.mean == Approx(160));
    CHECK(r.latency.parts.encoder.mean == Approx(10));
    CHECK(r.latency.parts.transport.mean == Approx(70));
    CHECK(r.latency.parts.buffer.mean == Approx(20));
    CHECK(r.latency.parts.decoder.mean == Approx(5));
    CHECK(r.latency.parts.display.mean == Approx(54));
    CHECK(r.causes.shown == 1);
    CHECK(v.traced() ==
          R"({"t":0.26,"event":"frame","number":3,"level":1,"bytes":700,"arrived":0.18,)"
          R"("captured":0.1,"shown":0.26})"
          "\n");
}

TEST_CASE("frame_reporter: what was spent is of the frames shown, and adds up to their latency")
{
    viewing v;
    v.arrived(v.frame(3));
    v.shown(3, 260);
    received_frame late = v.frame(4); // came, and was never shown
    late.last_arrived += 900 * ms;
    v.arrived(late);
    qoe_json r = v.report();
    CHECK(r.latency.parts.transport.mean > 400);
    CHECK(r.latency.budget.spent_encoder == Approx(10));
    CHECK(r.latency.budget.spent_transport == Approx(70));
    double spent = r.latency.budget.spent_encoder + r.latency.budget.spent_transport +
                   r.latency.parts.buffer.mean + r.latency.parts.decoder.mean +
                   r.latency.parts.display.mean;
    CHECK(spent == Approx(r.latency.display.mean).margin(2));
}

TEST_CASE("frame_reporter: without the sender's clock or its stamp there are no latencies")
{
    viewing v;
    received_frame unstamped = v.frame(0);
    unstamped.capture_wall = 0;
    CHECK(v.arrived(unstamped).encoder == QOE_UNKNOWN);
    v.clock.known = false;
    live_arrival a = v.arrived(v.frame(1));
    CHECK(a.encoder == 10 * ms); // both stamps are the sender's
    CHECK(a.transport == QOE_UNKNOWN);
    v.shown(1, 260);
    qoe_json r = v.report();
    CHECK(r.latency.frame.count == 0);
    CHECK(r.latency.display.count == 0);
}

TEST_CASE("frame_reporter: a level that a frame cannot be of is not believed")
{
    viewing v;
    received_frame even = v.frame(2, 0), odd = v.frame(3, 0), beyond = v.frame(2, 9);
    CHECK(frame_reporter_level(v.t.get(), &even) == 0);
    CHECK(frame_reporter_level(v.t.get(), &odd) == 1);
    CHECK(frame_reporter_level(v.t.get(), &beyond) == 1);
}

TEST_CASE("frame_reporter: each end of a frame stands in figures, account and trace")
{
    viewing v;
    v.arrived(v.frame(4));
    frame_reporter_not_shown(v.t.get(), 1, FRAME_END_LOST, 1000 * ms);
    frame_reporter_not_shown(v.t.get(), 2, FRAME_END_LATE, 1001 * ms);
    frame_reporter_skipped(v.t.get(), 3, 1002 * ms);
    frame_outcomes_handed(v.ledger.get(), 4);
    frame_reporter_not_shown(v.t.get(), 4, FRAME_END_FAILED, 1003 * ms);
    qoe_json r = v.report();
    CHECK(r.playback.frames_lost == 1);
    CHECK(r.playback.frames_late == 1);
    CHECK(r.playback.frames_skipped == 1);
    CHECK(r.playback.frames_undecodable == 1);
    CHECK(r.causes.expected == 4);
    CHECK(r.causes.by_cause[CAUSE_SKIPPED] == 1);
    CHECK(r.causes.by_cause[CAUSE_DECODER] == 1);
    std::string text = v.traced();
    // Of frame 4 alone it was noted that it came.
    CHECK(text.find(R"("number":1,"level":1,"bytes":null,"arrived":null)") != std::string::npos);
    CHECK(text.find(R"("number":3,"level":1,"bytes":null,"arrived":null)") != std::string::npos);
    CHECK(text.find(R"("number":4,"level":1,"bytes":700,"arrived":0.18)") != std::string::npos);
}

TEST_CASE("frame_reporter: what is remembered is bounded")
{
    viewing v;
    v.arrived(v.frame(4));
    v.arrived(v.frame(4 + FRAME_REPORTER_NOTES));
    frame_reporter_not_shown(v.t.get(), 4, FRAME_END_LOST, 1000 * ms);
    CHECK(v.traced().find(R"("number":4,"level":1,"bytes":null)") != std::string::npos);
}

TEST_CASE("frame_reporter: what a new start passes over was left out")
{
    viewing v;
    v.action(PLAYOUT_START, 10);
    v.action(PLAYOUT_DECODE_AND_SHOW, 10);
    v.action(PLAYOUT_LOST, 11);
    v.action(PLAYOUT_START, 12); // nothing between
    CHECK(v.traced().empty());
    v.action(PLAYOUT_DECODE_AND_SHOW, 12);
    v.action(PLAYOUT_START, 20);
    CHECK(v.traced().find(R"("event":"skipped","from":13,"to":20,"frames":7)") !=
          std::string::npos);
    CHECK(v.report().causes.by_cause[CAUSE_SKIPPED] == 7);
    frame_reporter_moved(v.t.get());
    v.action(PLAYOUT_START, 100);
    CHECK(v.report().causes.by_cause[CAUSE_SKIPPED] == 7);
}

TEST_CASE("frame_reporter: a freeze stands in figures and trace, with the cause of what is missing")
{
    viewing v;
    v.shown(0, 300);
    v.shown(1, 400);
    frame_reporter_not_shown(v.t.get(), 2, FRAME_END_LATE, 600 * ms);
    frame_reporter_not_shown(v.t.get(), 3, FRAME_END_LATE, 700 * ms);
    v.shown(4, 701); // 301 ms: 10 frames/s may stand for 300
    qoe_json r = v.report();
    CHECK(r.freezes.count == 2); // the last picture has stood since
    CHECK(r.freezes.by_cause[FREEZE_LATE].total == Approx(0.301));
    CHECK(v.traced().find(R"("event":"freeze","at":0.4,"duration":0.301,"cause":"late"})") !=
          std::string::npos);
}

namespace
{

// Frame `number`, captured at `captured`, arrived 50 ms before and shown at `at`, ms.
void live_shown(viewing &v, int64_t number, usec_t captured, usec_t at)
{
    play_frame f{};
    f.number = number;
    f.level = 1;
    f.capture_wall = wall_ahead + captured * ms;
    f.last_arrived = (at - 50) * ms;
    f.shown_at = at * ms;
    v.action(PLAYOUT_DECODE_AND_SHOW, number);
    frame_outcomes_handed(v.ledger.get(), number);
    frame_reporter_shown(v.t.get(), &f, wall_ahead, at * ms);
}

} // namespace

TEST_CASE("frame_reporter: the frames that a sender missed while it stood still are told")
{
    for (bool live : {true, false}) {
        viewing v(live);
        v.action(PLAYOUT_START, 10);
        live_shown(v, 10, 100, 300);
        live_shown(v, 11, 200, 400);
        v.action(PLAYOUT_LOST, 12); // it counts as lost, not as missed
        frame_reporter_not_shown(v.t.get(), 12, FRAME_END_LOST, 500 * ms);
        live_shown(v, 13, 1300, 1500); // 900 ms later than its number says
        INFO(live);
        CHECK(v.report().causes.by_cause[CAUSE_OUTAGE] == (live ? 9 : 0));
        CHECK(v.report().causes.expected == (live ? 13 : 4));
        CHECK((v.traced().find(R"("event":"missed","frames":9})") != std::string::npos) == live);
    }
}

TEST_CASE("frame_reporter: a step of the sender's clock misses nothing")
{
    static const struct {
        usec_t captured, shown; // ms, of frame 12; its number says 300 and 500
        usec_t missed;
    } table[] = {
        {300, 500, 0},     {20300, 500, 0}, // stepped
        {1300, 500, 0},                     // by little
        {20300, 900, 0},                    // and it came late, but not by more than a silence
        {20300, 5500, 0},                   // 5 s without a picture do not explain 20 s
        {-19700, 5500, 0}, {300, 5500, 0},  // the network stood still
        {5300, 5500, 50},                   // the sender did
        {5300, 6500, 50},                   // and the buffer was filled again
        {5700, 5500, 54},                   // the 50 ms of the buffer are gone, and some of the way
        {6000, 5500, 0},                    // there was not so much to lose
    };
    for (const auto &row : table) {
        viewing v(true);
        v.action(PLAYOUT_START, 10);
        live_shown(v, 10, 100, 300);
        live_shown(v, 11, 200, 400);
        live_shown(v, 12, row.captured, row.shown);
        INFO(row.captured << " " << row.shown);
        CHECK(v.report().causes.by_cause[CAUSE_OUTAGE] == static_cast<double>(row.missed));
    }
}

TEST_CASE("frame_reporter: from one connection to the next")
{
    viewing v(true);
    v.action(PLAYOUT_START, 10);
    live_shown(v, 10, 100, 300);
    v.action(PLAYOUT_LOST, 11); // so the account ends at 300 of the capture
    frame_reporter_stop(v.t.get());
    frame_reporter_config config = v.t->config;
    frame_reporter_init(v.t.get(), &config);
    v.action(PLAYOUT_START, 5); // numbers of another server
    v.action(PLAYOUT_LOST, 5);
    live_shown(v, 6, 1000, 1200); // so 5 was captured at 900
    CHECK(v.report().causes.by_cause[CAUSE_OUTAGE] == 6);
}
