// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/video/video_pipeline.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "stream/playout/live_clock.h"
#include "tests/support/two_levels.hpp"
#include "tests/support/two_sizes.hpp"

namespace
{

const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;
const usec_t wall_ahead = 1700000000 * sec;

using qoe_pointer = std::unique_ptr<qoe, void (*)(qoe *)>;

qoe_pointer new_qoe()
{
    ladder levels = two_levels();
    qoe_setup setup = {"udp", "", "test", "", &levels, true};
    qoe_pointer q(qoe_new("u", 0, 0), qoe_free);
    qoe_on_setup(q.get(), &setup, 0);
    return q;
}

video_pipeline_config usual()
{
    video_pipeline_config c{};
    c.level = 1;
    return c;
}

// A viewer in virtual time: 10 frames/s, one packet a frame unless a test says otherwise. An even
// frame depends on the even one before it, an odd one on the one before it. The sender's wall clock
// is 50 ms ahead of ours. Frames are decoded at once, and shown when they are due.
struct viewer {
    ladder levels;
    clock_sync clock{};
    qoe *q;
    video_pipeline *v;
    usec_t now = 0;
    int64_t seq = 1000;
    std::vector<viewing_event> events;
    int keys_asked = 0;
    std::set<int64_t> failing; // frames that the decoder cannot decode
    std::map<int64_t, frame_end> unseen;
    std::map<int64_t, usec_t> shown_at; // later than due

    explicit viewer(qoe *figures, video_pipeline_config c = usual(), ladder l = two_levels())
        : levels(l), q(figures)
    {
        clock.known = true;
        clock.offset = 50 * ms;
        c.ladder = &levels;
        c.clock = &clock;
        c.sink = {q, on_event, this};
        v = video_pipeline_new(&c);
    }
    viewer(const viewer &) = delete;
    viewer &operator=(const viewer &) = delete;
    ~viewer()
    {
        video_pipeline_free(v);
    }
    static void on_event(void *ctx, const viewing_event *e)
    {
        static_cast<viewer *>(ctx)->events.push_back(*e);
    }
    void drain()
    {
        video_output out;
        while (video_pipeline_poll(v, &out, now)) {
            if (out.kind == VIDEO_ASK_KEY) {
                keys_asked++;
                continue;
            }
            received_frame *f = out.frame;
            video_shown s = {f->number, out.level, f->bytes,     f->capture_wall, f->last_arrived,
                             now,       5 * ms,    now + 6 * ms, out.show_at,     out.show_at};
            if (shown_at.count(f->number))
                s.shown_at = shown_at[f->number];
            if (failing.count(f->number))
                video_pipeline_undecoded(v, f->size_id, f->number, out.show, FRAME_END_FAILED, now);
            else if (out.show && unseen.count(f->number))
                video_pipeline_not_shown(v, f->number, unseen[f->number], now);
            else if (out.show)
                video_pipeline_shown(v, &s, wall_ahead, now);
            received_frame_free(f);
        }
    }
    void until(usec_t t)
    {
        for (usec_t at; (at = video_pipeline_next_timeout(v)) <= t;) {
            now = std::max(now, at);
            drain();
        }
        now = t;
        drain();
    }
    rtp_packet packet(int64_t number, usec_t written) const
    {
        rtp_packet p{};
        p.has_adu = true;
        p.adu.frame = static_cast<uint32_t>(number);
        p.adu.first = p.adu.last = true;
        p.adu.written_us = static_cast<uint32_t>(wall_ahead + written + 50 * ms);
        return p;
    }
    // Captured 80 ms and written 70 ms before it arrives, at `at`.
    received_frame *frame(int64_t number, usec_t at, bool key) const
    {
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = number;
        f->temporal_id = static_cast<int>(number & 1);
        f->level = 1;
        f->key = key;
        f->depends_on = key ? -1 : number & 1 ? number - 1 : number - 2;
        f->bytes = 700;
        f->packets = 1;
        f->capture_wall = wall_ahead + at + (50 - 80) * ms;
        f->first_written_us = static_cast<uint32_t>(wall_ahead + at + (50 - 70) * ms);
        f->last_arrived = at;
        return f;
    }
    int push(received_frame *f, usec_t at)
    {
        until(at);
        rtp_packet p = packet(f->number, at - 70 * ms);
        video_pipeline_packet(v, &p, seq++, at);
        int err = video_pipeline_push(v, f, wall_ahead, at);
        drain();
        return err;
    }
    int arrive(int64_t number, usec_t at, bool key = false)
    {
        return push(frame(number, at, key), at);
    }
    std::vector<viewing_event> of(viewing_kind kind) const
    {
        std::vector<viewing_event> all;
        for (const viewing_event &e : events)
            if (e.kind == kind)
                all.push_back(e);
        return all;
    }
    // Why a frame was not shown; `number` -1: it was shown, or is not decided yet.
    not_shown why(int64_t number) const
    {
        for (const viewing_event &e : events)
            if (e.kind == VIEWING_NOT_SHOWN && e.lost.why.number == number)
                return e.lost.why;
        return {-1, CAUSE_NETWORK, CAUSE_NETWORK, -1};
    }
    qoe_json report()
    {
        qoe_json r;
        qoe_read(q, &r, now);
        return r;
    }
};

// The law of the account (cause.h).
void check_law(const qoe_json &r)
{
    double by_cause = 0, by_root = 0;
    for (int c = 0; c < FRAME_CAUSES; c++) {
        by_cause += static_cast<double>(r.causes.by_cause[c]);
        by_root += static_cast<double>(r.causes.by_root[c]);
    }
    CHECK(static_cast<double>(r.causes.expected - r.causes.shown) == by_cause);
    CHECK(by_cause == by_root);
}

} // namespace

TEST_CASE("video_pipeline: packets in, frames out when they are due, each fact one event")
{
    qoe_pointer q = new_qoe();
    video_pipeline_config c = usual();
    c.start_threshold = 300 * ms;
    c.decode_lead = 60 * ms;
    viewer w(q.get(), c);
    for (int64_t n = 0; n < 5; n++)
        CHECK(w.arrive(n, 1000 * ms + n * 50 * ms, n == 0) == 0);
    w.until(3 * sec);
    REQUIRE(w.of(VIEWING_START).size() == 1);
    CHECK(w.of(VIEWING_START)[0].at == 1100 * ms); // frames 0, 1, 2 are 300 ms
    std::vector<viewing_event> shown = w.of(VIEWING_SHOWN);
    REQUIRE(shown.size() == 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK(shown[i].shown.figures.number == static_cast<int64_t>(i));
        CHECK(shown[i].shown.at == static_cast<usec_t>(1100 + 100 * i) * ms);
        CHECK(shown[i].shown.arrival.at == static_cast<usec_t>(1000 + 50 * i) * ms);
    }
    CHECK(shown[1].at == 1140 * ms); // decoded that much ahead
    CHECK(w.of(VIEWING_FRAME).size() == 5);
    REQUIRE(w.of(VIEWING_STALL_BEGIN).size() == 1);
    CHECK(w.of(VIEWING_STALL_BEGIN)[0].at == 1600 * ms);
    CHECK(w.of(VIEWING_STALL_BEGIN)[0].stall.found == 1700 * ms);
    CHECK(w.of(VIEWING_STALL_BEGIN)[0].stall.number == 5);
    CHECK(w.keys_asked == 0);
    check_law(w.report());
}

