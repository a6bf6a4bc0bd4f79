// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "stream/playout/immediate_clock.h"
#include "stream/playout/live_clock.h"
#include "stream/playout/playout.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
using lines = std::vector<std::string>;

// A source of 10 frames/s, so frame n has media time 100 n ms. Two sizes, two temporal layers each:
// level 0 is size 0 with its even frames, level 1 size 0 whole, level 2 size 1 with its even
// frames, level 3 size 1 whole.
ladder ten_fps()
{
    ladder l{};
    l.source_fps = {10, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 2;
    l.sizes[0] = {320, 180, {10, 1}, 2};
    l.sizes[1] = {640, 360, {10, 1}, 2};
    l.level_count = 4;
    for (int i = 0; i < 4; i++)
        l.levels[i] = {i / 2, i % 2, 100000 * (i + 1)};
    return l;
}

received_frame *new_frame(int64_t number, bool key, int64_t depends_on, int size = 0,
                          size_t bytes = 100)
{
    auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
    f->number = number;
    f->size_id = size;
    f->temporal_id = static_cast<int>(number & 1);
    f->level = 2 * size + 1;
    f->key = key;
    f->depends_on = key ? -1 : depends_on;
    f->bytes = bytes;
    return f;
}

// T0 leans on the T0 before it, T1 on the T0 before it.
received_frame *hierarchical(int64_t n, int size = 0)
{
    return new_frame(n, false, n - (n % 2 ? 1 : 2), size);
}

struct player {
    ladder levels = ten_fps();
    reference_tracker *tracker = nullptr;
    playout *p;
    usec_t now = 0;
    bool reorders = false;
    lines log;
    std::map<int64_t, int> shown; // number -> times
    std::map<int64_t, int> level; // number -> of the frame that was shown
    int64_t last_shown = -1;
    int lost = 0, late = 0, undecodable = 0, skipped = 0, ended = 0;
    usec_t stalled = 0, stall_sum = 0, stall_at = 0;

    explicit player(playout_config c = {}, bool track = false)
    {
        c.ladder = &levels;
        reorders = c.reorders;
        if (reorders) { // level 0 then has every fourth frame
            levels.sizes[0].layers = levels.sizes[1].layers = 3;
            levels.levels[1].temporal_id = levels.levels[3].temporal_id = 2;
        }
        if (!c.decode_lead)
            c.decode_lead = 60 * ms;
        if (track)
            c.tracker = tracker = reference_tracker_new(&levels);
        p = playout_new(&c);
    }
    player(const player &) = delete;
    player &operator=(const player &) = delete;
    ~player()
    {
        playout_free(p);
        reference_tracker_free(tracker);
    }

    void say(const std::string &what)
    {
        log.push_back(std::to_string(now / ms) + ": " + what);
    }

    void act(const playout_action &a)
    {
        std::string n = std::to_string(a.number);
        switch (a.kind) {
        case PLAYOUT_START:
            say("start " + n);
            break;
        case PLAYOUT_DECODE_AND_SHOW:
            REQUIRE(a.show_at >= now);
            if (!a.sound) {
                say("broken " + n);
                undecodable++;
            } else {
                say("show " + n + " @" + std::to_string(a.show_at / ms));
                shown[a.number]++;
                level[a.number] = a.frame->level;
                REQUIRE((reorders || a.number > last_shown));
                last_shown = a.number;
            }
            received_frame_free(a.frame);
            break;
        case PLAYOUT_DECODE_ONLY:
            REQUIRE(a.sound);
            if (a.skipped) {
                say("skip " + n);
                skipped++;
            }
            say("decode " + n);
            received_frame_free(a.frame);
            break;
        case PLAYOUT_LOST:
            say("lost " + n);
            lost++;
            break;
        case PLAYOUT_LATE:
            say("late " + n);
            late++;
            break;
        case PLAYOUT_SKIPPED:
            say("skip " + n);
            skipped++;
            break;
        case PLAYOUT_STALL_BEGIN:
            say("stall since " + std::to_string(a.at / ms));
            stall_at = a.at;
            break;
        case PLAYOUT_STALL_END:
            say("resume after " + std::to_string(a.stalled / ms));
            stalled += a.stalled;
            stall_sum += a.at - stall_at;
            break;
        case PLAYOUT_ENDED_ACTION:
            say("end");
            ended++;
            break;
        case PLAYOUT_NONE:
            break;
        }
    }

    void drain()
    {
        playout_action a;
        while (playout_poll(p, &a, now))
            act(a);
    }

    // To time t in ms, polling whenever playout asks to.
    void until(usec_t t)
    {
        drain();
        while (playout_next_timeout(p) <= t * ms) {
            REQUIRE(playout_next_timeout(p) > now); // else it would spin
            now = playout_next_timeout(p);
            drain();
        }
        now = std::max(now, t * ms);
    }

    int push(usec_t t, received_frame *f)
    {
        until(t);
        int err = playout_push(p, f, now);
        drain();
        return err;
    }

    // Frame n: key every 8, else hierarchical.
    int frame(usec_t t, int64_t n, int size = 0)
    {
        return push(t, n % 8 == 0 ? new_frame(n, true, -1, size) : hierarchical(n, size));
    }

    void end(usec_t t)
    {
        until(t);
        playout_end(p, now);
        drain();
    }

    // What was said since the last call, the first word of each line being the time in ms.
    lines said()
    {
        lines out;
        out.swap(log);
        return out;
    }
};

playout_config buffered(usec_t start = 300, usec_t resume = 200)
{
    playout_config c{};
    c.level = 1;
    c.start_threshold = start * ms;
    c.resume_threshold = resume * ms;
    return c;
}

playout_config live(usec_t start)
{
    playout_config c = buffered(start);
    c.clock = &live_clock;
    return c;
}

playout_config low_latency()
{
    playout_config c = buffered();
    c.clock = &immediate_clock;
    return c;
}

} // namespace

TEST_CASE("playout: a steady stream is shown at its media time")
{
    player v(buffered());
    for (int n = 0; n < 5; n++)
        v.frame(100 * n, n);
    v.end(410);
    v.until(2000);
    // 300 ms are held when frame 2 is there, at 200; due(n) = 200 + 100 n, released 60 ms before.
    CHECK(v.said() == lines{"200: start 0", "200: show 0 @200", "240: show 1 @300",
                            "340: show 2 @400", "440: show 3 @500", "540: show 4 @600",
                            "700: end"});
    CHECK(playout_mode(v.p) == PLAYOUT_ENDED);
}

TEST_CASE("playout: at once, the first frame is shown when it is there, and the clock gives the "
          "next ones time")
{
    playout_config c = buffered(300);
    c.at_once = true;
    player v(c);
    v.frame(10, 4); // no key before it
    CHECK(v.said().empty());
    v.frame(20, 8); // the key
    v.frame(190, 9);
    v.until(190);
    // due(8 + n) = 120 + 100 n.
    CHECK(v.said() == lines{"20: start 8", "20: show 8 @20", "190: show 9 @220"});
}

TEST_CASE("playout: the threshold counts whole intervals and only from the first key frame")
{
    player v(buffered(300));
    v.frame(0, 6); // no key before it
    v.frame(0, 7);
    v.frame(10, 8); // the key
    v.frame(20, 9);
    CHECK(playout_held(v.p) == 200 * ms);
    CHECK(v.said().empty());
    v.frame(30, 10);
    CHECK(v.said() == lines{"30: start 8", "30: show 8 @30"});
    CHECK(playout_held(v.p) == 200 * ms);
    CHECK(playout_held_frames(v.p) == 2);
    CHECK(playout_held_bytes(v.p) == 200);
}

TEST_CASE("playout: jitter within the buffer changes nothing on the screen")
{
    player v(buffered());
    const int arrives[] = {0, 100, 200, 480, 490, 500, 600, 890};
    for (int n = 0; n < 8; n++)
        v.frame(arrives[n], n);
    v.until(960);
    // due(n) = 200 + 100 n. Frame 3 (due 500) comes at 480, after its release time: it leaves at
    // once.
    CHECK(v.said() == lines{"200: start 0", "200: show 0 @200", "240: show 1 @300",
                            "340: show 2 @400", "480: show 3 @500", "540: show 4 @600",
                            "640: show 5 @700", "740: show 6 @800", "890: show 7 @900"});
}

