// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/base/err.h"
#include "stream/abr/abr_viewer.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;
const int kbps[] = {100, 400, 1600};
const int FPS = 30;
const double FAST = 4; // half a group in a round trip and two samples
enum { GROUP = 60, PACKET = 1200 };

ladder ladder_of(int fps = FPS)
{
    ladder l{};
    l.source_fps = {fps, 1};
    l.source_width = 640;
    l.source_height = 360;
    l.size_count = 1;
    l.sizes[0] = {640, 360, {fps, 1}, 1};
    for (int i = 0; i < 3; i++)
        l.levels[l.level_count++] = {0, 0, kbps[i] * 1000};
    return l;
}

film_table *table_of(int64_t groups, double factor = 1, bool quality = false)
{
    const film_shape shape = {3, groups, GROUP, GROUP, {FPS, 1}, quality};
    film_table *t = nullptr;
    REQUIRE(film_table_new(&shape, &t) == 0);
    for (int64_t g = 0; g < groups; g++)
        for (int l = 0; l < 3; l++)
            REQUIRE(film_table_set(t, g, l, (uint64_t)(factor * kbps[l] * 250),
                                   quality ? 100 + 30 * l : 0) == 0);
    return t;
}

// A film of groups of 2 s, its server, and a path of one queue: the server gives a frame when none
// waits, and no faster than its speed; a level that it was asked for begins with the next group.
struct world {
    ladder shape = ladder_of();
    abr_viewer *viewer = nullptr;
    usec_t now = 0;
    usec_t delay = 25 * ms; // each way
    std::function<double(usec_t)> rate_bps = [](usec_t) { return 4e6; };
    bool held_back = true; // else what the path does not carry is lost
    int64_t gate = -1;     // the server awaits the level of this number, until `gate_until`
    usec_t gate_until = 0;
    usec_t gate_wait = sec; // how long it did
    int awaited = 0;        // actions that say so
    bool sends_again = true;
    std::vector<abr_action> agains;
    // The server.
    int64_t groups;
    int64_t frame = 0; // of the film, the next one
    int64_t first_number = 0;
    int64_t from = 0; // number of the position
    int level = -1, next_level = -1;
    double speed = 1;
    double given = 0; // s of media that the speed allows
    int64_t sequence = 0;
    struct order {
        usec_t at;
        int level; // -1: only the speed
        double speed;
        bool awaited;
        int64_t again;
    };
    std::deque<order> orders;
    std::deque<abr_packet> queue; // at the bottleneck
    double credit = 0;            // bytes
    std::deque<std::pair<usec_t, abr_packet>> way;
    // The viewer's buffer.
    int64_t shown = -1;   // number that is shown next; -1: not begun
    int64_t arrived = -1; // the newest number
    double position = 0;
    double pace = 1; // of playing
    bool playing = false, stalled = false;
    usec_t stall_time = 0, first_picture = 0;
    size_t frame_bytes = 1000;
    std::vector<int> levels; // of the groups as they arrived
    std::vector<abr_action> actions;
    usec_t longest = 0; // buffer