TEST_CASE("video_pipeline: why a frame was not shown, and those that need it")
{
    enum fault { LOST, UNSENT, LATE, FAILS, UNSEEN };
    struct row {
        const char *name;
        fault what;
        frame_cause six; // why frame 6 is not shown
        bool seven;      // is frame 7 shown, which depends on it?
        frame_cause root;
        freeze_cause freeze;
    };
    const row table[] = {
        {"its packet is lost", LOST, CAUSE_NETWORK, false, CAUSE_NETWORK, FREEZE_NETWORK},
        {"it is not sent", UNSENT, CAUSE_SENDER, false, CAUSE_SENDER, FREEZE_SENDER},
        // Late for the screen, but 7 and 8 depend on it: it is still decoded.
        {"it comes 50 ms after its time", LATE, CAUSE_LATE, true, CAUSE_LATE, FREEZE_LATE},
        {"decoding fails", FAILS, CAUSE_DECODER, false, CAUSE_DECODER, FREEZE_UNDECODABLE},
        {"the display is too slow", UNSEEN, CAUSE_DISPLAY, true, CAUSE_DISPLAY, FREEZE_DISPLAY},
    };
    for (const row &r : table) {
        INFO(r.name);
        qoe_pointer q = new_qoe();
        viewer w(q.get());
        if (r.what == FAILS)
            w.failing = {6};
        if (r.what == UNSEEN)
            w.unseen = {{6, FRAME_END_UNSEEN}};
        for (int64_t n = 0; n <= 20; n++) {
            usec_t at = sec + n * 100 * ms - (n ? 50 * ms : 0);
            bool missing = n == 6 && (r.what == LOST || r.what == UNSENT);
            if (n == 6 && r.what == LATE)
                continue;
            if (missing)
                w.seq += r.what == LOST;
            else
                w.arrive(n, at, n % 10 == 0);
            if (n == 7 && r.what == LATE) { // 7 was before it, so 6 was passed over
                w.until(sec + 650 * ms);
                w.arrive(6, sec + 650 * ms);
            }
        }
        video_pipeline_end(w.v, w.now);
        w.until(3150 * ms);
        CHECK(video_pipeline_is_ending(w.v)); // since 3.1 s
        CHECK(w.why(6).number == 6);
        CHECK(w.why(6).cause == r.six);
        CHECK(w.why(6).root == r.root);
        if (r.seven) {
            CHECK(w.why(7).number == -1);
        } else {
            for (int64_t n : {7, 8, 9}) { // 10 is a key frame
                CHECK(w.why(n).cause == CAUSE_DEPENDENCY);
                CHECK(w.why(n).root == r.root);
            }
        }
        CHECK(w.why(10).number == -1);
        qoe_json figures = w.report();
        CHECK(figures.causes.expected == 21);
        CHECK(figures.causes.shown == (r.seven ? 20 : 17));
        CHECK(figures.freezes.count == (r.seven ? 0 : 1)); // 500 ms, or 200, which is none
        if (!r.seven)
            CHECK(figures.freezes.by_cause[r.freeze].total == Approx(0.5));
        CHECK(w.of(VIEWING_STALL_BEGIN).empty()); // the buffer is not empty
        check_law(figures);
    }
}

TEST_CASE("video_pipeline: what a machine that did not run misses is its own fault")
{
    enum fault { LOST, UNSENT, LATE };
    const struct {
        const char *name;
        fault what; // of the frames 6 to 15
        bool live;
        bool stops; // the machine, from 40 ms after frame 5 is due until frame 16 arrives
        frame_cause six;
    } table[] = {
        {"the network loses them", LOST, false, false, CAUSE_NETWORK},
        {"its socket had no room", LOST, false, true, CAUSE_DISPLAY},
        {"the sender leaves them out", UNSENT, false, false, CAUSE_SENDER},
        {"the sender receives no reports", UNSENT, false, true, CAUSE_DISPLAY},
        {"they waited in its socket", LATE, false, true, CAUSE_DISPLAY},
        {"live, its socket had no room", LOST, true, true, CAUSE_DISPLAY},
        {"live, the sender receives no reports", UNSENT, true, true, CAUSE_DISPLAY},
        {"live, they waited in its socket", LATE, true, true, CAUSE_DISPLAY},
    };
    for (const auto &r : table) {
        INFO(r.name);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.live = r.live;
        viewer w(q.get(), c);
        for (int64_t n = 0; n <= 5; n++)
            w.arrive(n, sec + n * 100 * ms, n == 0);
        w.until(sec + 540 * ms);
        usec_t back = sec + 1600 * ms;
        if (r.stops)
            w.now = back;
        for (int64_t n = 6; n <= 15; n++) {
            if (r.what == LATE)
                w.arrive(n, back);
            else
                w.seq += r.what == LOST;
        }
        for (int64_t n = 16; n <= 50; n++)
            w.arrive(n, sec + n * 100 * ms, n == 16);
        video_pipeline_end(w.v, w.now);
        w.until(w.now + 100 * ms);
        for (int64_t n = 6; n <= 15; n++) {
            INFO(n);
            if (w.why(n).number >= 0)
                CHECK(w.why(n).root == r.six);
        }
        CHECK((r.what == LATE || w.why(6).cause == r.six));
        qoe_json figures = w.report();
        CHECK(figures.freezes.count >= 1);
        CHECK(figures.freezes.by_cause[FREEZE_DISPLAY].count ==
              (r.stops ? figures.freezes.count : 0));
        for (const viewing_event &e : w.of(VIEWING_STALL_END))
            CHECK((!r.stops || e.stall.cause == STALL_DISPLAY));
        check_law(figures);
    }
}