TEST_CASE("playout: one lost, one late")
{
    player v(buffered());
    for (int n : {0, 1, 2, 4, 5, 7, 8, 9})
        v.frame(n * 50, n);
    v.until(470);
    v.said();
    // due(n) = 100 + 100 n: 3 was due at 400, 6 is at 700.
    v.frame(750, 6);
    v.until(2500);
    CHECK(v.said() == lines{"540: show 5 @600", "740: show 7 @800", "750: late 6",
                            "840: show 8 @900", "940: show 9 @1000", "1200: stall since 1100",
                            "2400: lost 3"});
    CHECK(v.lost == 1);
    CHECK(v.late == 1);
}

TEST_CASE("playout: a frame that misses its release but not its due time is shown")
{
    player v(buffered(100));
    v.frame(0, 0);
    v.frame(90, 1);  // due 100, released from 40 on
    v.frame(200, 2); // at its due time exactly
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "90: show 1 @100", "200: show 2 @200"});
}

TEST_CASE("playout: within one interval after its due time a frame is shown without a stall")
{
    player v(buffered(100));
    v.frame(0, 0);
    v.frame(199, 1); // due 100
    v.frame(240, 2); // due 200: the clock did not move
    v.until(250);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "199: show 1 @199", "240: show 2 @240"});
}

TEST_CASE("playout: a burst of losses is passed over frame by frame")
{
    player v(buffered(800));
    for (int n : {0, 1, 5, 6, 7})
        v.frame(0, n);
    v.until(460);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "40: show 1 @100",
                            // 2, 3 and 4 were due at 200, 300 and 400
                            "440: show 5 @500"});
    v.until(2450);
    CHECK(v.said() == lines{"540: show 6 @600", "640: show 7 @700", "900: stall since 800",
                            "2200: lost 2", "2300: lost 3", "2400: lost 4"});
}

TEST_CASE("playout: an empty buffer stalls, and the clock goes on shifted by the stall")
{
    player v(buffered());
    for (int n = 0; n < 3; n++)
        v.frame(0, n);
    v.until(450);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "40: show 1 @100", "140: show 2 @200",
                            "400: stall since 300"});
    CHECK(playout_mode(v.p) == PLAYOUT_REBUFFERING);
    v.frame(500, 3);
    CHECK(v.said().empty()); // 100 ms held, 200 wanted
    v.frame(550, 4);
    v.frame(560, 5);
    v.until(730);
    // due(3) = 550, 250 ms after 300.
    CHECK(v.said() == lines{"550: resume after 250", "550: show 3 @550", "590: show 4 @650",
                            "690: show 5 @750"});
}

TEST_CASE("playout: after a stall it goes on with what is there")
{
    player v(buffered(200, 200));
    v.frame(0, 0);
    v.frame(0, 1);
    v.until(300);
    v.said();
    v.frame(400, 4); // 2 and 3 are missing
    v.frame(410, 5);
    v.until(480);
    CHECK(v.said() == lines{"410: resume after 210", "410: show 4 @410", "450: show 5 @510"});
    v.frame(490, 3);
    v.end(500);
    v.until(1000);
    CHECK(v.said() == lines{"490: late 3", "610: lost 2", "610: end"});
}

TEST_CASE("playout: the end of media")
{
    SECTION("while buffering: what is there is shown")
    {
        player v(buffered(1000));
        v.frame(0, 0);
        v.frame(10, 1);
        v.end(20);
        v.until(1000);
        CHECK(v.said() == lines{"20: start 0", "20: show 0 @20", "60: show 1 @120", "220: end"});
    }
    SECTION("while rebuffering")
    {
        player v(buffered(100, 1000));
        v.frame(0, 0);
        v.frame(300, 1);
        v.end(310);
        v.until(1000);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "200: stall since 100",
                                "310: resume after 210", "310: show 1 @310", "410: end"});
    }
    SECTION("while rebuffering, with nothing held")
    {
        player v(buffered(100, 1000));
        v.frame(0, 0);
        v.until(200);
        v.end(310);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "200: stall since 100",
                                "310: resume after 210", "310: end"});
    }
    SECTION("nothing came, or no key frame")
    {
        player v(buffered());
        v.frame(0, 1);
        v.end(10);
        v.until(100);
        CHECK(v.said() == lines{"10: end"});
        CHECK(v.frame(110, 8) == ERR_RANGE);
    }
}

TEST_CASE("playout: low latency shows a frame the moment it is whole")
{
    player v(low_latency(), true);
    v.frame(0, 1); // no key yet
    v.frame(5, 0);
    v.frame(107, 2);
    v.frame(205, 4); // leans on 2, which is there: does not wait for 3
    v.frame(206, 3);
    v.frame(320, 5);
    CHECK(v.said() == lines{"5: start 0", "5: show 0 @5", "5: show 1 @5", "107: show 2 @107",
                            "205: show 4 @205", "206: late 3", "320: show 5 @320"});
}

TEST_CASE("playout: low latency waits for the frame that all others rest on")
{
    player v(low_latency(), true);
    v.frame(0, 0);
    SECTION("which comes in time")
    {
        v.frame(210, 3); // rests on 2
        v.frame(220, 2);
        v.until(240);
        CHECK(v.said() ==
              lines{"0: start 0", "0: show 0 @0", "220: show 2 @220", "220: show 3 @220"});
    }
    SECTION("which does not; it still serves the frames after")
    {
        v.frame(150, 1);
        v.frame(210, 3);
        v.frame(720, 2);
        v.frame(730, 4);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "150: show 1 @150", "710: broken 3",
                                "720: late 2", "720: decode 2", "730: show 4 @730"});
    }
    SECTION("which is sent again: what it held up is shown at once")
    {
        for (int n : {1, 3, 4, 5})
            v.frame(100 * n, n);
        v.frame(590, 2);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "100: show 1 @100",
                                "590: show 2 @590", "590: show 3 @590", "590: show 4 @590",
                                "590: show 5 @590"});
    }
    SECTION("unless a later frame does without")
    {
        v.frame(150, 1);
        v.frame(210, 3);
        v.push(230, new_frame(4, false, 0)); // repaired: rests on 0
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "150: show 1 @150", "230: broken 3",
                                "230: show 4 @230"});
    }
}

TEST_CASE("playout: low latency stalls when nothing could be shown for three intervals")
{
    player v(low_latency(), true);
    v.frame(0, 0);
    v.frame(100, 1);
    // 2 is expected at 200; 300 ms later it is a stall, dated from 200.
    v.frame(750, 2);
    v.frame(840, 3);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "100: show 1 @100",
                            "500: stall since 200", "750: resume after 550", "750: show 2 @750",
                            "840: show 3 @840"});
    v.end(900);
    v.until(2000);
    CHECK(v.said() == lines{"940: end"});
}

TEST_CASE("playout: low latency does not stall while frames come that cannot be decoded")
{
    player v(low_latency(), true);
    for (int n : {0, 1, 2, 3, 5, 6, 7}) // 4 is missing, which those behind it rest on
        v.frame(100 * n, n);
    v.frame(810, 8); // the next key
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "100: show 1 @100", "200: show 2 @200",
                            "300: show 3 @300", "810: broken 5", "810: broken 6", "810: broken 7",
                            "810: show 8 @810"});
}

TEST_CASE("playout: low latency ends a stall with the next frame that leaves")
{
    player v(low_latency(), true);
    v.frame(0, 0);
    v.frame(600, 3); // rests on 2: broken
    v.frame(800, 8); // the next key
    lines said = v.said();
    CHECK(said == lines{"0: start 0", "0: show 0 @0", "400: stall since 100",
                        "800: resume after 700", "800: broken 3", "800: show 8 @800"});
}

TEST_CASE("playout: the speed of the media clock scales the distance of pictures")
{
    player v(buffered(100));
    for (int n = 0; n < 5; n++)
        v.frame(0, n);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0"});
    playout_set_speed(v.p, 1250000, 0); // 100 ms of media in 80 ms
    CHECK(playout_due(v.p, 4) == 320 * ms);
    v.until(100);
    CHECK(v.said() == lines{"20: show 1 @80", "100: show 2 @160"});
    CHECK(playout_position(v.p, v.now) == 125 * ms);
    playout_set_speed(v.p, 1000000, v.now); // frame 3 is due when 175 ms more have passed
    v.until(400);
    CHECK(v.said() == lines{"215: show 3 @275", "315: show 4 @375"});
}