    explicit world(int64_t count = 60, const char *policy = "auto", usec_t target = 30 * sec,
                   double max_speed = ABR_VIEWER_FAST, int level_count = 3)
        : groups(count), levels((size_t)count, -1)
    {
        shape.level_count = level_count;
        const abr_viewer_config config = {policy, &shape, count * GROUP, GROUP, target, max_speed};
        REQUIRE(abr_viewer_new(&config, &viewer) == 0);
        abr_viewer_set_rtt(viewer, 2 * delay);
    }
    ~world()
    {
        abr_viewer_free(viewer);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    abr_buffer buffer() const
    {
        abr_buffer b{};
        b.number = shown;
        int64_t frames = arrived + 1 - (shown < 0 ? from : shown);
        b.media = frames > 0 ? frames * sec / FPS : 0;
        b.frames = (int)(frames > 0 ? frames : 0);
        b.bytes = (size_t)b.frames * frame_bytes;
        b.playing = playing;
        return b;
    }
    void run()
    {
        abr_action a;
        const abr_buffer b = buffer();
        if (!abr_viewer_run(viewer, &b, &a, now))
            return;
        actions.push_back(a);
        awaited += a.awaited;
        orders.push_back({now + delay, a.level, a.speed, a.awaited, a.again});
        if (a.again >= 0)
            agains.push_back(a);
    }
    // The server sends the first group at once, and awaits the level of the next one.
    void await()
    {
        run();
        abr_viewer_place(viewer, 0, 0, false, now);
        REQUIRE(abr_viewer_awaits(viewer));
        abr_viewer_await(viewer, GROUP);
        gate = GROUP;
    }
    void serve()
    {
        while (!orders.empty() && orders.front().at <= now) {
            if (orders.front().awaited)
                gate = -1;
            if (orders.front().again >= 0 && sends_again)
                frame = orders.front().again - first_number;
            if (orders.front().again < 0 || sends_again)
                next_level = orders.front().level;
            if (speed != orders.front().speed)
                given = 0;
            speed = orders.front().speed;
            orders.pop_front();
        }
        if (next_level < 0)
            return;
        if (gate >= 0 && frame == gate && !gate_until)
            gate_until = now + gate_wait;
        if (gate >= 0 && frame == gate && now < gate_until)
            return;
        if (frame == gate)
            gate = -1;
        given = gate > frame ? 100 : given + speed / 100; // steps of 10 ms
        while (given > 0 && frame != gate && frame < groups * GROUP &&
               (!held_back || queue.size() < 20)) {
            if (frame % GROUP == 0)
                level = next_level;
            double group = kbps[level] * 250.0;
            auto bytes = (size_t)(frame % GROUP ? group * .85 / (GROUP - 1) : group * .15);
            for (size_t at = 0; at < bytes; at += PACKET)
                queue.push_back({first_number + frame, first_number + frame, sequence++, level,
                                 std::min(bytes - at, (size_t)PACKET), at + PACKET >= bytes});
            frame++;
            given -= 1.0 / FPS;
        }
        given = std::min(given, .0);
        while (!held_back && queue.size() > 40) // the tail is dropped
            queue.pop_back();
    }
    void carry()
    {
        credit += rate_bps(now) / 8 / 100;
        while (!queue.empty() && credit >= (double)queue.front().bytes) {
            credit -= (double)queue.front().bytes;
            way.emplace_back(now + delay, queue.front());
            queue.pop_front();
        }
        if (queue.empty())
            credit = 0;
        while (!way.empty() && way.front().first <= now) {
            const abr_packet p = way.front().second;
            way.pop_front();
            if (p.number > arrived)
                arrived = p.number - 1; // whole when the next one begins
            int64_t group = (p.number - first_number) / GROUP;
            if (group >= 0 && group < groups)
                levels[(size_t)group] = p.level;
            if (p.number - first_number == groups * GROUP - 1)
                arrived = p.number;
            if (abr_viewer_packet(viewer, &p, now))
                run();
        }
    }
    void play()
    {
        const abr_buffer b = buffer();
        longest = std::max(longest, b.media);
        bool whole = arrived == first_number + groups * GROUP - 1;
        if (!playing && shown < 0 && b.media >= sec / 4) {
            playing = true;
            first_picture = now;
            shown = first_number;
            position = 0;
        }
        if (stalled && (whole || b.media >= abr_viewer_resume(viewer, &b, true, now)))
            stalled = !(playing = true);
        if (!playing) {
            stall_time += stalled ? 10 * ms : 0;
            return;
        }
        position += pace * FPS / 100.0;
        while (position >= 1 && shown <= arrived) {
            shown++;
            position -= 1;
        }
        if (shown > arrived && !whole) {
            stalled = true;
            playing = false;
        }
    }
    void pass(usec_t duration)
    {
        for (usec_t end = now + duration; now < end; now += 10 * ms) {
            if (now % ABR_VIEWER_SAMPLE == 0)
                run();
            serve();
            carry();
            play();
        }
    }
    double share(int l) const
    {
        double count = 0, all = 0; // that arrived
        for (int k : levels) {
            count += k == l;
            all += k >= 0;
        }
        return count / all;
    }
    std::string text() const
    {
        char out[ABR_VIEWER_TEXT];
        abr_viewer_text(viewer, out);
        return out;
    }
    double estimate() const
    {
        return actions.back().decision.estimate_bps;
    }
};
} // namespace

