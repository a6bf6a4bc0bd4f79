// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>

#include "stream/goddard/goddard_inputs.h"

namespace
{

const usec_t ms = 1000;
const usec_t sec = 1000 * ms;
const uint32_t FIRST_PAIR = 700;

// Frames at 10 a second; levels of 100, 200 and 400 kbit/s.
struct fixture {
    ladder levels{};
    goddard_params params{};
    goddard_inputs f;
    goddard_action last{};
    fixture()
    {
        levels.source_fps = {10, 1};
        levels.size_count = levels.level_count = 3;
        for (int i = 0; i < 3; i++) {
            levels.sizes[i] = {16, 16, {10, 1}, 1};
            levels.levels[i] = {i, 0, 100000 << i};
        }
        goddard_params_init(&params);
    }
    void open(goddard_probe probe)
    {
        const goddard_config c = {&levels, &params, probe, 2, true, false};
        goddard_inputs_init(&f, &c, FIRST_PAIR, 0);
        poll();
    }
    bool poll()
    {
        return goddard_poll(&f.policy, &last);
    }
    void pair(uint32_t number, int which, usec_t arrived)
    {
        const capacity_packet p = {1, number, which};
        goddard_inputs_pair(&f, &p, 1000, arrived, arrived);
    }
    void media(uint32_t number, size_t bytes, usec_t at)
    {
        const goddard_media m = {number, 0, 2, bytes, at};
        goddard_inputs_media(&f, &m, at);
    }
    double capacity() const
    {
        return goddard_capacity_bps(&f.policy);
    }
    void stream_at(int level)
    {
        open(GODDARD_BY_PAIR);
        goddard_inputs_ask(&f);
        pair(FIRST_PAIR, 0, 0);
        pair(FIRST_PAIR, 1, 1 * ms);
        REQUIRE(poll());
        REQUIRE(last.level == level);
        goddard_on_buffer(&f.policy, 10 * sec, 1 * ms);
        REQUIRE(poll());
        REQUIRE(last.state == GODDARD_STREAMING);
    }
};

} // namespace

TEST_CASE_METHOD(fixture,
                 "goddard_inputs: two packets of the pair asked for last tell the capacity")
{
    open(GODDARD_BY_PAIR);
    CHECK(last.ask_pair);
    CHECK(goddard_inputs_ask(&f) == FIRST_PAIR);
    pair(FIRST_PAIR, 0, 10 * ms);
    pair(FIRST_PAIR + 1, 1, 15 * ms); // of one that nobody asked for
    CHECK(std::isnan(capacity()));
    CHECK(goddard_inputs_ask(&f) == FIRST_PAIR + 1);
    pair(FIRST_PAIR + 1, 0, 100 * ms);
    pair(FIRST_PAIR + 1, 0, 105 * ms); // a copy
    pair(FIRST_PAIR, 1, 110 * ms);     // its other half comes too late
    CHECK(std::isnan(capacity()));
    pair(FIRST_PAIR + 1, 1, 132 * ms);
    CHECK(capacity() == Approx(250e3)); // 1000 bytes in 32 ms
    REQUIRE(poll());
    CHECK(last.level == 1);
}

TEST_CASE_METHOD(fixture, "goddard_inputs: the order they were sent in counts, not that of arrival")
{
    open(GODDARD_BY_PAIR);
    goddard_inputs_ask(&f);
    pair(FIRST_PAIR, 1, 10 * ms);
    pair(FIRST_PAIR, 0, 42 * ms);
    CHECK(std::isnan(capacity()));
    REQUIRE(poll());
    CHECK(last.ask_pair); // another one
}

TEST_CASE_METHOD(fixture,
                 "goddard_inputs: the rate of the first 200 ms of media, without its first packet")
{
    open(GODDARD_BY_MEDIA);
    CHECK(last.level == 2);
    media(0, 60000, 1 * sec);
    media(0, 1000, 1 * sec + 50 * ms);
    media(1, 3000, 1 * sec + 199 * ms);
    CHECK_FALSE(poll());
    media(1, 1000, 1 * sec + 200 * ms);
    CHECK(capacity() == Approx(200e3)); // 5000 bytes in 0.2 s
    CHECK(goddard_inputs_span(&f) == 200 * ms);
    REQUIRE(poll());
    CHECK(last.level == 0);
    media(1, 1000, 2 * sec); // it is known
    CHECK(goddard_inputs_span(&f) == 200 * ms);
}