TEST_CASE("playout: a skip goes on at the newest key frame within it")
{
    for (usec_t most : {599, 600, 1399, 1400, 9000}) {
        INFO("most " << most);
        player v(buffered(100));
        for (int n = 0; n < 19; n++) // key frames 0, 8 and 16
            v.frame(0, n);
        v.until(90); // frame 1 was handed out, 2 is next
        v.said();
        int64_t key = most >= 1400 ? 16 : most >= 600 ? 8 : 2;
        CHECK(playout_skip(v.p, most * ms) == (key - 2) * 100 * ms);
        v.drain();
        CHECK(v.skipped == key - 2);
        v.said();
        v.until(140); // in the place of frame 2
        CHECK(v.said() == lines{"140: show " + std::to_string(key) + " @200"});
        v.until(240);
        CHECK(v.said() == lines{"240: show " + std::to_string(key + 1) + " @300"});
    }
}

TEST_CASE("playout: live media skips to any frame, through those that it depends on")
{
    struct {
        usec_t most; // ms
        int missing; // -1: none
        int64_t to;
        lines said;
    } const table[] = {
        {450, -1, 6, {"90: skip 2", "90: skip 3", "90: skip 4", "90: skip 5"}},
        {99, -1, 2, {}},
        {9000,
         -1,
         11,
         {"90: skip 2", "90: skip 3", "90: skip 4", "90: skip 5", "90: skip 6", "90: skip 7",
          "90: skip 8", "90: skip 9", "90: skip 10"}},
        {9000, 5, 4, {"90: skip 2", "90: skip 3"}}, // may still come
        {9000, 2, 2, {}},
    };
    for (const auto &row : table) {
        INFO("most " << row.most << ", missing " << row.missing);
        player v(live(100));
        for (int n = 0; n < 12; n++) // key frames 0 and 8
            if (n != row.missing)
                v.frame(0, n);
        v.until(90);
        v.said();
        CHECK(playout_skip(v.p, row.most * ms) == (row.to - 2) * 100 * ms);
        v.drain();
        lines said = v.said(), skips;
        std::copy_if(said.begin(), said.end(), std::back_inserter(skips),
                     [](const std::string &l) { return l.find("skip") != std::string::npos; });
        CHECK(skips == row.said);
        if (row.most == 450) // 8 is behind them: all before serve 6
            CHECK(std::count(said.begin(), said.end(), "90: decode 2") == 1);
        if (row.most == 9000 && row.missing < 0) { // 8 needs nothing, 9 and 10 serve 11
            CHECK(std::count(said.begin(), said.end(), "90: decode 7") == 0);
            CHECK(std::count(said.begin(), said.end(), "90: decode 8") == 1);
        }
        if (row.missing < 0) {
            v.until(140);
            CHECK(v.said() == lines{"140: show " + std::to_string(row.to) + " @200"});
        }
    }
}

TEST_CASE("playout: live media keeps its clock through lateness and stalls")
{
    player v(live(100));
    v.frame(0, 0);
    v.frame(10, 1);
    v.said();
    SECTION("a late frame is shown at once, and moves nothing")
    {
        v.frame(90, 2);
        v.frame(330, 3);
        v.frame(340, 4);
        v.until(500);
        CHECK(v.said() ==
              lines{"40: show 1 @100", "140: show 2 @200", "330: show 3 @330", "340: show 4 @400"});
        CHECK(v.late + v.lost == 0);
    }
    SECTION("what a stall held up is shown as it comes")
    {
        v.until(900);
        CHECK(playout_clock(v.p) != nullptr); // the audio goes on, if it comes
        CHECK(playout_position(v.p, 900 * ms) == 900 * ms);
        for (int n = 2; n < 12; n++)
            v.frame(900, n);
        v.until(1200);
        CHECK(v.said() == lines{"40: show 1 @100", "500: stall since 200", "900: resume after 700",
                                "900: show 2 @900", "900: show 3 @900", "900: show 4 @900",
                                "900: show 5 @900", "900: show 6 @900", "900: show 7 @900",
                                "900: show 8 @900", "900: show 9 @900", "940: show 10 @1000",
                                "1040: show 11 @1100"});
    }
    SECTION("it is postponed by its owner")
    {
        v.until(30);
        playout_postpone(v.p, 25 * ms);
        v.frame(30, 2);
        v.until(300);
        CHECK(v.said() == lines{"65: show 1 @125", "165: show 2 @225"});
    }
    SECTION("other media sets it")
    {
        for (int n = 0; n < PLAYOUT_RESYNC; n++)
            v.frame(200, 80000 + n + 5); // 80008 is a key frame
        v.until(300);
        lines said = v.said();
        CHECK(said.back() == "200: show 80008 @200");
        v.frame(310, 80009);
        CHECK(v.said() == lines{"310: show 80009 @310"});
    }
}

TEST_CASE("playout: live media waits for a missing frame as long as nothing is shown later for it")
{
    player v(live(100), true);
    v.frame(0, 0);
    v.said();
    SECTION("the next one can do without: until that one has to be decoded")
    {
        v.frame(20, 2); // 1 is due at 100, 2 at 200
        v.until(184);
        CHECK(v.said().empty());
        v.until(186);
        CHECK(v.said() == lines{"185: show 2 @200"});
    }
    SECTION("and it comes")
    {
        v.frame(20, 2);
        v.frame(150, 1);
        CHECK(v.said() == lines{"150: show 1 @150", "150: show 2 @200"});
    }
    SECTION("the next one cannot: until it is hopeless")
    {
        v.frame(20, 1);
        v.frame(30, 3); // depends on 2
        v.frame(290, 4);
        v.until(500);
        CHECK(v.said() == lines{"40: show 1 @100"});
        v.frame(505, 2); // sent again
        v.until(600);
        CHECK(v.said() == lines{"505: show 2 @505", "505: show 3 @505", "505: show 4 @505"});
    }
}

TEST_CASE("playout: live media of a new size waits for its key frame, which is sent again")
{
    const bool low = GENERATE(false, true);
    CAPTURE(low);
    player v(low ? low_latency() : live(100), true);
    const auto of = [&v](usec_t at, int64_t n, bool key = false) {
        received_frame *f = key ? new_frame(n, true, -1, 1) : hierarchical(n, 1);
        f->last_written_us = 1000;
        v.push(at, f);
    };
    // Its encoder may be behind: then the size before has the key frame's number, too.
    const int before = GENERATE(4, 5);
    CAPTURE(before);
    for (int n = 0; n < before; n++)
        v.frame(100 * n, n);
    of(500, 5); // of the key frame 4, packets are missing
    of(600, 6);
    SECTION("which comes")
    {
        of(690, 4, true);
        of(700, 7);
        v.until(900);
        for (int n = 0; n < 8; n++)
            CHECK(v.shown[n] == 1);
        CHECK(v.lost + v.late + v.undecodable == 0);
        CHECK(v.stalled == 0);
    }
    SECTION("which does not: what cannot be decoded does not hold up the next key frame")
    {
        of(1100, 8, true);
        of(1200, 9);
        v.until(1500);
        CHECK(v.shown.count(5) + v.shown.count(6) == 0);
        CHECK(v.undecodable == 2);
        CHECK(v.shown[8] == 1);
        CHECK(v.shown[9] == 1);
    }
    SECTION("unless the size before goes on")
    {
        v.push(700, new_frame(7, false, 3));
        v.until(900);
        CHECK(v.shown[7] == 1);
    }
}

TEST_CASE("playout: what is missing where it skips is lost or late, not skipped")
{
    player v(buffered(100));
    for (int n : {0, 1, 2, 4, 6, 7, 8, 9})
        v.frame(0, n);
    v.until(50);
    v.said();
    CHECK(playout_skip(v.p, 600 * ms) == 600 * ms); // to 8 in the place of 2
    v.drain();
    CHECK(v.said() == lines{"50: skip 2", "50: skip 4", "50: skip 6", "50: skip 7"});
    v.frame(60, 5);
    CHECK(v.said() ==
          lines{"60: late 5", "60: decode 5"}); // 5 was not decoded, and may be rested on
    v.until(150);
    CHECK(v.said() == lines{"140: show 8 @200"});
    v.end(200);
    v.until(3000);
    CHECK(v.lost == 1);
    CHECK(v.skipped == 4);
}