TEST_CASE("abr_viewer: the first request is for the lowest level, as fast as it comes")
{
    world w;
    CHECK(w.text().empty());
    w.run();
    REQUIRE(w.actions.size() == 1);
    const abr_action &a = w.actions[0];
    CHECK(a.level == 0);
    CHECK(a.speed == 6); // 1.5 times the next level's rate
    CHECK((a.changes_level && a.changes_speed && a.decided));
    CHECK(a.decision.reason == ABR_START);
    CHECK(w.text() ==
          "buffer 0.0 of 30 s, path not known, level 0 of 2: nothing is known of the path yet");
    w.run(); // nothing happened since
    CHECK(w.actions.size() == 1);
}

TEST_CASE("abr_viewer: a fast path carries the top level after a second, and fills the buffer")
{
    world w;
    w.pass(60 * sec);
    CHECK(w.first_picture <= 200 * ms);
    CHECK(w.stall_time == 0);
    CHECK(w.levels[5] == 2);
    CHECK(w.share(2) > .9);
    CHECK(w.longest >= 30 * sec);
    CHECK(w.longest <= 32 * sec);
    CHECK(w.actions.back().level == 2);
    // From 10 s of buffer on at four times the media's pace, at the target at once.
    std::vector<double> speeds;
    for (const abr_action &a : w.actions)
        if (speeds.empty() || a.speed != speeds.back())
            speeds.push_back(a.speed);
    REQUIRE(speeds.size() >= 3);
    CHECK(speeds.front() == 6);
    CHECK(std::find(speeds.begin(), speeds.end(), 4) != speeds.end());
    CHECK(speeds.back() == 1);
}

TEST_CASE("abr_viewer: a film that is played at another pace")
{
    struct {
        double pace, bps;
        int level;     // the highest that the path carries at this pace
        double seldom; // share of higher ones that it may try
    } const rows[] = {
        {2, 8e6, 2, 0},      // 3.2 Mbit/s
        {2, 2e6, 1, .45},    // the top level takes 3.2 Mbit/s
        {.5, 1e6, 2, 0},     // .8
        {1.5, 700e3, 1, .2}, // .6
    };
    for (const auto &row : rows) {
        CAPTURE(row.pace, row.bps);
        world w;
        w.rate_bps = [&row](usec_t) { return row.bps; };
        w.pace = row.pace;
        abr_viewer_set_pace(w.viewer, row.pace);
        w.pass((usec_t)(100 * sec / row.pace));
        CHECK(w.stall_time == 0);
        CHECK(w.share(row.level) > .5);
        if (row.level < 2)
            CHECK(w.share(2) <= row.seldom);
        // 30 s of playing are buffered where the path has room.
        if (row.level == 2 && row.pace != .5)
            CHECK(w.longest == Approx(30 * sec * row.pace).margin(3 * sec));
    }
    SECTION("which the viewer changes: what is buffered lasts longer or shorter, the speed follows")
    {
        world w;
        w.pass(40 * sec);
        REQUIRE(w.actions.back().speed == 1); // full, at the top level
        w.pace = 2;
        abr_viewer_set_pace(w.viewer, 2);
        w.pass(sec / 2);
        CHECK(w.actions.back().speed >= 2);
        CHECK(w.actions.back().buffered == Approx(15 * sec).margin(sec));
        w.pass(25 * sec);
        CHECK(w.actions.back().speed >= 2);
        CHECK(w.stall_time == 0);
        CHECK(w.share(2) > .9);
    }
}