TEST_CASE("video_pipeline: a stall has the cause that is known at its end")
{
    struct row {
        const char *name;
        usec_t written; // ms before it arrives: frame 10, which ends the stall
        bool lost;      // a packet before it
        stall_cause begin, end;
    };
    const row table[] = {
        {"nothing is known but silence", 70, true, STALL_OUTAGE, STALL_OUTAGE},
        {"nothing was written meanwhile", 70, false, STALL_OUTAGE, STALL_SENDER},
        {"it was written in time", 900, false, STALL_OUTAGE, STALL_OUTAGE},
    };
    for (const row &r : table) {
        INFO(r.name);
        qoe_pointer q = new_qoe();
        viewer w(q.get());
        for (int64_t n = 0; n < 10; n++)
            w.arrive(n, sec + n * 10 * ms, n == 0); // in a burst: silence begins at 1.09 s
        w.until(3 * sec);
        w.seq += r.lost;
        rtp_packet p = w.packet(10, 3 * sec - r.written * ms);
        video_pipeline_packet(w.v, &p, w.seq++, 3 * sec);
        video_pipeline_push(w.v, w.frame(10, 3 * sec, false), wall_ahead, 3 * sec);
        w.drain();
        REQUIRE(w.of(VIEWING_STALL_BEGIN).size() == 1);
        REQUIRE(w.of(VIEWING_STALL_END).size() == 1);
        viewing_event begin = w.of(VIEWING_STALL_BEGIN)[0], end = w.of(VIEWING_STALL_END)[0];
        CHECK(begin.at == 2 * sec);
        CHECK(begin.stall.silence == 2100 * ms - 1090 * ms);
        CHECK(begin.stall.cause == r.begin);
        CHECK(end.at == 3 * sec);
        CHECK(end.stall.stalled == sec);
        CHECK(end.stall.cause == r.end);
        CHECK(w.report().rebuffering.by_cause[r.end].total == Approx(1));
    }
}

TEST_CASE("video_pipeline: a viewing that ends within a stall has it in its figures alone")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    for (int64_t n = 0; n < 5; n++)
        w.arrive(n, sec + n * 10 * ms, n == 0);
    w.until(2 * sec);
    video_pipeline_stop(w.v, 2 * sec);
    CHECK(w.of(VIEWING_STALL_BEGIN).size() == 1);
    CHECK(w.of(VIEWING_STALL_END).empty());
    CHECK(w.of(VIEWING_STALL_CUT).size() == 1);
    CHECK(w.report().rebuffering.by_cause[STALL_OUTAGE].total == Approx(0.5));
    CHECK(video_pipeline_next_timeout(w.v) == USEC_NEVER);
    size_t before = w.events.size();
    w.until(5 * sec);
    CHECK(w.events.size() == before);
}

TEST_CASE("video_pipeline: a frame's way by the stamps of the sender")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    w.shown_at = {{0, 260 * ms}};
    w.arrive(0, 180 * ms, true); // captured at 100, written at 110
    qoe_json r = w.report();
    CHECK(r.latency.frame.mean == Approx(80));
    CHECK(r.latency.display.mean == Approx(160));
    CHECK(r.latency.parts.encoder.mean == Approx(10));
    CHECK(r.latency.parts.transport.mean == Approx(70));
    CHECK(r.latency.parts.buffer.mean == Approx(0));
    CHECK(r.latency.parts.decoder.mean == Approx(5));
    CHECK(r.latency.parts.display.mean == Approx(74));
    CHECK(r.latency.budget.spent_encoder == Approx(10));
    CHECK(r.latency.budget.spent_transport == Approx(70));
}

TEST_CASE("video_pipeline: without the sender's clock or its stamp there are no latencies")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    received_frame *unstamped = w.frame(0, 180 * ms, true);
    unstamped->capture_wall = 0;
    w.push(unstamped, 180 * ms);
    CHECK(w.of(VIEWING_FRAME)[0].frame.encoder == QOE_UNKNOWN);
    CHECK(w.of(VIEWING_FRAME)[0].frame.transport == 70 * ms);
    w.clock.known = false;
    w.arrive(1, 280 * ms);
    w.until(400 * ms);
    CHECK(w.of(VIEWING_FRAME)[1].frame.encoder == 10 * ms); // both stamps are the sender's
    CHECK(w.of(VIEWING_FRAME)[1].frame.transport == QOE_UNKNOWN);
    qoe_json r = w.report();
    CHECK(r.latency.frame.count == 0);
    CHECK(r.latency.display.count == 0);
}

TEST_CASE("video_pipeline: a level that a frame cannot be of is not believed")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    struct {
        int64_t number;
        int says, is;
    } table[] = {{0, 1, 1}, {1, 0, 1}, {2, 9, 1}, {4, 0, 0}, {6, 1, 1}};
    std::vector<int> levels;
    for (const auto &row : table) {
        received_frame *f = w.frame(row.number, row.number * 100 * ms, true);
        f->level = row.says;
        f->temporal_id = static_cast<int>(row.number & 1);
        w.push(f, row.number * 100 * ms);
        CHECK(w.of(VIEWING_FRAME).back().frame.level == row.is);
    }
    for (const viewing_event &e : w.of(VIEWING_LEVEL))
        levels.push_back(e.level);
    CHECK(levels == std::vector<int>{0, 1}); // it began with 1
    CHECK(video_pipeline_arrived(w.v) == 6);
}

TEST_CASE(
    "video_pipeline: a number that no frame can have is refused before anything is made of it")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    for (int64_t number : {int64_t{-1}, PLAYOUT_MAX_NUMBER})
        CHECK(video_pipeline_push(w.v, w.frame(number, 0, true), wall_ahead, 0) == ERR_MALFORMED);
    CHECK(w.of(VIEWING_FRAME).empty());
    CHECK(video_pipeline_arrived(w.v) == -1);
}

TEST_CASE("video_pipeline: a key frame is asked for once a break of the base layer shows")
{
    for (bool asks : {true, false}) {
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.asks_keys = asks;
        viewer w(q.get(), c);
        for (int64_t n = 0; n < 10; n++) {
            if (n == 4)
                w.seq++;
            else
                w.arrive(n, sec + n * 100 * ms, n == 0);
            INFO(n);
            CHECK((w.keys_asked > 0) == (asks && n > 4));
        }
        w.arrive(10, 2 * sec, true);
        int asked = w.keys_asked;
        w.until(4 * sec);
        CHECK(w.keys_asked == asked);
        if (!asks)
            CHECK(video_pipeline_next_timeout(w.v) == 4050 * ms); // rebuffering, which is watched
    }
}