TEST_CASE("playout: no skip without a key frame, before playing, in a pause, in low latency")
{
    player waits(buffered(500));
    waits.frame(0, 0);
    CHECK(playout_skip(waits.p, 1000 * ms) == 0);
    player v(buffered(100));
    for (int n = 0; n < 8; n++)
        v.frame(0, n);
    CHECK(playout_skip(v.p, 1000 * ms) == 0);
    v.frame(0, 8);
    playout_pause(v.p, v.now);
    CHECK(playout_skip(v.p, 1000 * ms) == 0);
    playout_resume(v.p, v.now);
    CHECK(playout_skip(v.p, 1000 * ms) == 700 * ms);
    player low(low_latency());
    low.frame(0, 0);
    CHECK(playout_skip(low.p, 1000 * ms) == 0);
}

TEST_CASE("playout: another temporal layer expects other frames")
{
    player v(buffered(200));
    for (int n = 0; n < 4; n++)
        v.frame(0, n);
    for (int n : {4, 6, 8}) { // only even frames
        received_frame *f = hierarchical(n);
        f->level = 0;
        v.push(10, f);
    }
    v.end(20);
    v.until(2000);
    CHECK(v.lost == 0);
    CHECK(v.shown.size() == 7);
    CHECK(playout_level_at(v.p, 3) == 1);
    CHECK(playout_level_at(v.p, 4) == 0);
    CHECK(v.said().back() == "1000: end"); // the last picture has its interval, 200 ms
}

TEST_CASE("playout: a switch of size takes effect at its key frame")
{
    player v(buffered(200), true);
    for (int n = 0; n < 3; n++)
        v.frame(0, n);
    v.frame(10, 3);
    received_frame *key = new_frame(4, true, -1, 1); // even frames only
    received_frame *next = new_frame(6, false, 4, 1);
    key->level = next->level = 2;
    v.push(20, key);
    v.push(30, next);
    v.end(40);
    v.until(2000);
    CHECK(v.lost == 0);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "40: show 1 @100", "140: show 2 @200",
                            "240: show 3 @300", "340: show 4 @400", "540: show 6 @600",
                            "800: end"});
    CHECK(playout_level_at(v.p, 3) == 1);
    CHECK(playout_level_at(v.p, 4) == 2);
}

TEST_CASE("playout: a new size behind what was shown is decoded, and shown from there on")
{
    player v(low_latency(), true);
    for (int n = 0; n < 4; n++)
        v.frame(100 * n, n);
    v.said();
    v.push(310, new_frame(2, true, -1, 1));
    v.push(320, new_frame(3, false, 2, 1));
    v.push(330, new_frame(4, false, 2, 1));
    v.frame(340, 5, 0); // of the old size: no more use
    v.push(430, new_frame(5, false, 4, 1));
    CHECK(v.said() ==
          lines{"310: decode 2", "320: decode 3", "330: show 4 @330", "430: show 5 @430"});
    CHECK(playout_level_at(v.p, 5) == 3);
}

TEST_CASE("playout: one number in two sizes is shown once, in the new one")
{
    player v(buffered(300), true);
    for (int n = 0; n < 3; n++)
        v.frame(0, n);
    received_frame *key = new_frame(2, true, -1, 1); // even frames only
    received_frame *next = new_frame(4, false, 2, 1);
    key->level = next->level = 2;
    v.push(10, key);
    v.push(20, next);
    v.end(30);
    v.until(2000);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "40: show 1 @100", "140: show 2 @200",
                            "340: show 4 @400", "600: end"});
    CHECK(v.undecodable == 0);
}

TEST_CASE("playout: a group again at a lower level takes the place of what was cut off")
{
    // Of frames 8 to 15 the large size is held up to 10; the small one is sent later.
    const usec_t comes = GENERATE(200, 780, 950, 1010);
    CAPTURE(comes);
    player v(buffered(300), true);
    const auto of = [&v](usec_t at, int64_t n, int size, uint32_t written) {
        received_frame *f = n == 8 ? new_frame(n, true, -1, size) : hierarchical(n, size);
        f->last_written_us = written;
        v.push(at, f);
    };
    for (int n = 0; n < 8; n++)
        v.frame(0, n, 1);
    for (int n = 8; n < 11; n++)
        of(100, n, 1, 1000);
    CHECK(playout_level_at(v.p, 10) == 3);
    for (int n = 8; n < 16; n++)
        of(comes, n, 0, 2000);
    v.end(comes);
    v.until(3000);
    for (int n = 0; n < 16; n++) {
        CAPTURE(n);
        CHECK(v.shown[n] == 1);
    }
    CHECK(v.lost + v.late + v.undecodable == 0);
    CHECK(v.stalled == 0);
    CHECK(playout_level_at(v.p, 12) == 1);
}

TEST_CASE("playout: a key frame of a size that was left comes too late to bring it back")
{
    player v(low_latency(), true);
    const auto of = [&](usec_t at, int64_t n, int size, bool key, int64_t rests_on) {
        received_frame *f = new_frame(n, key, rests_on, size);
        f->level = size ? 2 : 1;
        v.push(at, f);
    };
    of(0, 0, 1, true, -1);
    // Its next one is under way when the other size begins.
    of(400, 4, 0, true, -1);
    of(450, 2, 1, true, -1);
    of(500, 5, 0, false, 4);
    of(600, 6, 0, false, 5);
    lines said = v.said();
    CHECK(std::count(said.begin(), said.end(), "500: show 5 @500") == 1);
    CHECK(std::count(said.begin(), said.end(), "600: show 6 @600") == 1);
    CHECK(v.undecodable == 0);
}

TEST_CASE("playout: a pause stops the media clock and is no stall")
{
    SECTION("while playing")
    {
        player v(buffered(200));
        for (int n = 0; n < 4; n++)
            v.frame(0, n);
        v.until(120);
        v.said();
        playout_pause(v.p, v.now);
        playout_pause(v.p, v.now);
        CHECK(playout_paused(v.p));
        v.until(5120);
        CHECK(v.said().empty());
        playout_resume(v.p, v.now);
        playout_resume(v.p, v.now);
        v.until(5330);
        // Frame 2 was due at 200, 80 ms after the pause began.
        CHECK(v.said() == lines{"5140: show 2 @5200", "5240: show 3 @5300"});
    }
    SECTION("while rebuffering")
    {
        player v(buffered(100, 200));
        v.frame(0, 0);
        v.until(250);
        playout_pause(v.p, v.now);
        v.frame(300, 1);
        v.frame(300, 2);
        v.until(1250);
        playout_resume(v.p, v.now);
        v.drain();
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "200: stall since 100",
                                "1250: resume after 150", "1250: show 1 @1250"});
    }
    SECTION("in low latency")
    {
        player v(low_latency());
        v.frame(0, 0);
        v.until(50);
        playout_pause(v.p, v.now);
        v.until(9050);
        playout_resume(v.p, v.now);
        v.frame(9150, 1);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "9150: show 1 @9150"});
    }
}

TEST_CASE("playout: duplicates and what was passed are refused")
{
    player v(buffered(200));
    CHECK(v.frame(0, 0) == 0);
    CHECK(v.frame(0, 1) == 0);
    CHECK(v.frame(1, 1) == ERR_RANGE); // held
    CHECK(v.frame(1, 0) == ERR_RANGE); // shown
    CHECK(v.frame(2, 4) == 0);
    v.until(350);                // 2 and 3: 2 was passed over at 200, 3 at 300
    CHECK(v.frame(350, 2) == 0); // late, once
    CHECK(v.frame(351, 2) == ERR_RANGE);
    v.until(2310);
    CHECK(v.frame(2310, 3) == ERR_RANGE); // lost by now
    CHECK(v.late == 1);
    CHECK(v.lost == 1);
    CHECK(v.shown.size() == 3);
}

TEST_CASE("playout: a flush buffers anew")
{
    player v(buffered(200, 200), true);
    for (int n : {0, 1, 3})
        v.frame(0, n);
    v.until(250); // 2 was passed over
    v.said();
    playout_flush(v.p, 16, v.now);
    v.drain();
    CHECK(v.said() == lines{"250: lost 2"});
    CHECK(playout_mode(v.p) == PLAYOUT_BUFFERING);
    CHECK(v.frame(260, 5) == ERR_RANGE);
    v.frame(300, 16);
    v.frame(310, 17);
    CHECK(v.said() == lines{"310: start 16", "310: show 16 @310"});
    v.until(610); // 18 was due at 510
    CHECK(v.said() == lines{"350: show 17 @410", "610: stall since 510"});
    playout_flush(v.p, 0, v.now);
    v.drain();
    CHECK(v.said() == lines{"610: resume after 100"});
}

