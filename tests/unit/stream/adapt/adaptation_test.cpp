// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/adapt/adaptation.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace
{

const usec_t MS = USEC_PER_MSEC;

// kbit/s: 320 and 640 of a small size (15 and 30 a second), 1280 and 1920 of a large one.
ladder four_levels()
{
    ladder l = {};
    l.source_fps = {30, 1};
    l.source_width = 1280;
    l.source_height = 720;
    l.size_count = 2;
    l.sizes[0] = {640, 360, {30, 1}, 2};
    l.sizes[1] = {1280, 720, {30, 1}, 2};
    l.level_count = 4;
    l.levels[0] = {0, 0, 320000};
    l.levels[1] = {0, 1, 640000};
    l.levels[2] = {1, 0, 1280000};
    l.levels[3] = {1, 1, 1920000};
    REQUIRE(ladder_is_valid(&l));
    return l;
}

struct viewer {
    ladder l = four_levels();
    adaptation a;
    rate_estimator_sample s{};
    usec_t now = USEC_PER_SEC;

    explicit viewer(double start, bool keeps_size = false, int cap = 3)
    {
        adaptation_init(&a, &l, cap, start, keeps_size);
        s.allowed_bps = NAN;
        s.rtt = 20 * MS;
    }

    // All that is made at `bps` comes through, for so many seconds.
    void run(double seconds, double bps, bool alone)
    {
        for (int i = 0; i < seconds * 30; i++) {
            now += USEC_PER_SEC / 30;
            s.made += bps / 8 / 30;
            s.delivered = s.made;
            adaptation_update(&a, &s, alone, now);
        }
    }

    // What is made is the level's own rate, or `still` of a picture that needs no more, over a path
    // that takes so much; the rest waits. Returns how often the level went up.
    int watch(double seconds, double takes, bool alone, double still = INFINITY)
    {
        int ups = 0;
        for (int i = 0; i < seconds * 30; i++) {
            int before = a.level;
            now += USEC_PER_SEC / 30;
            s.made += std::fmin(still, l.levels[a.level].bitrate_bps) / 8 / 30;
            s.delivered = std::fmin(s.made, s.delivered + takes / 8 / 30);
            s.waiting = static_cast<usec_t>((s.made - s.delivered) * 8e6 / takes);
            adaptation_update(&a, &s, alone, now);
            ups += a.level > before;
        }
        return ups;
    }

    // A rate controller allows no more than gives this target.
    void allow(double target, bool alone)
    {
        a.rate.capacity_bps = 1; // it was too much before
        s.delivered = s.made = fmax(s.made, 1);
        s.allowed_bps = a.rate.allowed_bps = target; // and has, on average
        run(0.1, 0, alone);
    }
};

} // namespace

TEST_CASE("adaptation: where it begins")
{
    struct {
        double start;
        bool keeps_size;
        int cap, level;
    } const table[] = {
        {5e6, false, 3, 3}, {1.5e6, false, 3, 2}, {640e3, false, 3, 1}, {100e3, false, 3, 0},
        {5e6, false, 1, 1}, {100e3, true, 3, 2},  {100e3, true, 1, 0},
    };
    for (const auto &row : table) {
        INFO(row.start << " " << row.keeps_size << " " << row.cap);
        CHECK(viewer(row.start, row.keeps_size, row.cap).a.level == row.level);
    }
}

TEST_CASE("adaptation: calm is the highest target without a queue")
{
    viewer v(5e6);
    v.run(3, 1920e3, false);
    CHECK(adaptation_is_calm(&v.a));
    SECTION("a queue grows")
    {
        v.s.waiting = 25 * MS;
        v.run(0.04, 1920e3, false);
        CHECK_FALSE(adaptation_is_calm(&v.a));
    }
    SECTION("it was too much")
    {
        v.watch(3, 1000e3, false);
        CHECK_FALSE(adaptation_is_calm(&v.a));
    }
    SECTION("it begins below the highest level")
    {
        viewer low(1.5e6);
        CHECK_FALSE(adaptation_is_calm(&low.a));
    }
}