TEST_CASE("abr_viewer: a server that awaits the level of the second group")
{
    const struct {
        double bps;
        int level; // of the second group
    } rows[] = {{150e3, 0}, {300e3, 0}, {700e3, 1}, {4e6, 2}, {20e6, 2}};
    for (const auto &row : rows) {
        CAPTURE(row.bps);
        world w;
        w.rate_bps = [&row](usec_t) { return row.bps; };
        w.await();
        w.pass(8 * sec);
        CHECK(w.levels[0] == 0);
        CHECK(w.levels[1] == row.level);
        CHECK(w.stall_time == 0);
        CHECK(w.awaited == 1); // even if the level is the same
        CHECK(w.first_picture < 500 * ms);
        // It is decided when the first group has arrived: nothing is decided with less.
        REQUIRE(w.actions.size() > 1);
        for (const abr_action &a : w.actions)
            if (a.awaited)
                CHECK(a.decision.group == 1);
    }
    SECTION("with audio, which arrives between the packets")
    {
        world w;
        w.rate_bps = [](usec_t) { return 2e6; }; // beside as much audio as video
        w.await();
        for (int i = 0; i < 100; i++) {
            w.pass(10 * ms);
            if (w.gate >= 0)
                abr_viewer_beside(w.viewer, 1000, w.now);
        }
        CHECK(w.awaited == 1);
        CHECK(w.levels[1] > 0);
    }
    SECTION("the viewer chooses the level meanwhile, pauses, or seeks: nothing is awaited any more")
    {
        const int which = GENERATE(0, 1, 2);
        CAPTURE(which);
        world w;
        w.await();
        w.pass(30 * ms);
        if (which == 0)
            abr_viewer_choose(w.viewer, 1);
        else if (which == 1)
            abr_viewer_pause(w.viewer, true);
        else
            abr_viewer_place(w.viewer, 1200, 600, true, w.now);
        w.pass(sec);
        CHECK(w.awaited == 0);
    }
}

TEST_CASE("abr_viewer: a group that the path does not carry is cut off, and sent again")
{
    world w;
    // A bucket of 250 kB at line rate: it lets what tells the path's rate pass, and more.
    w.rate_bps = [](usec_t at) { return at < 280 * ms ? 8e6 : 500e3; };
    SECTION("so that nothing stalls")
    {
        w.await();
        w.pass(300 * ms);
        CHECK(w.level == 2); // the burst promised it
        w.pass(20 * sec);
        CHECK(w.stall_time == 0);
        REQUIRE(!w.agains.empty());
        CHECK(w.agains.size() <= 2); // the group after that one, at most
        CHECK(w.agains[0].again == GROUP);
        CHECK(w.agains[0].level < 2);
        CHECK(w.agains[0].decided);
        CHECK(w.agains[0].decision.reason == ABR_STALL);
        CHECK(w.levels[1] == w.agains[0].level);
        CHECK(w.actions.back().decision.group > 4);
    }
    SECTION("a server that does not await the level does not send again")
    {
        w.pass(20 * sec);
        CHECK(w.agains.empty());
    }
    SECTION("a request without an effect is the last one")
    {
        w.sends_again = false;
        w.await();
        w.pass(40 * sec);
        CHECK(w.agains.size() == 1);
        CHECK(w.stall_time > 0);
        CHECK(w.actions.back().decision.group > 8); // it goes on deciding
    }
    SECTION("not at a level that the viewer chose")
    {
        w.await();
        w.pass(300 * ms);
        abr_viewer_choose(w.viewer, 2);
        w.pass(10 * sec);
        CHECK(w.agains.empty());
    }
}

TEST_CASE("abr_viewer: when the path recovers, what is buffered comes again at a better level")
{
    world w;
    w.rate_bps = [](usec_t at) { return at < 45 * sec ? 520e3 : 8e6; };
    const bool sends_again = GENERATE(true, false);
    CAPTURE(sends_again);
    if (sends_again)
        w.await();
    w.pass(45 * sec);
    const int64_t shown = w.shown / GROUP, newest = w.arrived / GROUP;
    const std::vector<int> before = w.levels;
    REQUIRE(newest - shown >= 5); // that many groups wait
    w.pass(60 * sec);
    CHECK(w.stall_time == 0);
    if (!sends_again) {
        CHECK(w.agains.empty());
        return;
    }
    int64_t wasted = 0, better = 0;
    for (const abr_action &a : w.agains) {
        CHECK(a.decision.reason == ABR_EXCHANGE);
        CHECK(a.again > w.first_number + (shown + 3) * GROUP); // 6 s are before it
        CHECK(a.decided);
    }
    CHECK(w.agains.size() >= 1);
    CHECK(w.agains.size() <= 3);
    for (int64_t g = shown; g <= newest; g++) {
        better += w.levels[(size_t)g] > before[(size_t)g];
        wasted += w.levels[(size_t)g] > before[(size_t)g] ? kbps[before[(size_t)g]] * 250 : 0;
        CHECK(w.levels[(size_t)g] >= before[(size_t)g]);
    }
    CHECK(better >= 3);
    CHECK(wasted < 1500000); // 1 MB and a tenth
    CHECK(w.actions.back().level == 2);
    CHECK(w.longest <= 33 * sec);
}