TEST_CASE("playout: a seek decodes up to the frame asked for and shows it at once")
{
    player v(buffered(300), true);
    for (int n = 0; n < 4; n++)
        v.frame(100 * n, n);
    v.until(310);
    v.said();
    // The server's answer: 16 is the first to come, 21 the one to show. 16 was there before it.
    v.frame(320, 16);
    playout_seek(v.p, 16, 21, true, v.now);
    CHECK(v.frame(330, 4) == ERR_RANGE);
    CHECK(v.frame(340, 18) == 0); // 17 and 19 rest on nothing that 21 needs: they do not come
    CHECK(v.frame(350, 20) == 0);
    CHECK(v.said() == lines{"320: show 16 @320"});
    CHECK(v.frame(360, 21) == 0);
    CHECK(v.said() ==
          lines{"360: start 21", "360: decode 18", "360: decode 20", "360: show 21 @360"});
    v.frame(370, 22);
    v.until(510);
    CHECK(v.said() == lines{"500: show 22 @560"}); // 100 ms behind
}

TEST_CASE("playout: a seek whose frame is lost shows the one behind it")
{
    player v(buffered(300), true);
    playout_seek(v.p, 16, 21, true, 0);
    for (int n : {16, 18, 20})
        v.frame(10, n);
    v.frame(100, 22);
    v.until(300);
    CHECK(v.said() == lines{"10: show 16 @10", "100: start 21", "100: decode 18", "100: decode 20",
                            "240: show 22 @300"});
    CHECK(v.lost == 0);
}

TEST_CASE("playout: while the frames before the place of a seek arrive, their key frame is shown")
{
    player v(buffered());
    playout_seek(v.p, 16, 21, true, 0);
    v.frame(10, 16);
    v.frame(200, 17);
    CHECK(v.said() == lines{"10: show 16 @10"});
    CHECK(playout_mode(v.p) == PLAYOUT_BUFFERING);
    for (int n = 18; n <= 22; n++)
        v.frame(30 * n, n);
    v.until(660);
    // The clock begins with frame 21, which is due 100 ms later.
    CHECK(v.said() == lines{"630: start 21", "630: decode 17", "630: decode 18", "630: decode 19",
                            "630: decode 20", "630: show 21 @630"});
    CHECK(playout_early(v.p, 21, 630 * ms) == 100 * ms);
    CHECK(playout_early(v.p, 21, 800 * ms) == 0);
    CHECK(playout_early(v.p, 22, 630 * ms) == 0);
    playout_seek(v.p, 104, 107, true, v.now); // and once for each seek
    v.frame(700, 104);
    CHECK(v.said() == lines{"700: show 104 @700"});
}

TEST_CASE("playout: a seek in a pause shows one frame")
{
    player v(buffered(300), true);
    for (int n = 0; n < 4; n++)
        v.frame(100 * n, n);
    v.until(310);
    playout_pause(v.p, v.now);
    v.said();
    playout_seek(v.p, 16, 16, true, v.now);
    v.frame(400, 16);
    v.frame(410, 17);
    v.until(900);
    CHECK(v.said() == lines{"400: start 16", "400: show 16 @400"});
    CHECK(playout_paused(v.p));
    playout_resume(v.p, v.now);
    v.until(1100);
    CHECK(v.said() == lines{"1040: show 17 @1100"});
}

TEST_CASE("playout: a pause ends, or the viewer seeks on, before a seek within it has its frame")
{
    player v(buffered(300), true);
    for (int n = 0; n < 4; n++)
        v.frame(100 * n, n);
    v.until(310);
    playout_pause(v.p, v.now);
    v.said();
    CHECK_FALSE(playout_holds(v.p));
    playout_seek(v.p, 16, 16, true, v.now);
    CHECK(playout_holds(v.p));
    SECTION("it ends: the pictures go on")
    {
        playout_resume(v.p, v.now);
        CHECK_FALSE(playout_holds(v.p));
        v.frame(400, 16);
        v.frame(410, 17);
        v.until(550);
        CHECK(v.said() == lines{"400: start 16", "400: show 16 @400", "540: show 17 @600"});
        CHECK_FALSE(playout_paused(v.p));
    }
    SECTION("another seek: one frame of the last place is shown")
    {
        playout_seek(v.p, 32, 32, true, v.now);
        CHECK(playout_holds(v.p));
        v.frame(400, 32);
        v.frame(410, 33);
        v.until(900);
        CHECK(v.said() == lines{"400: start 32", "400: show 32 @400"});
        CHECK(playout_paused(v.p));
        CHECK_FALSE(playout_holds(v.p));
    }
}

TEST_CASE("playout: a stream without a ladder expects every number")
{
    playout_config c = buffered(200);
    player v(c);
    v.levels.level_count = 0;
    v.levels.size_count = 0;
    playout_free(v.p);
    c.ladder = &v.levels;
    c.decode_lead = 60 * ms;
    v.p = playout_new(&c);
    v.frame(0, 0);
    v.frame(0, 1);
    v.frame(0, 3);
    v.end(0);
    v.until(3000);
    CHECK(v.lost == 1);
    CHECK(v.shown.size() == 3);
    CHECK(playout_level_at(v.p, 1) == -1);
}

TEST_CASE("playout: frames that cannot be are refused")
{
    player v(buffered());
    auto with = [](auto change) {
        received_frame *f = hierarchical(9);
        change(*f);
        return f;
    };
    CHECK(v.push(0, with([](auto &f) { f.number = -1; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.number = PLAYOUT_MAX_NUMBER; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.number = INT64_MAX; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.depends_on = -2; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.depends_on = INT64_MIN; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.depends_on = 9; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.key = true; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.size_id = 2; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.size_id = -1; })) == ERR_MALFORMED);
    CHECK(v.push(0, with([](auto &f) { f.temporal_id = -1; })) == ERR_MALFORMED);
    CHECK(playout_held_frames(v.p) == 0);
}

TEST_CASE("playout: one wrong number does not move it, a new run of numbers does")
{
    player v(buffered(200, 200));
    v.frame(0, 0);
    v.frame(0, 1);
    const int64_t far = (int64_t)1 << 35;
    CHECK(v.frame(10, far) == ERR_RANGE);
    CHECK(v.frame(10, far + 1) == ERR_RANGE);
    CHECK(v.frame(10, 2) == 0); // it was nothing
    for (int64_t n = far + 5; n < far + 8; n++)
        CHECK(v.frame(20, n) == ERR_RANGE);
    v.said();
    CHECK(v.frame(20, far + 8) == 0); // the fourth, and a key frame
    CHECK(v.frame(30, far + 9) == 0);
    CHECK(v.said() == lines{"20: stall since 20", "30: resume after 10",
                            "30: show " + std::to_string(far + 8) + " @30"});
}

TEST_CASE("playout: what is held is bounded")
{
    SECTION("in frames")
    {
        player v(buffered(60000));
        v.levels.source_fps = {100, 1};
        v.levels.sizes[0].fps = v.levels.sizes[1].fps = {100, 1};
        int refused = 0;
        for (int n = 0; n < 6000; n++) {
            if (n == 0)
                playout_pause(v.p, 0); // nothing leaves
            refused += v.frame(0, n) == ERR_FULL;
        }
        CHECK(playout_held_frames(v.p) == HELD_FRAMES_MAX);
        CHECK(refused == 6000 - HELD_FRAMES_MAX);
        playout_resume(v.p, v.now);
        v.drain(); // full: it plays although the threshold was not reached
        CHECK(v.said()[0] == "0: start 0");
    }
    SECTION("in bytes; the frame needed last goes")
    {
        player v(buffered(60000));
        playout_pause(v.p, 0);
        const size_t third = HELD_FRAMES_MAX_BYTES / 3;
        v.push(0, new_frame(0, true, -1, 0, third));
        v.push(0, new_frame(2, false, 0, 0, third));
        v.push(0, new_frame(4, false, 2, 0, third));
        CHECK(v.push(0, new_frame(6, false, 4, 0, third)) == ERR_FULL);
        CHECK(v.push(0, new_frame(1, false, 0, 0, third)) == 0);
        CHECK(playout_held_frames(v.p) == 3);
        CHECK(playout_held_bytes(v.p) == 3 * third);
    }
    SECTION("in media time")
    {
        player v(buffered(30000));
        playout_pause(v.p, 0);
        int full = 0;
        for (int n = 0; n < 3000; n++)
            full += v.frame(0, n) == ERR_FULL;
        playout_resume(v.p, 0);
        v.drain();
        for (int n = 3000; n < 3100; n++)
            full += v.frame(0, n) == ERR_FULL;
        CHECK(full > 0);
        CHECK(playout_held(v.p) <= PLAYOUT_MAX_AHEAD + 100 * ms);
        CHECK(v.shown.size() == 1);
    }
}