TEST_CASE("video_pipeline: the key frame of the next size is lost: another is asked for, and shown")
{
    for (bool low : {false, true}) {
        INFO("low latency: " << low);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.asks_keys = true;
        c.latency = low ? LATENCY_LOW : LATENCY_AUTO;
        viewer w(q.get(), c, two_sizes());
        video_pipeline_set_rtt(w.v, 200 * ms);
        usec_t asked_at = -1, shown_at = -1;
        for (int64_t n = 0; n < 60; n++) {
            usec_t at = sec + n * 100 * ms;
            if (n == 10) { // size 1 begins
                w.seq++;
                continue;
            }
            bool answered = asked_at >= 0 && at - asked_at >= 200 * ms;
            bool key = n == 0 || (answered && n % 2 == 0 && shown_at < 0);
            received_frame *f = w.frame(n, at, key);
            f->size_id = n > 10;
            f->level = n > 10 ? 3 : 1;
            w.push(f, at);
            if (key && n > 10)
                shown_at = at;
            if (asked_at < 0 && w.keys_asked > 0)
                asked_at = at;
        }
        w.until(8 * sec);
        CHECK(asked_at == sec + 1100 * ms); // with the first frame that arrives of the size
        CHECK(w.keys_asked == 2);           // again after a round trip
        std::set<int64_t> seen;
        for (const viewing_event &e : w.of(VIEWING_SHOWN))
            seen.insert(e.shown.figures.number);
        for (int64_t n = 0; n < 60; n++) {
            INFO(n);
            CHECK((seen.count(n) > 0) == (n < 10 || n >= 14));
        }
    }
}

TEST_CASE(
    "video_pipeline: a frame that is repaired before it is due is shown, and so is what needs it")
{
    // Frame 4 becomes whole after the frames up to `after`. A second of media is held.
    const struct {
        int64_t after;
        bool nacked; // as soon as frame 5 shows the hole
        bool shown, asked;
    } table[] = {
        {5, true, true, false},  // after the next one
        {6, true, true, false},  // after one that depends on it
        {7, true, true, false},  // 240 ms after the break: the repair is awaited
        {6, false, true, true},  // it is not known that it is repaired
        {12, true, true, true},  // in time, but long after a repair was to be expected
        {18, true, false, true}, // too late
    };
    for (const auto &row : table) {
        INFO(row.after << " " << row.nacked);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.asks_keys = true;
        c.start_threshold = sec;
        viewer w(q.get(), c);
        video_pipeline_set_rtt(w.v, 100 * ms);
        for (int64_t n = 0; n < 30; n++) {
            usec_t at = sec + n * 100 * ms;
            if (n == 5 && row.nacked)
                video_pipeline_nacked(w.v, at);
            if (n != 4)
                w.arrive(n, at, n == 0);
            if (n == row.after)
                w.arrive(4, at + 40 * ms);
            else
                w.until(at + 40 * ms);
        }
        w.until(6 * sec);
        CHECK(w.of(VIEWING_SHOWN).size() == (row.shown ? 30 : 4));
        CHECK((w.keys_asked > 0) == row.asked);
        if (row.shown)
            CHECK(w.of(VIEWING_NOT_SHOWN).empty());
    }
}

TEST_CASE("video_pipeline: what a decoder fails to decode takes along what depends on it")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    for (int64_t n = 0; n < 4; n++)
        w.arrive(n, n * 100 * ms, n == 0);
    w.until(350 * ms);
    video_pipeline_undecoded(w.v, 0, 2, false, FRAME_END_FAILED, w.now); // after it was shown
    w.arrive(4, 400 * ms);
    w.until(600 * ms);
    CHECK(w.why(4).number == 4);
    CHECK(w.why(2).number == -1);
}

TEST_CASE("video_pipeline: live media that was not seen in a pause was left out")
{
    for (bool live : {true, false}) {
        INFO(live);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.live = live;
        viewer w(q.get(), c);
        for (int64_t n = 0; n < 5; n++)
            w.arrive(n, sec + n * 100 * ms, n == 0);
        w.until(sec + 450 * ms);
        video_pipeline_pause(w.v, w.now);
        for (int64_t n = 5; n < 15; n++)
            w.arrive(n, sec + n * 100 * ms);
        video_pipeline_resume(w.v, w.now);
        w.arrive(20, 3 * sec, true);
        w.until(5 * sec);
        CHECK(w.of(VIEWING_PAUSE).size() == 1);
        CHECK(w.of(VIEWING_RESUME).size() == 1);
        CHECK(w.of(VIEWING_REBUFFER).size() == (live ? 1 : 0));
        REQUIRE(w.of(VIEWING_LEFT_OUT).size() == (live ? 1 : 0));
        if (live) {
            viewing_range range = w.of(VIEWING_LEFT_OUT)[0].range;
            CHECK(range.from == 5);
            CHECK(range.to == 20);
            CHECK(range.frames == 15);
            CHECK(w.report().causes.by_cause[CAUSE_SKIPPED] == 15);
        }
        check_law(w.report());
    }
}

TEST_CASE("video_pipeline: a seek passes over nothing, and its media is buffered")
{
    qoe_pointer q = new_qoe();
    viewer w(q.get());
    for (int64_t n = 0; n < 5; n++)
        w.arrive(n, sec + n * 100 * ms, n == 0);
    w.until(sec + 450 * ms);
    video_pipeline_end(w.v, w.now);
    video_pipeline_seek(w.v, 100, 100, true, w.now);
    w.drain();
    CHECK(!video_pipeline_is_ending(w.v));
    for (int64_t n = 100; n < 105; n++)
        w.arrive(n, 2 * sec + (n - 100) * 100 * ms, n == 100);
    video_pipeline_end(w.v, w.now);
    w.until(4 * sec);
    CHECK(w.of(VIEWING_SEEK).size() == 1);
    CHECK(w.of(VIEWING_LEFT_OUT).empty());
    CHECK(w.of(VIEWING_SHOWN).size() == 10);
    CHECK(video_pipeline_is_ending(w.v));
    CHECK(w.report().causes.expected == 10);
}

namespace
{

// Frame `number`, captured at `captured`, arrived 50 ms before and shown at `at`, all ms.
void live_frame(viewer &w, int64_t number, usec_t captured, usec_t at)
{
    received_frame *f = w.frame(number, (at - 50) * ms, true);
    f->capture_wall = wall_ahead + captured * ms;
    w.shown_at[number] = at * ms;
    w.push(f, (at - 50) * ms);
}

video_pipeline_config live_media(bool live = true)
{
    video_pipeline_config c = usual();
    c.live = live;
    return c;
}

} // namespace