TEST_CASE(
    "abr_viewer: a path that fails while groups come again does not stall sooner than without")
{
    world w;
    // It recovers for 3 s, and then carries twice the lowest level.
    w.rate_bps = [](usec_t at) { return at < 45 * sec ? 520e3 : at < 48 * sec ? 8e6 : 200e3; };
    w.await();
    w.pass(110 * sec);
    CHECK(w.stall_time == 0);
    CHECK(w.agains.size() <= 4);
}

TEST_CASE("abr_viewer: nothing is cut off on a path that goes on, or that is slow from the begin")
{
    const double bps = GENERATE(150e3, 400e3, 900e3, 4e6, 20e6);
    CAPTURE(bps);
    world w;
    // A short dip is one that the buffer outlasts.
    w.rate_bps = [bps](usec_t at) { return at > 1500 * ms && at < 1800 * ms ? bps / 10 : bps; };
    w.await();
    w.pass(30 * sec);
    CHECK(w.agains.empty());
    CHECK(w.stall_time == 0);
}

TEST_CASE("abr_viewer: what limits a sample")
{
    world w;
    w.rate_bps = [](usec_t) { return 1e6; }; // below the top level
    w.pass(10 * sec);
    CHECK(w.estimate() == Approx(1e6).epsilon(.1));

    SECTION("the pace of a sender says nothing of a faster path")
    {
        world paced(60, "auto", 30 * sec, 1.5);
        paced.rate_bps = [](usec_t) { return 50e6; };
        paced.pass(20 * sec);
        CHECK(paced.estimate() > 1e5);
        CHECK(paced.stall_time == 0);
        for (const abr_action &a : paced.actions)
            CHECK(a.speed <= 1.5);
    }
    SECTION("a path that loses a tenth is the limit")
    {
        world lossy(60, "auto", 30 * sec, 1.5);
        lossy.held_back = false;
        lossy.rate_bps = [](usec_t) { return 300e3; };
        lossy.pass(30 * sec);
        CHECK(lossy.estimate() < 400e3);
        CHECK(lossy.actions.back().level == 0);
    }
    SECTION("an outage is a path of nothing")
    {
        double before = w.estimate();
        CHECK(w.text().find("path 1.0") != std::string::npos);
        CHECK(w.text().find(" +- ") != std::string::npos);
        w.rate_bps = [](usec_t) { return 0.0; };
        w.pass(4 * sec);
        CHECK(w.estimate() < before / 2);
        w.pass(4 * sec); // an error of thousands of percent
        CHECK(w.text().find("kbit/s, error unknown, level") != std::string::npos);
    }
}

TEST_CASE("abr_viewer: 4, 1 and 4 Mbit/s of a film with 1.6 Mbit/s at most")
{
    const char *table = GENERATE("none", "sizes", "quality");
    CAPTURE(table);
    world w(48);
    w.rate_bps = [](usec_t at) { return at < 30 * sec || at >= 60 * sec ? 4e6 : 1e6; };
    w.pass(200 * ms);
    if (*table != 'n')
        REQUIRE(abr_viewer_set_table(w.viewer, table_of(48, 1, *table == 'q')) == 0);
    w.pass(100 * sec);
    CHECK(w.stall_time == 0);
    CHECK(w.share(2) >= .9);
    CHECK(w.shown == 48 * GROUP);
}

TEST_CASE("abr_viewer: below the lowest level it stalls, and goes on")
{
    world w(20);
    w.rate_bps = [](usec_t at) { return at < 5 * sec ? 4e6 : at < 60 * sec ? 60e3 : 4e6; };
    w.pass(200 * sec);
    CHECK(w.shown == 20 * GROUP);
    CHECK(w.stall_time > 0);
    CHECK(w.stall_time < 60 * sec); // the group that was begun is not cut off
}