TEST_CASE("playout: hostile frames in thousands")
{
    for (bool low : {false, true}) {
        player v(low ? low_latency() : buffered(), true);
        rng r = rng_seeded(low ? 3 : 2);
        auto below = [&r](uint64_t n) { return static_cast<int64_t>(rng_below(&r, n)); };
        for (int i = 0; i < 20000; i++) {
            int64_t number = i / 4 + below(30) - 15;
            if (below(50) == 0)
                number = static_cast<int64_t>(rng_u64(&r) >> below(64)); // anything
            bool key = below(10) == 0;
            received_frame *f = new_frame(number, key, -1, static_cast<int>(below(3)));
            if (!key)
                f->depends_on = number - below(6);
            f->level = static_cast<int>(below(6)) - 1;
            if (below(1000) == 0)
                playout_flush(v.p, 0, v.now);
            playout_push(v.p, f, v.now);
            playout_action a;
            int actions = 0;
            while (playout_poll(v.p, &a, v.now)) {
                REQUIRE(++actions < 20000);
                received_frame_free(a.frame);
            }
            REQUIRE(playout_next_timeout(v.p) > v.now);
            v.now += below(50) * ms;
        }
        CHECK(playout_held_frames(v.p) <= HELD_FRAMES_MAX);
    }
}

// 60 s of 10 frames/s with random delay and loss: whatever happens, each frame has one fate.
TEST_CASE("playout: a random network keeps the invariants")
{
    int skipped = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        INFO("seed " << seed);
        rng r = rng_seeded(seed);
        bool low = seed % 2;
        player v(low ? low_latency() : buffered(500, 300), true);
        double loss = 0.02 * static_cast<double>(seed % 5);
        usec_t jitter = static_cast<usec_t>(rng_below(&r, 400)) + 1;
        std::vector<std::pair<usec_t, int64_t>> arrivals;
        const int frames = 600;
        usec_t outage = 0;
        for (int n = 0; n < frames; n++) {
            outage = rng_below(&r, 100) == 0 ? static_cast<usec_t>(rng_below(&r, 2000))
                                             : std::max<usec_t>(0, outage - 100);
            bool edge = n == 0 || n == frames - 1; // so that all frames are expected
            if (edge || rng_unit(&r) >= loss)
                arrivals.push_back(
                    {100 * n + outage +
                         static_cast<usec_t>(rng_below(&r, static_cast<uint64_t>(jitter))),
                     n});
        }
        arrivals[0].first = 0;
        std::sort(arrivals.begin(), arrivals.end());
        for (auto [t, n] : arrivals) {
            v.frame(t, n);
            playout_set_speed(v.p, 950000 + static_cast<int32_t>(rng_below(&r, 100001)), v.now);
            if (n % 40 == 39)
                playout_skip(v.p, 1000 * ms);
        }
        v.end(arrivals.back().first);
        v.until(arrivals.back().first + 10000);

        CHECK(v.ended == 1);
        for (auto [number, times] : v.shown) {
            if (times != 1)
                FAIL("frame " << number << " was shown " << times << " times");
        }
        CHECK(v.stalled == v.stall_sum);
        skipped += v.skipped;
        CHECK(static_cast<int>(v.shown.size()) + v.lost + v.late + v.undecodable + v.skipped ==
              frames);
        CHECK(playout_held_frames(v.p) == 0);
    }
    CHECK(skipped > 0);
}

// RTP time stamps instead of numbers: 25 frames/s told, 20 sent, and P frames ahead of their B
// frames.
TEST_CASE("playout: a foreign stream keeps the time of its time stamps")
{
    ladder none{};
    none.source_fps = {25, 1};
    playout_config c{};
    c.ladder = &none;
    c.start_threshold = 300 * ms;
    c.decode_lead = 60 * ms;
    c.stamped = true;
    playout *p = playout_new(&c);
    const int order[] = {0, 3, 1, 2, 6, 4, 5, 9, 7, 8}; // I P B B P B B P B B, by time of display
    for (int i = 0; i < 10; i++) {
        received_frame *f = new_frame(i, i == 0, i - 1);
        f->rtp_timestamp = (uint32_t)(order[i] * 4500) + 4294960000u; // wraps
        REQUIRE(playout_push(p, f, 1000 * ms) == 0);
    }
    CHECK(playout_held(p) == (8 + 0) * 50 * ms + 40 * ms); // to the one that came last
    lines log;
    playout_action a;
    for (usec_t now = 1000 * ms; now < 1500 * ms; now += 5 * ms)
        while (playout_poll(p, &a, now))
            if (a.kind == PLAYOUT_DECODE_AND_SHOW) {
                log.push_back(std::to_string(now / ms) + ": " + std::to_string(a.number) + " @" +
                              std::to_string(a.show_at / ms));
                received_frame_free(a.frame);
            }
    CHECK(log == lines{"1000: 0 @1000", "1000: 1 @1150", "1000: 2 @1050", "1040: 3 @1100",
                       "1140: 4 @1300", "1140: 5 @1200", "1190: 6 @1250", "1290: 7 @1450",
                       "1290: 8 @1350", "1340: 9 @1400"});
    playout_free(p);
}

namespace
{

// I0 P4 B2 b1 b3 P8 B6 b5 b7, by number: what it rests on, and its slot.
received_frame *b_frame(int64_t n, int level = 1)
{
    const struct {
        int temporal_id, on, reorder;
    } kinds[] = {{0, -4, -3}, {2, 1, 2}, {1, 2, 0}, {2, -1, 1}}, k = kinds[n % 4];
    received_frame *f = new_frame(n, n == 0, n + k.on);
    f->temporal_id = k.temporal_id;
    f->reorder = n == 0 ? 0 : k.reorder;
    f->level = level;
    return f;
}

playout_config reordering(usec_t start = 0)
{
    playout_config c = buffered(start, 0);
    c.reorders = true;
    return c;
}

} // namespace

TEST_CASE("playout: B frames leave in the order of decoding, each to be shown at its own time")
{
    player v(reordering(), true);
    // They come one an interval; two intervals more than otherwise are held at first.
    const int order[] = {0, 4, 2, 1, 3, 8, 6, 5, 7};
    for (int i = 0; i < 9; i++)
        v.push(100 * i - (i > 2 ? 10 : 0), b_frame(order[i]));
    v.end(810);
    v.until(2000);
    // due(n) = 200 + 100 n. What frame 1 needs leaves 60 ms before it is due, or when it comes.
    CHECK(v.said() == lines{"200: start 0", "200: show 0 @200", "290: show 4 @600",
                            "290: show 2 @400", "290: show 1 @300", "440: show 3 @500",
                            "690: show 8 @1000", "690: show 6 @800", "690: show 5 @700",
                            "840: show 7 @900", "1100: end"});
}

TEST_CASE("playout: B frames that are held in time leave as one is due that needs them")
{
    player v(reordering(), true);
    for (int n : {0, 4, 2, 1, 3})
        v.push(0, b_frame(n));
    v.end(0);
    v.until(2000);
    CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "40: show 4 @400", "40: show 2 @200",
                            "40: show 1 @100", "240: show 3 @300", "500: end"});
}

TEST_CASE("playout: what is missing among B frames")
{
    player v(reordering(), true);
    SECTION("a B frame: the others are shown")
    {
        for (int n : {0, 4, 2, 3})
            v.push(0, b_frame(n));
        v.end(0);
        v.until(3000);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "140: show 4 @400",
                                "140: show 2 @200", "240: show 3 @300", "500: lost 1", "500: end"});
    }
    SECTION("a B frame that others rest on: they may wait for it until they are due")
    {
        for (int n : {0, 4, 1, 3})
            v.push(0, b_frame(n));
        v.end(0);
        v.until(3000);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "40: show 4 @400", "100: broken 1",
                                "300: broken 3", "500: lost 2", "500: end"});
    }
    SECTION("a P frame that comes in time")
    {
        for (int n : {0, 2, 1})
            v.push(0, b_frame(n));
        v.push(90, b_frame(4));
        v.push(90, b_frame(3));
        v.end(90);
        v.until(3000);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "90: show 4 @400", "90: show 2 @200",
                                "90: show 1 @100", "240: show 3 @300", "500: end"});
    }
    SECTION("all behind a P frame: its picture is shown, then the buffer is empty")
    {
        for (int n : {0, 4, 2})
            v.push(0, b_frame(n));
        v.until(1000);
        CHECK(v.said() == lines{"0: start 0", "0: show 0 @0", "140: show 4 @400",
                                "140: show 2 @200", "600: stall since 500"});
    }
    CHECK(v.shown[0] == 1);
}

