// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "media/source/timeline.h"

#include <cmath>
#include <random>
#include <vector>

namespace
{
usec_t sec(double s)
{
    return (usec_t)std::llround(s * 1e6);
}

struct run {
    double from, to;
};

// Adds packets of 20 ms.
timeline make(bool clock_jumps, double end, const std::vector<run> &runs)
{
    timeline t;
    timeline_init(&t, clock_jumps, end < 0 ? USEC_NEVER : sec(end));
    for (auto &r : runs)
        for (int64_t i = 0; i < std::llround((r.to - r.from) * 50); i++)
            timeline_add(&t, 1, sec(r.from + (double)i / 50), sec(0.02));
    return t;
}

constexpr bool FIXED = false, JUMPS = true;
} // namespace

TEST_CASE("timeline: from a picture to the next one")
{
    struct {
        const char *what;
        bool clock_jumps;
        double end; // -1: not named
        std::vector<run> audio;
        double before, at, want;
    } table[] = {
        {"the next picture", JUMPS, -1, {}, 1, 1.04, 0.04},
        {"a pause", JUMPS, -1, {}, 1, 60, 59},
        {"a picture stands, audio goes on", JUMPS, -1, {{0, 80}}, 1, 76, 75},
        {"for hours", JUMPS, -1, {{0, 20000}}, 1, 20001, 20000},
        {"with a hole in the audio", JUMPS, -1, {{0, 30}, {80, 120}}, 1, 100, 99},
        {"all streams jump together", JUMPS, -1, {{0, 1.04}, {2000, 2001}}, 1, 2000, 0},
        {"the audio's last part is longer", JUMPS, -1, {{0, 11}, {2000, 2001}}, 1, 2000, 10},
        {"the audio's next part begins before", JUMPS, -1, {{0, 1}, {1990, 2001}}, 1, 2000, 0},
        {"without audio", JUMPS, -1, {}, 1, 76, 0},
        {"without audio, the clock is the container's", FIXED, 80, {}, 1, 76, 75},
        {"which names no end", FIXED, -1, {}, 1, 76, 75},
        {"which ends before", FIXED, 10, {}, 1, 76, 0},
        {"which ends before, but audio goes on", FIXED, 10, {{0, 80}}, 1, 76, 75},
        {"a silence of an hour", FIXED, 9000, {}, 1, 3600, 3599},
        {"a silence of a day is a jump", FIXED, 100000, {}, 1, 86400, 0},
        {"a late picture", FIXED, 80, {}, 5, 4.5, -0.5},
        {"back", FIXED, 80, {{0, 5.1}}, 5, 1, 0},
        {"back, as the clock wraps", JUMPS, -1, {{95440, 95443.7}}, 95443, 0.1, 0.7},
        {"back, behind audio of 9 s", JUMPS, -1, {{0, 14}}, 5, 0, 9},
    };
    for (auto &row : table) {
        timeline t = make(row.clock_jumps, row.end, row.audio);
        CAPTURE(row.what);
        CHECK((double)timeline_step(&t, sec(row.before), sec(row.at)) / 1e6 ==
              Approx(row.want).margin(0.001));
    }
}

TEST_CASE("timeline: where it begins and ends")
{
    struct {
        const char *what;
        bool clock_jumps;
        std::vector<run> audio;
        double last, want_end;
    } ends[] = {
        {"with the picture", FIXED, {}, 3, 3},
        {"the rounding of coded frames", FIXED, {{0, 3.1}}, 3, 3},
        {"with the audio", FIXED, {{0, 12}}, 3, 12},
        {"audio after a pause", FIXED, {{0, 2}, {30, 42}}, 3, 42},
        {"audio of a clock that jumped", JUMPS, {{0, 2}, {3000, 3042}}, 3, 3},
        {"audio that ended before", FIXED, {{0, 2}}, 3, 3},
    };
    for (auto &row : ends) {
        timeline t = make(row.clock_jumps, -1, row.audio);
        CAPTURE(row.what);
        CHECK((double)timeline_end(&t, sec(row.last)) / 1e6 == Approx(row.want_end));
    }
    struct {
        bool clock_jumps;
        double picture, other, want;
    } begins[] = {
        {FIXED, 0, 0, 0},    {FIXED, 0, 4, 0},     {FIXED, 4, 0, 0},     {FIXED, 1.48, 1.4, 1.48},
        {JUMPS, 59, 0, 0},   {JUMPS, 90, 0, 90},   {FIXED, 90, 0, 0},    {FIXED, 0.5, -0.02, -0.02},
        {FIXED, 3, 1e12, 3}, {JUMPS, 3, -1e12, 3}, {FIXED, 3, -1e12, 3},
    };
    timeline fixed = make(FIXED, -1, {}), jumps = make(JUMPS, -1, {});
    for (auto &row : begins) {
        CAPTURE(row.clock_jumps, row.picture, row.other);
        CHECK(timeline_begin(row.clock_jumps ? &jumps : &fixed, sec(row.picture), sec(row.other)) ==
              sec(row.want));
    }
    CHECK(timeline_begin(&fixed, 7, USEC_NEVER) == 7);
}