TEST_CASE("abr_viewer: a full buffer")
{
    bool top = GENERATE(true, false);
    CAPTURE(top);
    world w;
    // At the middle level what is filled shows whether the path carries the top one, at 1.5 times
    // its rate; the top level is paced.
    w.rate_bps = [top](usec_t) { return top ? 4e6 : 700e3; };
    w.pass(4 * sec);
    REQUIRE(w.actions.back().level == (top ? 2 : 1));
    const double full = top ? 1 : .25;
    abr_buffer b = w.buffer();
    abr_action a;
    auto speed = [&](int seconds) {
        b.media = seconds * sec;
        b.number = w.arrived - seconds * FPS;
        w.now += ABR_VIEWER_SAMPLE;
        (void)abr_viewer_run(w.viewer, &b, &a, w.now);
        return a.speed;
    };
    SECTION("media")
    {
        CHECK(speed(5) > 1.5);
        const struct {
            int seconds;
            double speed;
        } rows[] = {{30, full}, {34, full}, {35, .25}, {31, .25}, {29, full}, {27, full}};
        for (const auto &row : rows) {
            CAPTURE(row.seconds);
            CHECK(speed(row.seconds) == row.speed);
        }
        CHECK(speed(5) > 1.5);
    }
    SECTION("bytes")
    {
        b.bytes = ABR_VIEWER_FULL_BYTES;
        CHECK(speed(5) == full);
        b.bytes = ABR_VIEWER_FULL_BYTES / 3 * 4;
        CHECK(speed(5) == .25);
        b.bytes = 0;
        CHECK(speed(5) > 1.5);
    }
    SECTION("frames")
    {
        b.frames = ABR_VIEWER_FULL_FRAMES;
        CHECK(speed(5) == full);
        b.frames = ABR_VIEWER_FULL_FRAMES / 3 * 4;
        CHECK(speed(5) == .25);
    }
}

TEST_CASE("abr_viewer: at a low level a full buffer learns of a faster path in seconds")
{
    // The dip lasts long: all that is known of the path is slow, and its error is wide.
    const int target = GENERATE(4, 12, 30);
    const usec_t delay = GENERATE(25, 150) * ms;
    CAPTURE(target, delay);
    world w(120, "auto", target * sec);
    w.delay = delay;
    abr_viewer_set_rtt(w.viewer, 2 * delay);
    w.rate_bps = [](usec_t at) { return at < 5 * sec || at > 100 * sec ? 4e6 : 150e3; };
    w.pass(100 * sec);
    CHECK(w.actions.back().level == 0);
    const usec_t stalled = w.stall_time;
    w.pass(10 * sec);
    CHECK(w.actions.back().level > 0);
    w.pass(10 * sec);
    CHECK(w.actions.back().level >= (target > 4 ? 2 : 1)); // 4 s are two groups
    CHECK(w.stall_time == stalled);
}

TEST_CASE("abr_viewer: frames that come late at the pace of a full buffer are no slow path")
{
    world w(60, "auto", 12 * sec);
    w.rate_bps = [](usec_t) { return 700e3; };
    while (w.now < 60 * sec && w.actions.size() < 1000 &&
           (w.actions.empty() || w.actions.back().speed != .25))
        w.pass(100 * ms);
    REQUIRE(w.actions.back().speed == .25);
    w.pass(3 * sec); // what was on its way has come
    const double before = w.estimate();
    // 7.5 frames a second are due; after each fourth the sender is late.
    for (int i = 0; i < 80; i++) {
        w.now += i % 4 == 0 ? 400 * ms : 45 * ms;
        w.arrived++;
        const abr_packet p = {w.arrived, w.arrived, w.sequence++, 1, 400, true};
        abr_buffer b = w.buffer();
        b.media = 13 * sec;
        abr_action a;
        (void)abr_viewer_packet(w.viewer, &p, w.now);
        if (abr_viewer_run(w.viewer, &b, &a, w.now))
            w.actions.push_back(a);
        REQUIRE(w.actions.back().speed == .25);
        CHECK(w.estimate() > before * .95);
    }
}

TEST_CASE("abr_viewer: over a transport that loses what the path does not carry, the speed follows")
{
    world w(60, "auto", 30 * sec, 1.5);
    w.held_back = false;
    w.rate_bps = [](usec_t) { return 110e3; }; // 1.1 times the lowest level
    w.pass(20 * sec);
    double least = 1.5;
    for (const abr_action &a : w.actions)
        least = std::min(least, a.speed);
    CHECK(least < 1.2);
}