TEST_CASE("playout: duplicates of B frames are refused")
{
    player v(reordering(), true);
    for (int n : {0, 4, 2, 1, 3})
        v.push(0, b_frame(n));
    v.until(50); // 4, 2 and 1 have left
    for (int n : {4, 2, 1, 3, 0})
        CHECK(v.push(50, b_frame(n)) == ERR_RANGE);
}

TEST_CASE("playout: a seek to a B frame shows it at once, and pauses with it")
{
    player v(reordering(), true);
    playout_pause(v.p, v.now);
    playout_seek(v.p, 0, 6, true, v.now);
    for (int n : {0, 4}) // 1 to 3 are of no use
        v.push(10, b_frame(n));
    v.push(20, b_frame(8));
    CHECK(v.said() == lines{"10: show 0 @10"});
    v.push(30, b_frame(6));
    v.push(40, b_frame(7));
    v.until(1000);
    // Frame 6 would be due 100 ms and two intervals later by the clock.
    CHECK(v.said() == lines{"30: start 6", "30: decode 4", "30: show 8 @530", "30: show 6 @30"});
    playout_resume(v.p, v.now);
    v.until(3000);
    CHECK(v.said() == lines{"1340: show 7 @1400", "1700: stall since 1600"});
}

TEST_CASE(
    "playout: a seek to a B frame right behind the key frame that was shown shows that B frame")
{
    player v(reordering(), true);
    playout_pause(v.p, v.now);
    playout_seek(v.p, 0, 2, true, v.now);
    v.push(10, b_frame(0));
    CHECK(v.said() == lines{"10: show 0 @10"});
    for (int n : {4, 2})
        v.push(20, b_frame(n));
    v.until(1000);
    CHECK(v.said() == lines{"20: start 2", "20: show 4 @520", "20: show 2 @20"});
    CHECK(playout_paused(v.p));
}

TEST_CASE("playout: dropped layers of B frames")
{
    player v(reordering());
    for (int n : {0, 4, 8})
        v.push(0, b_frame(n, 0)); // level 0 expects no others
    v.end(0);
    v.until(2000);
    CHECK(v.said() ==
          lines{"0: start 0", "0: show 0 @0", "340: show 4 @400", "740: show 8 @800", "1200: end"});
}

TEST_CASE("playout: at another scale the sender chooses the frames, and the clock waits for them")
{
    player v(buffered());
    playout_set_scale(v.p, 4, 0);
    playout_seek(v.p, 104, 104, true, 0);
    CHECK(playout_is_scaled(v.p));
    auto key = [&](usec_t t, int64_t n) { return v.push(t, new_frame(n, true, -1)); };
    REQUIRE(key(1010, 104) == 0);
    REQUIRE(key(1020, 112) == 0); // 0.8 s of the film: 200 ms
    v.until(1500);                // nothing is held: the next one was due at 1470
    REQUIRE(key(1600, 120) == 0);
    REQUIRE(key(1610, 122) == 0);
    REQUIRE(key(1620, 128) == 0);
    v.end(1900);
    CHECK(v.said() == lines{"1010: start 104", "1010: show 104 @1010", "1210: show 112 @1270",
                            "1600: show 120 @1600", "1610: show 122 @1650", "1740: show 128 @1800",
                            "1900: end"});
    // Normal play again: what is missing is missed.
    playout_set_scale(v.p, 1, v.now);
    playout_seek(v.p, 200, 200, true, v.now);
    REQUIRE(v.frame(2000, 200) == 0);
    REQUIRE(v.frame(2000, 202) == 0);
    v.until(2500);
    CHECK(v.said() == lines{"2000: start 200", "2000: show 200 @2000", "2240: show 202 @2300",
                            "2500: stall since 2400"});
}

namespace
{
// A film's player. Frame n is of packet n, unless `seq` says another one.
struct film : player {
    static playout_config config(bool b_frames)
    {
        playout_config c{};
        c.level = 1;
        c.start_threshold = 200 * ms;
        c.resume_threshold = 200 * ms;
        c.waits = true;
        c.reorders = b_frames;
        return c;
    }
    explicit film(bool b_frames = false) : player(config(b_frames), true) {}
    int give(usec_t t, received_frame *f, int64_t seq = -1)
    {
        f->first_seq = seq < 0 ? received_frame_slot(f) : seq;
        return push(t, f);
    }
    int got(usec_t t, int64_t n, int size = 0)
    {
        return give(t, n % 8 == 0 ? new_frame(n, true, -1, size) : hierarchical(n, size));
    }
    // The frame that a missing packet completes.
    void comes(usec_t t, received_frame *f, int64_t seq = -1)
    {
        until(t);
        f->first_seq = seq < 0 ? received_frame_slot(f) : seq;
        playout_set_missing(p, INT64_MAX);
        CHECK(playout_push(p, f, now) == 0);
        drain();
    }
    void missing(usec_t t, int64_t seq)
    {
        until(t);
        playout_set_missing(p, seq);
        drain();
    }
};
} // namespace

TEST_CASE("playout: a film waits for a frame that is requested, and shows it")
{
    film w;
    for (int n = 0; n < 10; n++) {
        if (n == 3)
            w.missing(0, 3);
        else
            w.got(0, n);
    }
    w.until(2000);
    // The frame is due at 300; the frames behind it are held, and none is passed over.
    CHECK(w.log == lines{"0: start 0", "0: show 0 @0", "40: show 1 @100", "140: show 2 @200",
                         "400: stall since 300"});
    w.log.clear();
    w.comes(2000, hierarchical(3));
    w.until(2200);
    CHECK(w.log == lines{"2000: resume after 1700", "2000: show 3 @2000", "2040: show 4 @2100",
                         "2140: show 5 @2200"});
    playout_end(w.p, w.now);
    w.until(4000);
    CHECK(w.shown.size() == 10);
    CHECK(w.lost + w.late + w.undecodable == 0);
    CHECK(w.ended == 1);
}

TEST_CASE("playout: a film that waits gives up what does not come, and what was never sent")
{
    SECTION("a requested packet is given up")
    {
        film w;
        for (int n = 0; n < 10; n++) {
            if (n == 3)
                w.missing(0, 3);
            else
                w.got(0, n);
        }
        w.missing(15000, INT64_MAX);
        w.until(16000);
        CHECK(w.shown.count(3) == 0);
        CHECK(w.shown.count(4) == 1);
        CHECK(w.log[5] == "15000: resume after 14700");
    }
    SECTION("the sender left a frame out: no packet is missing")
    {
        film w;
        for (int n = 0; n < 10; n++)
            if (n != 3)
                w.give(0, new_frame(n, true, -1), n - (n > 3));
        w.until(900);
        CHECK(w.stalled == 0);
        CHECK(w.shown.count(3) == 0);
        CHECK(w.shown.count(9) == 1);
    }
    SECTION("a packet of a later frame is missing, not of the one that was left out")
    {
        film w;
        for (int n = 0; n < 30; n++)
            if (n != 3 && n != 28)
                w.give(0, new_frame(n, true, -1), n - (n > 3));
        w.missing(0, 27);
        w.until(1000);
        CHECK(w.stalled == 0);
        CHECK(w.shown.count(4) == 1);
    }
    SECTION("the stream ended: nothing comes any more")
    {
        film w;
        for (int n = 0; n < 10; n++)
            if (n != 3)
                w.got(0, n);
        w.missing(0, 3);
        playout_end(w.p, w.now);
        w.until(2000);
        CHECK(w.lost == 1);
        CHECK(w.ended == 1);
    }
    SECTION("nothing is requested: as without waiting")
    {
        film w;
        for (int n = 0; n < 10; n++)
            if (n != 3)
                w.got(0, n);
        w.until(1000);
        CHECK(w.stalled == 0);
        CHECK(w.shown.count(4) == 1);
    }
}

