// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/encode_load.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "media/coded/ladder.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// A machine that encodes one size; viewers of sizes that are left out move to the largest that is
// encoded.
struct machine {
    struct ladder ladder {
    };
    encode_load load{};
    std::vector<int> wanted; // a viewer each
    usec_t now = 0;

    explicit machine(std::vector<int> sizes, fps rate = {30, 1}, bool cumulative = false)
        : wanted(std::move(sizes))
    {
        int err = cumulative ? ladder_cumulative(1280, 720, rate, 1920000, &ladder)
                             : ladder_default(1280, 720, rate, 2, nullptr, &ladder);
        REQUIRE(err == 0);
        encode_load_init(&load, &ladder);
        watch();
    }
    void watch()
    {
        for (int i = 0; i < ladder.size_count; i++) {
            bool is = false;
            for (int size : wanted)
                is |= i == std::min(size, encode_load_top(&load));
            if (is != load.windows[i].watched)
                encode_load_watch(&load, i, is);
        }
    }
    double rate(int size) const
    {
        return fps_value(ladder.sizes[size].fps) / encode_load_every(&load, size);
    }
    // "720@30" of each watched size
    std::string served() const
    {
        std::string out;
        for (int i = 0; i < ladder.size_count; i++)
            if (load.windows[i].watched)
                out += (out.empty() ? "" : " ") + std::to_string(ladder.sizes[i].height) + "@" +
                       std::to_string(static_cast<int>(rate(i)));
        return out;
    }
    // Somewhat more than a second of frames of each watched size, of which a part comes; less if a
    // step is taken.
    void second(double kept, usec_t late, usec_t took)
    {
        usec_t end = now + 1200 * ms;
        std::vector<double> due(LADDER_MAX_SIZES, static_cast<double>(now));
        for (; now < end; now += ms)
            for (int i = 0; i < ladder.size_count; i++) {
                if (!load.windows[i].watched || static_cast<double>(now) < due[i])
                    continue;
                due[i] += 1e6 / rate(i) / kept;
                encode_load_frame f = {i, late, took};
                if (!encode_load_came(&load, &f, now))
                    continue;
                watch();
                return;
            }
    }
};

} // namespace

TEST_CASE("encode_load: what is a machine that does not keep up")
{
    struct {
        const char *what;
        double kept;
        usec_t late, took;
        int seconds; // until something is left out; 0: never
    } table[] = {
        {"in time", 1, 10 * ms, 8 * ms, 0},
        {"always busy, and in time", 1, 40 * ms, 33 * ms, 0},
        {"each frame late, but the queue does not grow", 1, 99 * ms, 8 * ms, 0},
        {"a queue that stands", 1, 130 * ms, 30 * ms, 2},
        {"some frames do not come", .75, 50 * ms, 40 * ms, 2},
        {"most frames do not come", .4, 50 * ms, 80 * ms, 1},
    };
    for (auto &row : table) {
        INFO(row.what);
        machine m({3});
        int seconds = 0;
        while (seconds < 10 && encode_load_steps(&m.load) == 0) {
            m.second(row.kept, row.late, row.took);
            seconds++;
        }
        CHECK(seconds == (row.seconds ? row.seconds : 10));
    }
}

TEST_CASE("encode_load: a single slow second is none, nor is a gap without viewers")
{
    machine m({3});
    m.second(.7, 50 * ms, 40 * ms);
    m.second(1, 10 * ms, 8 * ms);
    m.second(.7, 50 * ms, 40 * ms);
    CHECK(encode_load_steps(&m.load) == 0);
    m.second(1, 10 * ms, 8 * ms);
    m.now += 10 * USEC_PER_SEC;
    m.second(1, 10 * ms, 8 * ms);
    CHECK(encode_load_steps(&m.load) == 0);
}

TEST_CASE("encode_load: the steps, for as long as the machine is too slow")
{
    struct {
        std::vector<int> wanted;
        fps rate;
        bool cumulative;
        std::vector<const char *> steps;
    } table[] = {
        {{3}, {30, 1}, false, {"720@30", "720@15", "360@15", "240@15", "144@15", "144@7"}},
        {{3}, {60, 1}, false, {"720@60", "720@30", "720@15", "360@15"}},
        {{1}, {30, 1}, false, {"240@30", "240@15", "144@15", "144@7"}},
        {{0}, {30, 1}, false, {"144@15", "144@7"}},
        // of two viewers, the one that costs most
        {{1, 3}, {30, 1}, false, {"240@30 720@30", "240@15 720@15", "240@15 360@15", "240@15"}},
        // one encoder makes all sizes
        {{2}, {30, 1}, true, {"720@30", "720@15", "720@7"}},
    };
    for (auto &row : table) {
        machine m(row.wanted, row.rate, row.cumulative);
        std::vector<std::string> seen = {m.served()};
        for (int i = 0; i < 20; i++) {
            m.second(.4, 50 * ms, 80 * ms);
            if (m.served() != seen.back())
                seen.push_back(m.served());
        }
        for (size_t i = 0; i < row.steps.size(); i++) {
            INFO(row.steps[i]);
            REQUIRE(i < seen.size());
            CHECK(seen[i] == row.steps[i]);
        }
    }
}

TEST_CASE("encode_load: returns in the reverse order when there is time")
{
    machine m({3});
    for (int i = 0; i < 10 && m.served() != "240@15"; i++)
        m.second(.4, 50 * ms, 80 * ms);
    REQUIRE(m.served() == "240@15");
    SECTION("soon")
    {
        std::vector<std::string> seen = {m.served()};
        for (int i = 0; i < 20; i++) {
            m.second(1, 5 * ms, 2 * ms);
            if (m.served() != seen.back())
                seen.push_back(m.served());
        }
        CHECK(seen == std::vector<std::string>{"240@15", "360@15", "720@15", "720@30"});
        CHECK(encode_load_steps(&m.load) == 0);
    }
    SECTION("not while frames wait for a processor")
    {
        for (int i = 0; i < 30; i++)
            m.second(1, 40 * ms, 2 * ms);
        CHECK(m.served() == "240@15");
    }
    SECTION("not if the encoder would be busy all the time")
    {
        for (int i = 0; i < 30; i++) // 0.45 of the time; 360 lines are 2.25 times as many pixels
            m.second(1, 30 * ms, 30 * ms);
        CHECK(m.served() == "240@15");
    }
}

TEST_CASE("encode_load: a step that fails waits twice as long each time")
{
    machine m({3});
    m.second(.4, 50 * ms, 80 * ms);
    REQUIRE(m.served() == "720@15");
    std::vector<double> waits;
    usec_t down = m.now;
    for (bool was_whole = false; waits.size() < 8 && m.now < 1000 * USEC_PER_SEC;) {
        bool whole = encode_load_steps(&m.load) == 0;
        if (whole && !was_whole)
            waits.push_back(usec_to_sec(m.now - down));
        if (!whole && was_whole)
            down = m.now;
        was_whole = whole;
        m.second(whole ? .3 : 1, whole ? 80 * ms : 10 * ms, 8 * ms);
    }
    REQUIRE(waits.size() == 8);
    double expected[] = {3, 6, 12, 24, 48, 96, 96, 96};
    for (size_t i = 0; i < 8; i++) {
        INFO("step " << i);
        CHECK(waits[i] >= expected[i] - 1.2);
        CHECK(waits[i] <= expected[i] + 3.6);
    }
}