TEST_CASE("video_pipeline: the frames that a sender missed while it stood still are told")
{
    for (bool live : {true, false}) {
        qoe_pointer q = new_qoe();
        viewer w(q.get(), live_media(live));
        live_frame(w, 10, 100, 300);
        live_frame(w, 11, 200, 400);
        live_frame(w, 13, 1300, 1500); // 900 ms later than its number says; 12 is lost, not missed
        w.until(5 * sec);
        INFO(live);
        CHECK(w.why(12).number == 12);
        qoe_json r = w.report();
        CHECK(r.causes.by_cause[CAUSE_OUTAGE] == (live ? 9 : 0));
        CHECK(r.causes.expected == (live ? 13 : 4));
        std::vector<uint64_t> missed;
        for (const viewing_event &e : w.of(VIEWING_LIVE_BEGIN))
            missed.push_back(e.missed);
        CHECK(missed == (live ? std::vector<uint64_t>{0, 9} : std::vector<uint64_t>{}));
    }
}

TEST_CASE("video_pipeline: a step of the sender's clock misses nothing")
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
        qoe_pointer q = new_qoe();
        viewer w(q.get(), live_media());
        live_frame(w, 10, 100, 300);
        live_frame(w, 11, 200, 400);
        live_frame(w, 12, row.captured, row.shown);
        INFO(row.captured << " " << row.shown);
        CHECK(w.report().causes.by_cause[CAUSE_OUTAGE] == static_cast<double>(row.missed));
    }
}

TEST_CASE("video_pipeline: from one connection to the next")
{
    qoe_pointer q = new_qoe();
    viewer before(q.get(), live_media());
    live_frame(before, 10, 100, 300);
    live_frame(before, 12, 300, 480);
    before.until(440 * ms);                  // 11 was due at 350, 12 is at 450
    video_pipeline_stop(before.v, 440 * ms); // so the account ends at 300 of the capture
    CHECK(before.why(11).number == 11);
    viewer after(q.get(), live_media()); // with the numbers of another server
    after.failing = {5};
    live_frame(after, 5, 900, 1100);
    live_frame(after, 6, 1000, 1200);
    after.until(1200 * ms);
    CHECK(after.report().causes.by_cause[CAUSE_OUTAGE] == 6);
}

TEST_CASE("video_pipeline: a pause is told even if the source stood still in it")
{
    qoe_pointer q = new_qoe();
    video_pipeline_config c = live_media();
    c.steers = true; // LATENCY_AUTO: nothing is held
    viewer w(q.get(), c);
    for (int64_t n = 0; n < 5; n++)
        w.arrive(n, sec + n * 100 * ms, n == 0);
    w.until(sec + 450 * ms);
    video_pipeline_pause(w.v, w.now);
    w.until(3 * sec);
    video_pipeline_resume(w.v, w.now);
    w.arrive(5, 3 * sec, true);
    w.arrive(6, 3100 * ms);
    w.until(3300 * ms);
    REQUIRE(w.of(VIEWING_LEFT_OUT).size() == 1);
    viewing_range range = w.of(VIEWING_LEFT_OUT)[0].range;
    CHECK(range.from == 5);
    CHECK(range.to == 5);
    CHECK(range.frames == 0);
    CHECK(w.of(VIEWING_SHOWN).size() == 7);
    check_law(w.report());
}

TEST_CASE("video_pipeline: the target is what the latency is")
{
    for (latency_mode mode : {LATENCY_AUTO, LATENCY_FIXED, LATENCY_START, LATENCY_LOW}) {
        qoe_pointer q = new_qoe();
        video_pipeline_config c = live_media();
        c.steers = true;
        c.latency = mode;
        c.target = mode == LATENCY_FIXED ? 400 * ms : 0;
        c.start_threshold = mode == LATENCY_START ? 300 * ms : 0;
        viewer w(q.get(), c);
        INFO(latency_mode_name(mode));
        CHECK(video_pipeline_target(w.v) == c.target);
        for (int64_t n = 0; n < 200; n++)
            w.arrive(n, sec + n * 100 * ms, n % 20 == 0);
        double latency = static_cast<double>(w.of(VIEWING_SHOWN).back().shown.figures.latency);
        CHECK(latency == Approx(video_pipeline_target(w.v)).margin(10 * ms));
        CHECK((video_pipeline_sender_share(w.v) > 0) ==
              (mode == LATENCY_AUTO || mode == LATENCY_FIXED));
        usec_t before = video_pipeline_target(w.v);
        video_pipeline_set_repair(w.v, 90 * ms);
        for (int64_t n = 200; n < 220; n++) {
            w.seq += n < 212 && n % 4 == 0; // three packets are lost within a second
            w.arrive(n, sec + n * 100 * ms, n % 20 == 0);
        }
        CHECK((video_pipeline_target(w.v) >= before + 80 * ms) == (mode == LATENCY_AUTO));
    }
}

TEST_CASE("video_pipeline: the latency of live media is steered where it is wanted")
{
    for (bool steers : {true, false}) {
        qoe_pointer q = new_qoe();
        video_pipeline_config c = live_media();
        c.steers = steers;
        c.target = steers ? 800 * ms : 0;
        c.start_threshold = 2 * sec; // begins with far more than it is to have
        c.start = 2 * sec;
        viewer w(q.get(), c);
        for (int64_t n = 0; n < 600; n++)
            w.arrive(n, sec + n * 100 * ms, n % 20 == 0);
        w.until(sec + 600 * 100 * ms);
        INFO(steers);
        CHECK(w.of(VIEWING_SPEED).empty() != steers);
        CHECK(w.of(VIEWING_BUDGET).empty() != steers);
        double latency = w.of(VIEWING_SHOWN).back().shown.figures.latency / 1e6;
        CHECK(latency == Approx(steers ? 0.8 : 2).margin(0.25));
        CHECK((video_pipeline_sender_share(w.v) > 0) == steers);
    }
}

TEST_CASE("video_pipeline: live media that was held up is skipped, a file's is not")
{
    for (bool live : {true, false}) {
        INFO(live);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = live_media(live);
        c.steers = live;
        c.start_threshold = c.resume_threshold = 500 * ms;
        c.start = 500 * ms;
        viewer w(q.get(), c);
        // From 20 s on nothing passes for 5 s, then all that was held up arrives at once.
        for (int64_t n = 0; n < 600; n++) {
            usec_t sent = n * 100 * ms;
            bool held_up = sent >= 20 * sec && sent < 25 * sec;
            w.arrive(n, held_up ? 25 * sec : sent, n % 10 == 0);
        }
        w.until(60 * sec);
        CHECK(w.of(VIEWING_STALL_BEGIN).size() == 1);
        usec_t media = 0;
        for (const viewing_event &e : w.of(VIEWING_SKIP))
            media += e.media;
        CHECK(w.of(VIEWING_SKIPPED).size() == static_cast<size_t>(media / (100 * ms)));
        qoe_json r = w.report();
        CHECK(r.causes.by_cause[CAUSE_SKIPPED] == w.of(VIEWING_SKIPPED).size());
        CHECK(w.of(VIEWING_SKIP).empty() != live);
        usec_t latency = w.of(VIEWING_SHOWN).back().shown.figures.latency; // 580 ms before
        CHECK((latency < 2 * sec) == live);
        CHECK((latency > 4 * sec) == !live);
        check_law(r);
    }
}