TEST_CASE("playout: a film begins with its first frame, whichever arrives first")
{
    film w;
    w.missing(0, 0); // the first key frame's packet
    for (int n = 1; n < 20; n++)
        w.got(0, n);
    w.until(500);
    CHECK(w.log.empty()); // not at key frame 8
    SECTION("it comes")
    {
        w.comes(500, new_frame(0, true, -1));
        w.until(600);
        CHECK(w.log[0] == "500: start 0");
        w.until(2600);
        CHECK(w.shown.size() == 20);
    }
    SECTION("it is given up")
    {
        w.missing(15000, INT64_MAX);
        CHECK(w.log[0] == "15000: start 8");
    }
}

TEST_CASE("playout: a film's seek waits for the key frame of its place, too")
{
    film w;
    for (int n = 0; n < 8; n++)
        w.got(0, n);
    w.until(300);
    w.log.clear();
    playout_seek(w.p, 16, 19, true, w.now);
    w.missing(300, 100);
    w.give(300, hierarchical(17), 101);
    for (int n = 18; n < 30; n++)
        w.give(300, n % 8 ? hierarchical(n) : new_frame(n, true, -1), 84 + n);
    w.until(400);
    CHECK(w.log.empty()); // neither 19, which cannot be decoded, nor key frame 24
    w.comes(400, new_frame(16, true, -1), 100);
    w.until(500);
    CHECK(w.undecodable == 0);
    CHECK(w.shown.count(19) == 1);
}

TEST_CASE("playout: among B frames a film waits for what the held frames depend on")
{
    // Decoded as 0, 4, 2, 1, 3, 8, 6, 5, 7: the slot of a frame is its place in that order.
    struct row {
        int number, slot, depends;
    };
    const std::vector<row> order = {{0, 0, -1}, {4, 1, 0}, {2, 2, 4}, {1, 3, 2}, {3, 4, 2},
                                    {8, 5, 4},  {6, 6, 8}, {5, 7, 6}, {7, 8, 6}};
    for (int lost : {1, 2, 3, 4, 6}) { // by place
        INFO("the frame of slot " << lost << " comes late");
        film w(true);
        auto make = [&order](int i) {
            const row &r = order[static_cast<size_t>(i)];
            received_frame *f = new_frame(r.number, r.depends < 0, r.depends);
            f->reorder = r.slot - r.number;
            f->temporal_id = r.number % 4 == 0 ? 0 : r.number % 2 ? 2 : 1;
            return f;
        };
        for (int i = 0; i < 9; i++)
            if (i != lost)
                w.give(0, make(i));
        w.missing(0, lost);
        w.until(3000);
        CHECK(w.undecodable == 0);
        CHECK(w.lost == 0);
        w.comes(3000, make(lost));
        playout_end(w.p, w.now);
        w.until(6000);
        CHECK(w.shown.size() == 9);
        CHECK(w.lost + w.late + w.undecodable == 0);
        CHECK(w.stalled > 0);
    }
}

TEST_CASE("playout: among B frames a film waits for a frame that the path has not brought yet")
{
    film w(true);
    auto make = [](int number, int slot, int depends) {
        received_frame *f = new_frame(number, depends < 0, depends);
        f->reorder = slot - number;
        f->temporal_id = number % 4 == 0 ? 0 : number % 2 ? 2 : 1;
        return f;
    };
    w.give(0, make(0, 0, -1));
    w.give(0, make(4, 1, 0)); // 2, 1 and 3 follow on a slow path, over TCP
    w.until(2000);
    CHECK(w.lost == 0);
    w.give(2000, make(2, 2, 4));
    w.give(2000, make(1, 3, 2));
    w.give(2000, make(3, 4, 2));
    playout_end(w.p, w.now);
    w.until(4000);
    CHECK(w.shown.size() == 5);
    CHECK(w.lost + w.late + w.undecodable == 0);
}

TEST_CASE("playout: a film's new size waits for its key frame")
{
    film w;
    for (int n = 0; n < 16; n++)
        if (n != 8)
            w.give(0, n < 8 ? hierarchical(n) : hierarchical(n, 1));
    w.give(0, new_frame(0, true, -1), 0);
    w.missing(0, 8); // the key frame of size 1
    w.until(3000);
    CHECK(w.shown.count(7) == 1);
    CHECK(w.lost == 0);
    w.comes(3000, new_frame(8, true, -1, 1));
    playout_end(w.p, w.now);
    w.until(6000);
    CHECK(w.shown.size() == 16);
    CHECK(w.lost + w.late + w.undecodable == 0);
}

TEST_CASE("playout: at another scale a film waits for what it requested, and its clock with it")
{
    film w;
    playout_set_scale(w.p, 2, 0);
    for (int n : {0, 8, 24})
        w.give(0, new_frame(n, true, -1), n / 8);
    w.missing(0, 2); // of frame 16
    w.until(5000);
    CHECK(w.shown.count(8) == 1);
    CHECK(w.shown.count(24) == 0);
    w.comes(5000, new_frame(16, true, -1), 2);
    w.until(7000);
    CHECK(w.shown.size() == 4);
}

namespace
{

// A film's server and a path on which nothing is lost, but which stops at random instants. What
// waits is sent again from a group on where a viewer's policy may want that: at a better level from
// the second group behind the position on (an exchange), or at any the last group that was begun.
struct film_server {
    static constexpr int64_t frames = 400, ahead = 120;
    player &v;
    rng r;
    int64_t next = 0, copied = 0; // `copied`: so far there were older copies
    int level;
    int best[frames / 8 + 1] = {}; // level of each group, so far
    bool sent[2][frames] = {};     // of each size
    usec_t open_at = 0;
    int64_t bytes = 0;
    int exchanges = 0, outages = 0;

    film_server(player &viewer, uint64_t seed) : v(viewer), r(rng_seeded(seed))
    {
        level = static_cast<int>(rng_below(&r, 4));
    }
    int64_t position() const
    {
        return v.last_shown + 1;
    }
    void decide(usec_t now)
    {
        if (now >= open_at && rng_below(&r, 40) == 0) {
            open_at = now + static_cast<usec_t>(rng_below(&r, 9000));
            outages++;
        }
        int64_t first = (position() / 8 + 2) * 8, last = (next - 1) / 8 * 8;
        if (next >= frames || next < copied || first > last || rng_below(&r, 8) != 0)
            return;
        uint64_t groups = static_cast<uint64_t>(last - first) / 8 + 1;
        int64_t from = first + 8 * static_cast<int64_t>(rng_below(&r, groups));
        int wanted = static_cast<int>(rng_below(&r, 4));
        if (from < last && wanted <= *std::max_element(best + from / 8, best + last / 8 + 1))
            return;
        copied = next;
        next = from;
        level = wanted;
        exchanges++;
    }
    void send(usec_t now)
    {
        bytes = now < open_at ? 0 : std::min<int64_t>(bytes + 1000, 2000); // of each 50 ms
        for (; next < std::min(frames, position() + ahead) && bytes > 0; next++) {
            if (!level_has_frame(&v.levels, level, next))
                continue;
            received_frame *f = next % 8 == 0 ? new_frame(next, true, -1, level / 2)
                                              : hierarchical(next, level / 2);
            f->level = level;
            sent[level / 2][next] = true;
            best[next / 8] = std::max(best[next / 8], level);
            f->bytes = 100u * static_cast<unsigned>(level + 1);
            f->last_written_us = static_cast<uint32_t>(now * ms - bytes);
            bytes -= static_cast<int64_t>(f->bytes);
            v.push(now, f);
        }
    }
};

} // namespace

TEST_CASE("playout: groups of a film come again, the path stops at random: no picture is missing")
{
    int exchanges = 0, outages = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        INFO("seed " << seed);
        playout_config c = buffered(300, 300);
        c.waits = true;
        player v(c, true);
        film_server s(v, seed);
        for (usec_t now = 0; !v.ended && now < 400000; now += 50) {
            s.send(now);
            if (now % 100 == 0)
                s.decide(now);
            if (s.next == s.frames)
                v.end(now);
            v.until(now);
        }
        REQUIRE(v.ended == 1);
        REQUIRE(v.lost + v.late + v.undecodable + v.skipped == 0);
        for (int64_t n = 0; n < s.frames; n++) {
            INFO("frame " << n);
            bool in_full = n % 2 == 1 && n + 1 < s.frames && v.level[n - 1] % 2 == 1 &&
                           v.level[n - 1] == v.level[n + 1] && s.sent[v.level[n - 1] / 2][n];
            if (n % 2 == 0 || in_full)
                REQUIRE(v.shown[n] == 1);
        }
        exchanges += s.exchanges;
        outages += s.outages;
    }
    CHECK(exchanges > 2000);
    CHECK(outages > 2000);
}