TEST_CASE("adaptation: sound beside the video takes nothing of where it begins")
{
    struct row {
        double start;
        int level; // of one who shares the encoders, after the first frame
    };
    auto row = GENERATE(values<struct row>({{1920e3, 3}, {9000e3, 3}, {1280e3, 1}}));
    CAPTURE(row.start);
    viewer v(row.start);
    adaptation_set_beside(&v.a, 64e3);
    v.run(0.04, 1000e3, false);
    CHECK(v.a.level == row.level);
    CHECK(v.a.rate.ceiling_bps == 1920e3 + 64e3);
}

TEST_CASE("adaptation: a viewer alone steers the encoder, then the level changes")
{
    struct {
        double target;
        int level, encoder_kbps; // of the size
    } const table[] = {
        {1920e3, 3, 1920}, {1500e3, 3, 1500}, {780e3, 3, 780}, // 0.4 of 1920
        {760e3, 2, 1140},                                      // 15 a second, at 760 of 1280
        {390e3, 2, 585},                                       // 0.3 of 1280
        {380e3, 1, 380},   {260e3, 1, 260},                    // 0.4 of 640
        {250e3, 0, 500},   {224e3, 0, 448},   {100e3, 0, 448}, // the floor: 0.7 of 320
    };
    viewer v(5e6);
    for (const auto &row : table) {
        INFO(row.target);
        v.allow(row.target, true);
        CHECK(v.a.level == row.level);
        CHECK(std::abs(v.a.encoder_bps / 1e3 / row.encoder_kbps - 1) < 0.021);
    }
}

TEST_CASE("adaptation: who shares the encoders gets levels as they are")
{
    struct {
        double target;
        int level;
    } const table[] = {{1920e3, 3}, {1919e3, 2}, {1279e3, 1}, {639e3, 0}, {100e3, 0}};
    viewer v(5e6);
    for (const auto &row : table) {
        INFO(row.target);
        v.allow(row.target, false);
        CHECK(v.a.level == row.level);
        CHECK(v.a.encoder_bps == 0);
    }
}

TEST_CASE("adaptation: up after two seconds of room, not at once")
{
    viewer v(5e6);
    v.allow(330e3, false);
    REQUIRE(v.a.level == 0);
    v.s.allowed_bps = NAN;
    v.a.rate.target_bps = 700e3;
    v.run(1.9, 0, false);
    CHECK(v.a.level == 0);
    v.run(0.3, 0, false);
    CHECK(v.a.level == 1);
    // A larger size wants 5 % more.
    v.a.rate.target_bps = 1300e3;
    v.run(3, 0, false);
    CHECK(v.a.level == 1);
    v.a.rate.target_bps = 1350e3;
    v.run(2.2, 0, false);
    CHECK(v.a.level == 2);
    // The highest, though the target cannot be 5 % above it.
    v.a.rate.target_bps = 1920e3;
    v.run(2.2, 0, false);
    CHECK(v.a.level == 3);
}

TEST_CASE("adaptation: who is alone goes up before a level's own rate is there")
{
    struct {
        double target;
        int level;
    } const table[] = {{345e3, 0},  {360e3, 1},               // 0.55 of 640
                       {570e3, 1},  {580e3, 2},               // 0.45 of 1280
                       {1050e3, 2}, {1060e3, 3}, {780e3, 3}}; // 0.55 of 1920; 0.4 keeps it
    viewer v(5e6);
    v.allow(240e3, true);
    REQUIRE(v.a.level == 0);
    for (const auto &row : table) {
        INFO(row.target);
        v.allow(row.target, true);
        v.run(2.2, 0, true);
        CHECK(v.a.level == row.level);
    }
}

TEST_CASE("adaptation: a cap, and a viewer that knows of no sizes")
{
    viewer v(5e6);
    adaptation_set_cap(&v.a, 1);
    CHECK(v.a.level == 1);
    v.run(5, 640e3, true);
    CHECK(v.a.level == 1);
    CHECK(v.a.encoder_bps == 640000);

    viewer stranger(5e6, true);
    stranger.allow(100e3, false);
    CHECK(stranger.a.level == 2);
}