TEST_CASE("abr_viewer: it says that the path carries less than the lowest level")
{
    world w;
    w.rate_bps = [](usec_t) { return 60e3; };
    w.pass(30 * sec);
    CHECK_THAT(w.text(), Catch::Matchers::EndsWith(
                             "the path carries less than the lowest one: playing stops at times"));
}

TEST_CASE("abr_viewer: a path that becomes fast while the buffer is full is noticed")
{
    const int target = GENERATE(4, 12, 30);
    CAPTURE(target);
    world w(60, "auto", target * sec);
    w.rate_bps = [](usec_t at) { return at < 5 * sec || at > 30 * sec ? 4e6 : 150e3; };
    w.pass(28 * sec);
    CHECK(w.actions.back().level == 0);
    w.pass(20 * sec);
    CHECK(w.actions.back().level == 2);
}

TEST_CASE("abr_viewer: the viewer chooses a level")
{
    world w;
    w.pass(3 * sec);
    REQUIRE(w.actions.back().level == 2);
    size_t before = w.actions.size();
    abr_viewer_choose(w.viewer, 1);
    w.next_level = 1; // as the caller requests it
    w.pass(40 * sec);
    for (size_t i = before; i < w.actions.size(); i++)
        CHECK_FALSE(w.actions[i].changes_level);
    CHECK(w.actions.back().speed == 1); // the buffer is filled all the same
    CHECK(w.text().find("level 1 of 2: the viewer chose it") != std::string::npos);
    abr_viewer_choose(w.viewer, ABR_NO_LEVEL);
    w.pass(sec);
    CHECK(w.actions.back().level == 2);
}

TEST_CASE("abr_viewer: a film of one level is buffered as any other")
{
    const char *name = GENERATE("auto", "bola-e", "dynamic", "robust-mpc", "throughput");
    CAPTURE(name);
    world w(60, name, 30 * sec, ABR_VIEWER_FAST, 1);
    CHECK_FALSE(abr_viewer_adapts(w.viewer));
    CHECK_FALSE(abr_viewer_awaits(w.viewer));
    w.rate_bps = [](usec_t at) { return at > 8 * sec && at < 18 * sec ? 0 : 4e6; };
    w.pass(3 * sec);
    // 8 times its pace until 10 s are there: 1.2 s, and a round trip; then 4 times.
    CHECK(w.buffer().media > 14 * sec);
    CHECK(w.buffer().media < 18 * sec);
    w.pass(5 * sec);
    CHECK(w.buffer().media > 28 * sec);
    w.pass(22 * sec);
    CHECK(w.stall_time == 0);
    CHECK(w.longest < 36 * sec);
    for (const abr_action &a : w.actions) {
        CHECK(a.level == 0);
        CHECK(a.decision.reason == ABR_FIXED);
        CHECK(a.again == -1);
    }
    CHECK_THAT(w.text(), Catch::Matchers::EndsWith(", one level: nothing to adapt"));
    w.pass(100 * sec); // to the end: all has arrived, and nothing is requested any more
    CHECK(w.arrived == 60 * GROUP - 1);
    CHECK(w.stall_time == 0);
}

TEST_CASE("abr_viewer: a film of one level that the path does not carry")
{
    world w(60, "auto", 30 * sec, ABR_VIEWER_FAST, 1);
    w.rate_bps = [](usec_t) { return 60e3; };
    w.pass(30 * sec);
    CHECK(w.stall_time > 5 * sec);
    CHECK_THAT(w.text(), Catch::Matchers::EndsWith(
                             "one level: the path carries less: playing stops at times"));
}

TEST_CASE("abr_viewer: a level that was chosen before playing")
{
    world w;
    abr_viewer_choose(w.viewer, 1);
    CHECK_FALSE(abr_viewer_awaits(w.viewer));
    w.pass(3 * sec);
    CHECK(w.buffer().media > 10 * sec);
    for (const abr_action &a : w.actions)
        CHECK(a.level == 1);
    w.pass(30 * sec);
    CHECK(w.share(1) == 1);
    CHECK(w.stall_time == 0);
    abr_viewer_choose(w.viewer, ABR_NO_LEVEL);
    w.pass(5 * sec);
    CHECK(w.actions.back().level == 2);
}