TEST_CASE_METHOD(fixture,
                 "goddard_inputs: over a long round trip media is watched until it grows no more")
{
    open(GODDARD_BY_MEDIA);
    goddard_inputs_rtt(&f, 500 * ms);
    media(0, 1000, 1 * sec);
    media(0, 5000, 1500 * ms);
    media(1, 15000, 2 * sec);
    CHECK_FALSE(poll());
    media(2, 15000, 2500 * ms);
    CHECK(capacity() == Approx(240e3)); // 15000 bytes in 0.5 s
    CHECK(goddard_inputs_span(&f) == 1500 * ms);
    REQUIRE(poll());
    CHECK(last.level == 1);
}

TEST_CASE_METHOD(fixture, "goddard_inputs: lost frames take a level, whole ones fill the buffer")
{
    stream_at(2);
    for (uint32_t n = 0; n < 60; n++) {
        usec_t at = n * 100 * ms;
        if (n % 10 == 9)
            continue; // every tenth is lost: 0.1 is above downscale_frame_loss_rate
        media(n, 1000, at);
        goddard_inputs_whole(&f, n, 5 * sec, at);
        if (poll())
            break;
    }
    CHECK(last.reason == GODDARD_WHY_LOSS);
    CHECK(last.level == 1);
}

TEST_CASE_METHOD(fixture, "goddard_inputs: what a pause left out is not lost")
{
    stream_at(2);
    usec_t at = 6 * sec;
    media(0, 1000, at);
    goddard_inputs_whole(&f, 0, 5 * sec, at);
    goddard_on_pause(&f.policy, at);
    goddard_inputs_resume(&f, at + 60 * sec);
    REQUIRE(poll());
    CHECK(last.reason == GODDARD_WHY_FLUSH);
    media(600, 1000, at + 60 * sec);
    goddard_inputs_whole(&f, 600, 100 * ms, at + 60 * sec);
    CHECK_FALSE(poll());
    CHECK(loss_window_loss_since_decision(&f.policy.monitor) == 0);
    media(602, 1000, at + 61 * sec); // after it all is as before
    REQUIRE(poll());
    CHECK(last.reason == GODDARD_WHY_LOSS);
}

TEST_CASE_METHOD(fixture, "goddard_inputs: after a seek no frame between the positions is lost")
{
    stream_at(2);
    for (uint32_t n = 100; n < 150; n++) {
        media(n, 1000, n * 100 * ms);
        goddard_inputs_whole(&f, n, 10 * sec, n * 100 * ms);
    }
    poll();
    for (uint32_t to : {300u, 20u}) { // forward, and backward
        goddard_inputs_seek(&f, 16 * sec);
        REQUIRE(poll());
        CHECK(last.reason == GODDARD_WHY_FLUSH);
        media(to, 1000, 16 * sec);
        media(to + 1, 1000, 16 * sec);
        CHECK(loss_window_loss_lately(&f.policy.monitor, 16 * sec) < 0.05); // frame `to`
    }
}

TEST_CASE_METHOD(fixture, "goddard_inputs: quiet media at its pace does not tell a slow path")
{
    open(GODDARD_BY_MEDIA); // from level 2, 400 kbit/s
    for (uint32_t n = 0; n <= 4; n++)
        media(n, 100, n * 60 * ms); // 13 kbit/s, 10 frames/s at 1.67 times the pace
    REQUIRE(poll());
    CHECK(last.level == 2);
    CHECK(std::isnan(capacity()));
    open(GODDARD_BY_MEDIA);
    for (uint32_t n = 0; n <= 2; n++)
        media(n, 6000, n * 200 * ms); // half its pace
    REQUIRE(poll());
    CHECK(last.level == 1);
    CHECK(capacity() == Approx(240e3));
}