TEST_CASE("adaptation: the top layer is left out the moment it was too much")
{
    viewer v(5e6);
    v.run(5, 1.9e6, true);
    REQUIRE(v.a.top >= 1);
    bool dropped = false;
    for (int i = 0; i < 30 && !dropped; i++) { // half of it comes through, and waits
        v.now += USEC_PER_SEC / 30;
        v.s.made += 1.9e6 / 8 / 30;
        v.s.delivered += 0.95e6 / 8 / 30;
        v.s.waiting += USEC_PER_SEC / 60;
        adaptation_update(&v.a, &v.s, true, v.now);
        dropped = v.a.top == 0;
    }
    CHECK(dropped);
    v.s.waiting = 0;
    v.run(0.5, 0.5e6, true);
    CHECK(v.a.top >= 1);
}

TEST_CASE("adaptation: a window of fewer packets than frames gets every other frame")
{
    viewer v(2e6);
    v.run(2, 1.9e6, true);
    REQUIRE(adaptation_level(&v.a) == 3);
    v.s.packets_ps = 30;
    v.run(0.1, 1.9e6, true);
    CHECK(adaptation_level(&v.a) == 3); // a rate controller's bytes
    v.s.is_window = true;
    v.run(0.1, 1.9e6, true);
    CHECK(adaptation_level(&v.a) == 2); // of the same size
    CHECK(v.a.level == 3);
    CHECK(v.a.encoder_bps > 1.4 * 1.9e6); // all of it in half the frames
    v.s.packets_ps = 40;
    v.run(0.1, 1.9e6, true);
    CHECK(adaptation_level(&v.a) == 2);
    v.s.packets_ps = 46;
    v.run(0.1, 1.9e6, true);
    CHECK(adaptation_level(&v.a) == 3);
    v.s.packets_ps = NAN;
    v.run(0.1, 1.9e6, true);
    CHECK(adaptation_level(&v.a) == 3);
    v.a.level = 2; // the level below has another size
    v.s.packets_ps = 30;
    v.run(0.1, 1.3e6, true);
    CHECK(adaptation_level(&v.a) == 2);
}

TEST_CASE("adaptation: who cannot use the next level's rate before it is there goes up by trial")
{
    struct {
        bool alone;
        double still; // bit/s that the picture needs, however large
    } const table[] = {{false, INFINITY}, {false, 30e3}, {true, 30e3}};
    for (const auto &row : table) {
        INFO((row.alone ? "alone" : "shared") << " " << row.still);
        viewer v(330e3);
        v.watch(20, 10e6, row.alone, row.still);
        CHECK(v.a.level == 3);
        v.watch(3, 100e3, row.alone); // the picture moves, the path is narrow
        CHECK(v.a.level == 0);
        v.watch(40, 10e6, row.alone, row.still);
        CHECK(v.a.level == 3);
    }
    viewer nothing(330e3);
    nothing.watch(60, 10e6, false, 0);
    CHECK(nothing.a.level == 0);
}

TEST_CASE("adaptation: a level that does not come through is tried ever more rarely")
{
    viewer v(640e3);
    REQUIRE(v.a.level == 1);
    int first = v.watch(60, 1e6, false), later = v.watch(240, 1e6, false);
    CHECK(first >= 2); // 5, 10 and 20 s apart, and what it takes to try
    CHECK(first <= 4);
    CHECK(later >= 2); // up to 80 s apart
    CHECK(later <= 6);
    v.watch(100, 10e6, false);
    CHECK(v.a.level == 3);
}

TEST_CASE("adaptation: a limit bounds level and encoder, which rise with it")
{
    viewer v(10e6); // kbit/s: 320, 640, 1280, 1920
    v.run(1, 1.9e6, true);
    CHECK(v.a.level == 3);
    CHECK(v.a.encoder_bps == 1920000);
    adaptation_set_limit(&v.a, 1e6);
    v.run(1, 1e6, true);
    CHECK(v.a.level == 3); // 0.52 of its rate is the better picture
    CHECK(v.a.encoder_bps == Approx(1e6).epsilon(0.03));
    adaptation_set_limit(&v.a, 0.2e6);
    v.run(1, 0.2e6, true);
    CHECK(v.a.level == 0);
    adaptation_set_limit(&v.a, 0);
    v.run(4, 1.9e6, true);
    CHECK(v.a.level == 3);
    CHECK(v.a.encoder_bps == 1920000);
}