TEST_CASE("abr_viewer: a pause and a seek")
{
    world w;
    w.pass(5 * sec);
    double before = w.estimate();
    abr_viewer_pause(w.viewer, true);
    size_t actions = w.actions.size();
    w.now += 20 * sec;
    w.run();
    CHECK(w.actions.size() == actions);
    abr_viewer_pause(w.viewer, false);
    w.run();
    CHECK(w.estimate() == Approx(before)); // 20 s without a packet were no outage

    // To 80 s: frame 2400 of the film has number 12000.
    w.queue.clear();
    w.way.clear();
    w.frame = 2400;
    w.first_number = 12000 - 2400;
    w.from = 12000;
    w.shown = -1;
    w.arrived = 11999;
    w.playing = w.stalled = false;
    abr_viewer_place(w.viewer, 12000, 2400, true, w.now);
    w.run();
    CHECK(w.actions.back().decision.group == 40);
    CHECK(w.actions.back().speed == FAST);
    w.playing = true;
    w.shown = 12000;
    w.pass(10 * sec);
    CHECK(w.actions.back().decision.group > 42);
    CHECK(w.estimate() == Approx(before).epsilon(.2));
}

TEST_CASE("abr_viewer: a film that begins again")
{
    world w(10);
    w.pass(30 * sec);
    size_t before = w.actions.size();
    w.frame = 0;
    w.first_number = 10 * GROUP;
    w.arrived = w.first_number - 1;
    w.shown = w.first_number;
    w.pass(sec);
    REQUIRE(w.actions.size() > before);
    CHECK(w.actions[before].decision.group >= 1);
    CHECK(w.actions[before].decision.group < 10);
}

TEST_CASE("abr_viewer: tables")
{
    world w;
    CHECK_FALSE(abr_viewer_has_table(w.viewer));
    w.pass(5 * sec);
    double before = w.estimate();
    SECTION("one that lies is refused, and the level goes on following the path")
    {
        CHECK(abr_viewer_set_table(w.viewer, table_of(60, 5)) == ERR_RANGE);
        CHECK(abr_viewer_set_table(w.viewer, table_of(50)) == ERR_RANGE);
        CHECK_FALSE(abr_viewer_has_table(w.viewer));
        w.pass(5 * sec);
        CHECK(w.actions.back().level == 2);
    }
    SECTION("the film's own takes over what is known of the path")
    {
        CHECK(abr_viewer_set_table(w.viewer, table_of(60)) == 0);
        CHECK(abr_viewer_has_table(w.viewer));
        w.run();
        CHECK(w.estimate() == Approx(before).epsilon(.1));
        CHECK(w.actions.back().level == 2);
        CHECK(w.actions.back().decision.group >= 1);
    }
}

TEST_CASE("abr_viewer: the policies from the literature decide once a group")
{
    const char *name = GENERATE("bola-e", "dynamic", "robust-mpc", "throughput");
    CAPTURE(name);
    world w(60, name);
    w.pass(60 * sec);
    CHECK(w.stall_time == 0);
    CHECK(w.share(2) > .3);
    std::vector<int64_t> groups;
    for (const abr_action &a : w.actions)
        if (a.decided)
            groups.push_back(a.decision.group);
    for (size_t i = 1; i < groups.size(); i++)
        CHECK(groups[i] > groups[i - 1]);
}

TEST_CASE("abr_viewer: packets that lie")
{
    world w(10);
    w.run();
    const int64_t numbers[] = {0, -5, INT64_C(1) << 35, 7, -(INT64_C(1) << 35), 599, 600, 1200, 3};
    for (int64_t n : numbers) {
        const abr_packet p = {n, n + 100000, n, 31, 70000, true};
        w.now += 70 * ms;
        (void)abr_viewer_packet(w.viewer, &p, w.now);
        w.run();
    }
    for (const abr_action &a : w.actions) {
        CHECK((a.level >= 0 && a.level < 3));
        CHECK((a.decision.group >= 0 && a.decision.group < 10));
    }
}