TEST_CASE("video_pipeline: seeded losses, delays and failures: every frame has one fate, all agree")
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        INFO(seed);
        rng random = rng_seeded(seed);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        bool low = seed % 4 == 0;
        c.latency = low ? LATENCY_LOW : LATENCY_AUTO;
        c.start_threshold = low ? 0 : 400 * ms;
        c.resume_threshold = low ? 0 : 300 * ms;
        c.asks_keys = true;
        viewer w(q.get(), c);
        std::multimap<usec_t, int64_t> path;
        std::map<int64_t, int64_t> seqs;
        usec_t held_up = 0;
        int64_t seq = 0;
        const int64_t frames = 400;
        for (int64_t n = 0; n < frames; n++) {
            double dice = rng_unit(&random);
            if (dice < 0.03)
                continue; // the sender leaves it out
            seqs[n] = seq++;
            if (dice < 0.01 + 0.05)
                continue; // lost
            if (dice > 0.99)
                held_up = sec + static_cast<usec_t>(rng_unit(&random) * 1.5e6);
            usec_t sent = sec + n * 100 * ms;
            path.emplace(sent + held_up + static_cast<usec_t>(rng_unit(&random) * 2e5), n);
            held_up = std::max<usec_t>(0, held_up - 100 * ms);
            if (rng_unit(&random) < 0.02)
                w.failing.insert(n);
            else if (rng_unit(&random) < 0.02)
                w.unseen[n] = FRAME_END_UNSEEN;
        }
        for (auto [at, n] : path) {
            w.seq = seqs[n];
            w.arrive(n, at, n % 20 == 0);
        }
        video_pipeline_end(w.v, w.now);
        w.until(w.now + 10 * sec);
        REQUIRE(video_pipeline_is_ending(w.v));
        video_pipeline_stop(w.v, w.now);

        std::map<int64_t, int> fates;
        bool stalled = false;
        usec_t last = 0, stall = 0;
        for (const viewing_event &e : w.events) {
            bool stalls = e.kind == VIEWING_STALL_BEGIN || e.kind == VIEWING_STALL_END;
            if (!stalls) {
                CHECK(e.at >= last);
                last = e.at;
            }
            if (e.kind == VIEWING_SHOWN)
                fates[e.shown.figures.number]++;
            if (e.kind == VIEWING_NOT_SHOWN)
                fates[e.lost.why.number]++;
            if (stalls) {
                CHECK(stalled == (e.kind == VIEWING_STALL_END));
                stalled = !stalled;
                if (stalled)
                    stall = e.at;
                else
                    CHECK(e.stall.stalled == e.at - stall);
            }
        }
        CHECK(!stalled);
        qoe_json r = w.report();
        check_law(r);
        CHECK(r.causes.expected == fates.size());
        CHECK(r.causes.expected > 300);
        CHECK(r.causes.shown == w.of(VIEWING_SHOWN).size());
        for (auto [number, count] : fates) {
            INFO(number);
            CHECK(count == 1);
        }
        int64_t first = fates.begin()->first, end = fates.rbegin()->first;
        CHECK(static_cast<int64_t>(fates.size()) == end - first + 1); // none without a fate
        CHECK(w.of(VIEWING_TOTALS).back().totals->shown == r.causes.shown);
    }
}

namespace
{

// Pictures of three layers at 10 a second, none of which depends on an earlier picture.
ladder three_layers()
{
    ladder l{};
    l.cumulative = true;
    l.source_fps = {10, 1};
    l.source_width = l.source_height = 64;
    l.size_count = l.level_count = 3;
    for (int i = 0; i < 3; i++) {
        l.sizes[i] = {16 << i, 16 << i, {10, 1}, 1};
        l.levels[i] = {i, 0, 100000 * (i + 1)};
    }
    return l;
}

// One packet a layer, as they arrive in order.
struct layer_viewer : viewer {
    explicit layer_viewer(qoe *figures, video_pipeline_config c)
        : viewer(figures, c, three_layers())
    {
    }

    void layer(int64_t n, int size, int level = 2, bool network_lost = false)
    {
        seq++;
        if (network_lost)
            return;
        rtp_packet p{};
        p.has_adu = true;
        p.adu.frame = static_cast<uint32_t>(n);
        p.adu.size_id = static_cast<uint8_t>(size);
        p.adu.on_lower = size > 0;
        p.adu.key = size == 0;
        p.adu.first = p.adu.last = true;
        p.adu.level = static_cast<uint8_t>(level);
        video_pipeline_packet(v, &p, seq, now);
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = n;
        f->size_id = size;
        f->on_lower = size > 0;
        f->key = size == 0;
        f->depends_on = -1;
        f->level = level;
        f->bytes = 1000;
        f->first_arrived = f->last_arrived = now;
        f->data = static_cast<uint8_t *>(calloc(1, 1));
        video_pipeline_push(v, f, wall_ahead, now);
        drain();
    }
    std::vector<int> valid() const
    {
        std::vector<int> out;
        for (const viewing_event &e : events)
            if (e.kind == VIEWING_LAYERS)
                out.push_back(e.layers.valid);
        return out;
    }
};

} // namespace

TEST_CASE(
    "video_pipeline: of each picture the valid layers are counted, and its loss is told by its "
    "base")
{
    qoe_pointer q = new_qoe();
    video_pipeline_config c = usual();
    c.level = 2;
    c.start_threshold = 150 * ms;
    layer_viewer v(q.get(), c);
    auto at = [&](int64_t n) { v.now = n * 100 * ms; };
    for (int64_t n = 0; n < 8; n++) {
        at(n);
        v.drain();
        for (int size = 0; size < 3; size++) {
            if (n == 1 && size == 2)
                continue; // never sent: picture 1 has two layers
            if (n == 5)
                continue; // never sent at all
            bool lost = (n == 2 && size == 1) || (n == 3 && size == 0);
            v.layer(n, size, 2, lost);
        }
    }
    video_pipeline_end(v.v, v.now);
    for (int64_t n = 8; n < 12; n++) {
        at(n);
        v.drain();
    }
    // What is missing is decided later: pictures 3 and 5.
    CHECK(v.valid() == std::vector<int>{3, 2, 1, 3, 3, 3, 0, 0});
    std::map<int64_t, frame_cause> lost;
    for (const viewing_event &e : v.events)
        if (e.kind == VIEWING_NOT_SHOWN)
            lost[e.lost.why.number] = e.lost.why.cause;
    CHECK(lost == std::map<int64_t, frame_cause>{{3, CAUSE_NETWORK}, {5, CAUSE_SENDER}});
    qoe_json r{};
    qoe_read(q.get(), &r, v.now);
    CHECK(r.layers.pictures == 8);
    CHECK(r.layers.mean == Approx(15.0 / 8));
    CHECK(r.layers.changes == 3);
    CHECK(r.playback.frames_played == 6);
}