TEST_CASE("adaptation: a cap, or a rate that is not used, is nothing that the network leaves")
{
    for (bool alone : {false, true})
        for (int cap = 0; cap < 4; cap++) {
            INFO(cap << " " << alone);
            viewer v(cap ? 1e6 : 200e3, false, cap);
            CHECK(v.a.carried_bps == INFINITY);
            v.run(5, v.l.levels[cap].bitrate_bps, alone);
            CHECK(adaptation_read(&v.a).carried_bps == INFINITY);
            v.run(5, 100e3, alone); // a still picture
            CHECK(adaptation_read(&v.a).carried_bps == INFINITY);
            adaptation_set_cap(&v.a, 3); // a target that is now low is no lack
            v.run(0.5, 100e3, alone);
            CHECK(adaptation_read(&v.a).carried_bps == INFINITY);
        }
}

TEST_CASE("adaptation: what the network leaves, until it carries the cap again")
{
    for (int cap = 1; cap < 4; cap++) {
        INFO(cap);
        viewer v(10e6, false, cap);
        double rate = v.l.levels[cap].bitrate_bps;
        v.run(3, rate, false);
        v.watch(10, 0.6 * rate, false);
        double carried = adaptation_read(&v.a).carried_bps;
        CHECK(carried > 0.4 * rate);
        CHECK(carried < 0.75 * rate);
        v.watch(100, 10e6, false);
        CHECK(v.a.level == cap);
        CHECK(adaptation_read(&v.a).carried_bps == INFINITY);
    }
    viewer v(10e6);
    v.run(3, 1920e3, false);
    v.watch(3, 1e6, false);
    CHECK(adaptation_read(&v.a).carried_bps < 1.92e6);
    rate_estimator_restart(&v.a.rate); // a pause
    v.run(0.5, 1e6, false);
    CHECK(adaptation_read(&v.a).carried_bps == INFINITY);
}

TEST_CASE("adaptation: a controller that allows less is a lack, and a dip only to an encoder")
{
    viewer v(10e6);
    v.run(3, 1920e3, false);
    v.allow(1.5e6, false);
    CHECK(adaptation_read(&v.a).carried_bps == Approx(1.5e6));
    for (bool alone : {false, true}) {
        viewer drains(10e6);
        drains.run(3, 1920e3, alone);
        drains.s.waiting = 35 * MS; // and as much arrives as is made
        drains.run(0.1, 1920e3, alone);
        CHECK(std::isinf(adaptation_read(&drains.a).carried_bps) == !alone);
    }
}

TEST_CASE("adaptation: the highest level within a limit")
{
    struct row {
        double limit;
        int level;
    };
    const row table[] = {{0, 3}, {2e6, 3}, {1.9e6, 2}, {1.28e6, 2}, {700e3, 1}, {639e3, 0}, {1, 0}};
    for (const row &one : table) {
        viewer v(10e6);
        adaptation_set_limit(&v.a, one.limit);
        CHECK(adaptation_level_within(&v.a, 1) == one.level);
    }
    viewer v(10e6);
    adaptation_set_limit(&v.a, 1.28e6);
    CHECK(adaptation_level_within(&v.a, 2) == 1); // at twice the speed
    adaptation_set_beside(&v.a, 64000);           // audio
    CHECK(adaptation_level_within(&v.a, 1) == 1);
    viewer keeps(10e6, true);
    adaptation_set_limit(&keeps.a, 100e3);
    CHECK(adaptation_level_within(&keeps.a, 1) == 2); // of its size
}

