// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/audio_delay.h"

#include <catch2/catch.hpp>

#include <memory>

namespace
{

const usec_t ms = USEC_PER_MSEC;

// 20 ms packets. `line`: of the pictures' clock, now - the media time due now.
struct rig {
    std::unique_ptr<audio_delay> d = std::make_unique<audio_delay>();
    media_clock clock{};
    int64_t packet = 0;

    explicit rig(usec_t line)
    {
        audio_delay_init(d.get());
        media_clock_init(&clock);
        media_clock_set(&clock, 0, line);
    }
    void run(int count, usec_t offset)
    {
        for (; count > 0; count--, packet++)
            audio_delay_packet(d.get(), packet * 20 * ms, packet * 20 * ms + offset);
    }
    usec_t delay() // ms
    {
        const media_clock *c = audio_delay_follow(d.get(), &clock);
        usec_t delay = media_clock_due(c, 0) - media_clock_due(&clock, 0);
        CHECK(delay % ms == 0);
        return delay / ms;
    }
};

} // namespace

TEST_CASE("audio_delay: audio waits until it has arrived, and no longer than is noticed")
{
    struct { // ms
        usec_t line, offset, delay, least;
    } const table[] = {
        // 60 + 35 - 80; 60 + 35 - 30
        {80, 60, 15, 65},  {95, 60, 0, 65},  {300, 60, 0, 65},
        {66, 60, 29, 65},  {65, 60, 30, 65}, {40, 60, 30, 65}, // the pictures must wait
        {-5, -60, 0, -55},
    };
    for (const auto &row : table) {
        INFO("line " << row.line << ", offset " << row.offset);
        rig r(row.line * ms);
        CHECK(r.delay() == 0); // nothing is known
        CHECK(audio_delay_line(r.d.get()) == USEC_NEVER);
        r.run(100, row.offset * ms);
        CHECK(r.delay() == row.delay);
        CHECK(audio_delay_line(r.d.get()) == row.least * ms);
    }
}

TEST_CASE("audio_delay: one late packet counts for the audio, but does not make pictures wait")
{
    rig r(90 * ms);
    r.run(200, 60 * ms);
    CHECK(r.delay() == 5);
    r.run(1, 75 * ms);
    CHECK(r.delay() == 20);
    CHECK(audio_delay_line(r.d.get()) == 65 * ms);
    r.run(200, 60 * ms);
    CHECK(r.delay() == 20);
    r.run(400, 60 * ms); // it is forgotten within 10 s
    CHECK(r.delay() == 5);
    r.run(300, 56 * ms); // too little to change for
    CHECK(r.delay() == 5);
}

TEST_CASE("audio_delay: a speed of the clock is no error")
{
    rig r(80 * ms);
    r.run(50, 60 * ms);
    media_clock_set_speed(&r.clock, 1050000, 980 * ms);
    media_clock_set(&r.clock, 1000 * ms, 1080 * ms); // a line of 80 ms again, then it falls
    r.run(2, 60 * ms);
    const media_clock *c = audio_delay_follow(r.d.get(), &r.clock);
    CHECK(c->speed_ppm == 1050000);
    CHECK(c->at - r.clock.at == Approx(15 * ms).margin(3 * ms));
}