TEST_CASE(
    "video_pipeline: a layer joins its picture in any order of arrival, until that is handed out")
{
    qoe_pointer q = new_qoe();
    video_pipeline_config c = usual();
    c.level = 2;
    c.start_threshold = 300 * ms;
    layer_viewer v(q.get(), c);
    for (int64_t n = 0; n < 4; n++) {
        v.now = n * 100 * ms;
        for (int size : {2, 0, 1})
            v.layer(n, size);
    }
    v.now = 600 * ms; // all were handed out
    v.drain();
    v.layer(4, 1); // its base was never sent
    v.layer(3, 2); // a duplicate, late
    CHECK(v.valid() == std::vector<int>{3, 3, 3, 3});
}

TEST_CASE("video_pipeline: without a clock a picture waits for its layers, at most an interval")
{
    qoe_pointer q = new_qoe();
    video_pipeline_config c = usual();
    c.level = 2;
    c.steers = c.live = true;
    c.latency = LATENCY_LOW;
    layer_viewer v(q.get(), c);
    v.layer(0, 0);
    v.layer(0, 1);
    CHECK(v.valid().empty());
    v.now = 10 * ms;
    v.layer(0, 2);
    CHECK(v.valid() == std::vector<int>{3}); // it is whole
    v.now = 100 * ms;
    v.layer(1, 0);
    v.layer(1, 1);
    v.now = 190 * ms;
    v.layer(2, 0);
    CHECK(v.valid() == std::vector<int>{3, 2}); // a later picture is there
    v.now = 289 * ms;
    v.drain();
    CHECK(v.valid() == std::vector<int>{3, 2});
    v.now = 290 * ms;
    v.drain();
    CHECK(v.valid() == std::vector<int>{3, 2, 1});
    v.now = 300 * ms;
    v.layer(3, 0, 0); // the level is size 0 alone
    CHECK(v.valid() == std::vector<int>{3, 2, 1, 1});
}

TEST_CASE("video_pipeline: how long a lost packet is of use")
{
    qoe_pointer q = new_qoe();
    video_pipeline_config c = usual();
    c.start_threshold = 300 * ms;
    viewer w(q.get(), c);
    CHECK(video_pipeline_repair_time(w.v) == 300 * ms); // until the buffer is full
    for (int64_t n = 0; n < 8; n++)
        CHECK(w.arrive(n, 1000 * ms + n * 50 * ms, n == 0) == 0);
    const playout *p = video_pipeline_playout(w.v);
    REQUIRE(playout_mode(p) == PLAYOUT_PLAYING);
    CHECK(video_pipeline_repair_time(w.v) == playout_held(p)); // what is buffered
    CHECK(playout_held(p) > 300 * ms);
    w.until(5 * sec); // it stalls: as much as it waits for
    REQUIRE(playout_mode(p) != PLAYOUT_PLAYING);
    CHECK(video_pipeline_repair_time(w.v) == playout_goal(p));
    CHECK(video_pipeline_target(w.v) == 0); // nothing is steered
    CHECK(video_pipeline_sender_share(w.v) == 0);

    c.latency = LATENCY_LOW;
    qoe_pointer r = new_qoe();
    viewer low(r.get(), c);
    CHECK(video_pipeline_repair_time(low.v) == LIVE_CLOCK_REPAIR);
}

TEST_CASE("video_pipeline: at another scale the pictures' intervals are those of the screen")
{
    for (double pace : {1., 2., 4.}) {
        CAPTURE(pace);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.start_threshold = 300 * ms;
        viewer w(q.get(), c);
        video_pipeline_set_scale(w.v, pace, 500 * ms);
        for (int64_t n = 0; n < 8; n++)
            CHECK(w.arrive(n, 1000 * ms + n * 10 * ms, n == 0) == 0);
        w.until(3 * sec);
        const std::vector<viewing_event> shown = w.of(VIEWING_SHOWN);
        REQUIRE(shown.size() == 8);
        CHECK(shown[0].shown.figures.interval == 0);
        for (size_t i = 1; i < shown.size(); i++)
            CHECK(shown[i].shown.figures.interval == (pace == 1 ? 0 : usec_t(100 * ms / pace)));
    }
}

TEST_CASE("video_pipeline: at another speed of playing all pictures are shown, closer together")
{
    for (double speed : {.5, 1.5, 2.}) {
        CAPTURE(speed);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.start_threshold = 300 * ms;
        viewer w(q.get(), c);
        video_pipeline_set_speed(w.v, speed, 500 * ms);
        CHECK(video_pipeline_speed(w.v) == speed);
        for (int64_t n = 0; n < 16; n++)
            CHECK(w.arrive(n, 1000 * ms + n * 10 * ms, n == 0) == 0);
        w.until(1200 * ms);
        // A seek, at whose end the scale is 1 again, keeps the speed.
        video_pipeline_set_scale(w.v, 1, w.now);
        w.until(6 * sec);
        const std::vector<viewing_event> shown = w.of(VIEWING_SHOWN);
        REQUIRE(shown.size() == 16);
        for (size_t i = 1; i < shown.size(); i++) {
            usec_t apart = shown[i].shown.at - shown[i - 1].shown.at;
            CHECK(std::abs(apart - usec_t(100 * ms / speed)) <= 1 * ms);
        }
    }
}