// A film of parts. The clock jumps between them; in a part, pictures come and stand, and audio
// begins, ends and pauses. What is made is known, so each picture's place is.
TEST_CASE("timeline: pictures of seeded films are where they were made")
{
    constexpr int FILMS = 4000;
    std::mt19937 random(7);
    auto upto = [&](double max) { return max * (double)(random() % 10001) / 10000; };
    int stood = 0, jumped = 0;
    for (int film = 0; film < FILMS; film++) {
        CAPTURE(film);
        timeline t;
        timeline_init(&t, true, USEC_NEVER);
        double clock = upto(90000); // the container's clock at the part's begin
        usec_t made = 0, found = 0, before = 0;
        bool is_first = true;
        for (int part = 0, parts = 1 + (int)(random() % 4); part < parts; part++) {
            double length = 5 + upto(300), audio_end = length + (random() % 3 ? 0 : upto(20));
            double picture = 0, audio = random() % 3 ? 0 : upto(4);
            while (true) {
                // A step back by less than TIMELINE_BACKWARD would be a late picture.
                double stands = random() % 20 || picture < 2 ? 0.04 : upto(200);
                double next = std::min(picture + stands, length);
                // Packets are interleaved: audio up to this picture is read before it is shown.
                for (; audio < picture; audio += 0.5)
                    timeline_add(&t, 1, sec(clock + audio), sec(0.5));
                usec_t at = sec(clock + picture);
                found += is_first ? 0 : timeline_step(&t, before, at);
                if (std::abs(found - made) > sec(0.51)) { // a macro for each picture takes longer
                    CAPTURE(part, clock, picture, before, length);
                    REQUIRE(std::abs(found - made) <= sec(0.51));
                }
                found = made; // the rest of a packet is no error that grows
                is_first = false;
                before = at;
                stood += next - picture > 60;
                if (next >= length)
                    break;
                made += sec(clock + next) - sec(clock + picture);
                picture = next;
            }
            for (; audio < audio_end; audio += 0.5)
                timeline_add(&t, 1, sec(clock + audio), sec(0.5));
            double tail = audio - picture;
            made += tail > 0.2 ? sec(tail) : 0;
            // The next part's clock is far ahead, or back.
            double ahead = clock + audio + 100 + upto(50000);
            clock = random() % 2 ? ahead : random() % 3 ? 0 : std::fmod(clock + 45000, 90000);
            jumped++;
        }
    }
    CHECK(stood > FILMS / 4);
    CHECK(jumped > FILMS);
}

TEST_CASE("timeline: any time stamps are taken, and few runs are kept")
{
    std::mt19937_64 random(3);
    timeline t;
    for (int i = 0; i < 20000; i++) {
        if (i % 100 == 0)
            timeline_init(&t, i % 200 == 0, i % 300 ? USEC_NEVER : (usec_t)random());
        usec_t a = (usec_t)random() >> random() % 60, b = (usec_t)random() >> random() % 60;
        timeline_add(&t, (int)(random() % 20), a, b);
        REQUIRE(t.count <= TIMELINE_RUNS);
        usec_t step = timeline_step(&t, a, b);
        CHECK(step >= -TIMELINE_BACKWARD);
        CHECK(timeline_end(&t, a) >= INT64_MIN / 8);
        (void)timeline_begin(&t, a, b);
    }
    timeline_restart(&t);
    CHECK(timeline_end(&t, 5) == 5);
}