TEST_CASE("adaptation: where nothing is measured, level and encoder keep a limit")
{
    struct {
        int from; // level before
        double limit;
        bool alone;
        int level, encoder;
    } const table[] = {
        {3, 0, true, 3, 0},          {3, 2e6, true, 3, 1920000},  {3, 1e6, true, 3, 1000000},
        {3, 500e3, true, 2, 750000}, {3, 300e3, true, 1, 300000}, {3, 100e3, true, 0, 200000},
        {3, 1, true, 0, 32000},      // a twentieth of the lowest level
        {0, 300e3, true, 0, 600000}, // 0.4 of a level keeps it, 0.55 is enough to come to it
        {0, 400e3, true, 1, 400000}, {3, 1.9e6, false, 2, 0},     {0, 700e3, false, 1, 0},
        {0, 0, false, 3, 0},
    };
    for (const auto &row : table) {
        viewer v(10e6);
        v.a.level = row.from;
        adaptation_set_limit(&v.a, row.limit);
        adaptation_keep_limit(&v.a, row.alone);
        INFO(row.from << " " << row.limit);
        CHECK(v.a.level == row.level);
        CHECK(v.a.encoder_bps == row.encoder);
    }
    viewer keeps(10e6, true);
    adaptation_set_beside(&keeps.a, 64000);
    adaptation_set_limit(&keeps.a, 164e3);
    adaptation_keep_limit(&keeps.a, true);
    CHECK(keeps.a.level == 2); // of its size
    CHECK(keeps.a.encoder_bps == 150000);
}

TEST_CASE("adaptation: a viewer that keeps a larger size may get a quarter of its rate")
{
    CHECK(viewer(10e6, true, 3).a.rate.floor_bps == Approx(0.25 * 1280e3));
    CHECK(viewer(10e6, true, 1).a.rate.floor_bps == Approx(0.7 * 320e3));
    CHECK(viewer(10e6, false, 3).a.rate.floor_bps == Approx(0.7 * 320e3));
}

TEST_CASE("adaptation: the rate of a level that passes is what it is")
{
    // kbit/s: 640 at most of the encoded size; the source's own has 4000.
    struct {
        double takes; // of the path
        int level, encoder_min, encoder_max;
    } table[] = {
        {4500000, 2, 0, 0},           // no encoder to steer
        {3000000, 1, 600000, 640000}, // 0.75 of its rate: an encoder would bend to it
        {500000, 1, 300000, 520000},
    };
    for (const auto &row : table) {
        CAPTURE(row.takes);
        ladder l = four_levels();
        l.sizes[1].layers = 1;
        l.passes = true;
        l.level_count = 3;
        l.levels[2] = {1, 0, 4000000};
        REQUIRE(ladder_is_valid(&l));
        adaptation a;
        adaptation_init(&a, &l, 2, row.takes, false);
        adaptation_set_limit(&a, row.takes);
        adaptation_keep_limit(&a, true);
        CHECK(adaptation_level(&a) == row.level);
        CHECK(a.encoder_bps >= row.encoder_min);
        CHECK(a.encoder_bps <= row.encoder_max);
    }
}

TEST_CASE("adaptation: a film's rate and size follow the network, its frames do not")
{
    const struct {
        fps small;   // of the smaller size, which has two layers
        double path; // bit/s
        int level;
        double lowest; // bit/s of the encoder, which tries more now and then
    } table[] = {
        {{30, 1}, 1000000, 3, 1000000}, // the level of half the frames has 1280 kbit/s
        {{30, 1}, 500000, 1, 500000},
        {{30, 1}, 230000, 1, 230000}, // another viewer is at level 0 here
        {{30, 1}, 100000, 1, 224000}, // as low as level 0 goes
        {{15, 1}, 500000, 1, 500000}, // the only smaller size: it is used, but not halved again
        {{15, 1}, 230000, 1, 230000},
    };
    for (const auto &row : table) {
        CAPTURE(row.path, row.small.num);
        viewer v(1920000);
        v.l.sizes[0].fps = row.small;
        adaptation_keep_frames(&v.a);
        v.s.is_window = true;
        v.s.packets_ps = 10; // fewer than frames
        double lowest = INFINITY;
        for (int i = 0; i < 30 * 30; i++) {
            v.now += USEC_PER_SEC / 30;
            v.s.made += v.a.encoder_bps / 8.0 / 30;
            v.s.delivered = std::fmin(v.s.made, v.s.delivered + row.path / 8 / 30);
            v.s.waiting = static_cast<usec_t>((v.s.made - v.s.delivered) * 8e6 / row.path);
            adaptation_update(&v.a, &v.s, true, v.now);
            CHECK(v.a.top == LEVEL_MAX_LAYERS);
            if (i > 15 * 30)
                lowest = std::fmin(lowest, v.a.encoder_bps);
        }
        CHECK(adaptation_level(&v.a) == row.level);
        CHECK(lowest == Approx(row.lowest).epsilon(.15));
    }
}