TEST_CASE("video_pipeline: live media begins anew after a pause, a film goes on; a stop is final")
{
    for (bool live : {false, true}) {
        CAPTURE(live);
        qoe_pointer q = new_qoe();
        video_pipeline_config c = usual();
        c.start_threshold = 300 * ms;
        c.live = live;
        viewer w(q.get(), c);
        for (int64_t n = 0; n < 8; n++)
            CHECK(w.arrive(n, 1000 * ms + n * 50 * ms, n == 0) == 0);
        w.until(1450 * ms);
        const size_t shown = w.of(VIEWING_SHOWN).size();
        CHECK(shown >= 3);
        video_pipeline_pause(w.v, w.now);
        w.until(2 * sec);
        CHECK(w.of(VIEWING_SHOWN).size() == shown);
        video_pipeline_resume(w.v, w.now);
        CHECK(w.of(VIEWING_RESUME).size() == 1);
        CHECK(w.of(VIEWING_REBUFFER).size() == (live ? 1 : 0));
        w.until(4 * sec);
        CHECK((w.of(VIEWING_SHOWN).size() == 8) == !live); // of live media the past is not shown
        CHECK_FALSE(video_pipeline_is_stopped(w.v));
        const size_t totals = w.of(VIEWING_TOTALS).size();
        video_pipeline_stop(w.v, w.now);
        CHECK(video_pipeline_is_stopped(w.v));
        CHECK(w.of(VIEWING_TOTALS).size() == totals + 1);
        video_pipeline_stop(w.v, w.now);
        CHECK(w.of(VIEWING_TOTALS).size() == totals + 1);
        check_law(w.report());
    }
}

namespace
{

struct coded_picture {
    int64_t number;     // in decoding order
    int place;          // in the order of display, which the time stamp tells
    int64_t depends_on; // -1: it is a key frame
};

// What is shown of pictures that arrive one each 40 ms, as NUMBER@PLACE in the order of display.
std::string shown_of(const std::vector<coded_picture> &pictures, bool is_relayed, int interval)
{
    // A camera's numbers are the places in the order of display, as far as those ascend.
    std::map<int64_t, int64_t> passed_on{{-1, -1}}, sent;
    std::map<int64_t, int> places;
    for (const coded_picture &c : pictures)
        places[c.number] = c.place;
    for (auto &[number, place] : places) {
        int64_t last = passed_on.rbegin()->second;
        passed_on[number] = is_relayed ? std::max<int64_t>(place, last + 1) : number;
        sent[passed_on[number]] = number;
    }
    ladder l{};
    l.source_fps = {25, 1};
    if (is_relayed) {
        l.size_count = l.level_count = 1;
        l.sizes[0] = {160, 120, {25, 1}, 1};
        l.levels[0] = {0, 0, 100000};
    }
    clock_sync clock{};
    video_pipeline_config c{};
    c.ladder = &l;
    c.clock = &clock;
    c.level = is_relayed ? 0 : -1;
    c.stamped = true;
    c.follows = !is_relayed;
    c.steers = c.live = is_relayed;
    c.latency = LATENCY_FIXED;
    c.target = 400 * ms;
    c.start_threshold = 400 * ms;
    c.decode_lead = 60 * ms;
    video_pipeline *v = video_pipeline_new(&c);
    std::multimap<usec_t, received_frame *> shown;
    usec_t now = sec;
    auto drain = [&](usec_t until) {
        for (; now < until; now += ms)
            for (video_output out; video_pipeline_poll(v, &out, now);)
                if (out.kind == VIDEO_DECODE && out.show)
                    shown.insert({out.show_at, out.frame});
    };
    usec_t began = now;
    for (size_t i = 0; i < pictures.size(); i++) {
        drain(began + (usec_t)i * 40 * ms);
        auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
        f->number = passed_on[pictures[i].number];
        bool is_sent = passed_on.count(pictures[i].depends_on);
        f->depends_on = is_sent ? passed_on[pictures[i].depends_on] : f->number + 500;
        f->key = f->depends_on < 0;
        f->bytes = 100;
        f->last_arrived = now;
        f->rtp_timestamp = (uint32_t)(pictures[i].place * interval * 90) + 4294960000u;
        REQUIRE(video_pipeline_push(v, f, wall_ahead, now) == 0);
    }
    video_pipeline_end(v, now);
    drain(now + 2 * sec);
    std::string text;
    usec_t first = shown.empty() ? 0 : shown.begin()->first;
    for (auto &[at, f] : shown) {
        text += (text.empty() ? "" : " ") + std::to_string(sent[f->number]) + "@" +
                std::to_string((at - first + ms) / (interval * ms));
        received_frame_free(f);
    }
    video_pipeline_free(v);
    return text;
}

} // namespace

TEST_CASE("video pipeline: numbers in decoding order, and time stamps in the order of display")
{
    const struct {
        const char *what;
        std::vector<coded_picture> pictures;
        const char *shown;
    } table[] = {
        {"no B frames", {{0, 0, -1}, {1, 1, 0}, {2, 2, 1}}, "0@0 1@1 2@2"},
        {"two B frames",
         {{0, 0, -1}, {1, 3, 0}, {2, 1, 1}, {3, 2, 1}, {4, 6, 1}, {5, 4, 4}, {6, 5, 4}},
         "0@0 2@1 3@2 1@3 5@4 6@5 4@6"},
        {"a pyramid",
         {{0, 0, -1}, {1, 4, 0}, {2, 2, 1}, {3, 1, 2}, {4, 3, 2}},
         "0@0 3@1 2@2 4@3 1@4"},
        {"a B frame is missing",
         {{0, 0, -1}, {1, 3, 0}, {2, 1, 1}, {4, 6, 1}, {5, 4, 4}, {6, 5, 4}},
         "0@0 2@1 1@3 5@4 6@5 4@6"},
        {"a P frame is missing, up to the next key frame",
         {{0, 0, -1}, {2, 1, 1}, {3, 2, 1}, {4, 4, -1}, {5, 7, 4}, {6, 5, 5}, {7, 6, 5}},
         "0@0 4@4 6@5 7@6 5@7"},
        {"closed groups",
         {{0, 0, -1}, {1, 3, 0}, {2, 1, 1}, {3, 2, 1}, {4, 4, -1}, {5, 7, 4}, {6, 5, 5}, {7, 6, 5}},
         "0@0 2@1 3@2 1@3 4@4 6@5 7@6 5@7"},
        {"an open group: B frames after its key frame are shown before it",
         {{0, 0, -1}, {1, 3, 0}, {2, 1, 1}, {3, 2, 1}, {4, 6, -1}, {5, 4, 4}, {6, 5, 4}, {7, 7, 4}},
         "0@0 2@1 3@2 1@3 5@4 6@5 4@6 7@7"},
        {"they arrive in another order",
         {{0, 0, -1}, {2, 1, 1}, {1, 3, 0}, {3, 2, 1}, {5, 4, 4}, {4, 6, 1}, {6, 5, 4}},
         "0@0 2@1 3@2 1@3 5@4 6@5 4@6"},
    };
    for (const auto &row : table) {
        INFO(row.what);
        CHECK(shown_of(row.pictures, false, 40) == row.shown); // a third party's
        CHECK(shown_of(row.pictures, false, 50) == row.shown); // slower than it says
        CHECK(shown_of(row.pictures, true, 40) == row.shown);  // passed on
    }
}
