// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/given_audio.h"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace
{
const usec_t MS = USEC_PER_MSEC;
const int PER_MS = AUDIO_RATE / 1000;

struct audio {
    std::unique_ptr<given_audio> a{new given_audio()};

    // `value` for `ms`, captured from `at_ms` on.
    bool push(int16_t value, int ms, usec_t at_ms, usec_t now_ms, bool is_stamped = true)
    {
        std::vector<int16_t> pcm((size_t)(ms * PER_MS) * AUDIO_CHANNELS, value);
        return given_audio_push(a.get(), pcm.data(), ms * PER_MS, at_ms * MS, is_stamped,
                                now_ms * MS);
    }

    // The value in the middle of each of `count` pieces of 10 ms.
    std::vector<int> read(int64_t from_ms, int count)
    {
        std::vector<int16_t> pcm((size_t)(count * 10 * PER_MS) * AUDIO_CHANNELS);
        given_audio_read(a.get(), from_ms * PER_MS, pcm.data(), count * 10 * PER_MS);
        std::vector<int> values;
        for (int i = 0; i < count; i++)
            values.push_back(pcm[(size_t)((i * 10 + 5) * PER_MS) * AUDIO_CHANNELS]);
        return values;
    }
};

using values = std::vector<int>;
} // namespace

TEST_CASE("given_audio: audio lies at the time of its capture")
{
    audio a;
    CHECK(a.read(990, 2) == values{0, 0});
    CHECK(a.push(1, 20, 1000, 1020));
    CHECK(a.push(2, 20, 1020, 1040));
    CHECK(a.read(990, 6) == values{0, 1, 1, 2, 2, 0});
}

TEST_CASE("given_audio: times of pushes")
{
    struct {
        const char *what;
        usec_t stamp, now; // of the second push of 40 ms, after one at 1000
        bool is_stamped, is_taken;
        values heard; // from 1000 on
    } rows[] = {
        {"jitter: late", 1070, 1110, true, true, {1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0}},
        {"jitter: early", 1020, 1060, true, true, {1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0}},
        {"a gap is silence", 1080, 1120, true, true, {1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0}},
        {"a longer one", 1081, 1121, true, true, {1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 2, 2}},
        {"what was there stays", 990, 1040, true, true, {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}},
        {"bursts without a stamp", 1001, 1001, false, true, {1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0}},
    };
    for (const auto &row : rows) {
        INFO(row.what);
        audio a;
        CHECK(a.push(1, 40, 1000, 1040));
        CHECK(a.push(2, 40, row.stamp, row.now, row.is_stamped) == row.is_taken);
        CHECK(a.read(1000, 12) == row.heard);
    }
}

TEST_CASE("given_audio: a program that pushes faster than time is refused")
{
    audio a;
    int taken = 0, refused = 0;
    for (int i = 0; i < 100; i++) // 2 s of audio at once
        (a.push(1, 20, 1000, 1000, false) ? taken : refused)++;
    CHECK(taken == 13); // 250 ms, and the one that goes beyond
    CHECK(refused == 87);
    CHECK(a.push(1, 20, 1020, 1020, false)); // as time goes on, so may the program
    CHECK_FALSE(a.push(1, 20, 1020, 1020, false));
    std::vector<int16_t> pcm((size_t)(GIVEN_AUDIO_MAX + 1) * AUDIO_CHANNELS);
    CHECK_FALSE(
        given_audio_push(a.a.get(), pcm.data(), GIVEN_AUDIO_MAX + 1, 5000 * MS, false, 5000 * MS));
}

TEST_CASE("given_audio: a program that has caught up is not ahead for ever")
{
    audio a;
    usec_t now = 1000;
    for (int i = 0; i < 12; i++) // after a stall of 240 ms
        CHECK(a.push(1, 20, now, now, false));
    auto ahead_ms = [&] { return (a.a->end - now * PER_MS) / PER_MS; };
    CHECK(ahead_ms() == 240);
    for (int i = 0; i < 80; i++, now += 20)
        CHECK(a.push(1, 20, now, now, false));
    CHECK(ahead_ms() == 240); // it may still be jitter
    for (int i = 0; i < 120; i++, now += 20)
        CHECK(a.push(1, 20, now, now, false));
    CHECK(ahead_ms() == 0);
    audio bursts; // that are no lead: the last of each second is not early
    for (now = 1000; now < 11000; now += 100)
        for (int i = 0; i < 5; i++)
            CHECK(bursts.push(1, 20, now, now, false));
    CHECK(bursts.a->end == 11000 * PER_MS);
}

TEST_CASE("given_audio: after a pause of minutes nothing of before is heard")
{
    audio a;
    CHECK(a.push(1, 1000, 1000, 1000, false));
    CHECK(a.push(2, 20, 300000, 300000, false));
    CHECK(a.read(299990, 4) == values{0, 2, 2, 0});
    CHECK(a.read(1000, 2) == values{0, 0});
}

TEST_CASE("given_audio: the ring keeps two seconds")
{
    audio a;
    for (int i = 0; i < 30; i++)
        CHECK(a.push((int16_t)(i + 1), 100, 1000 + 100 * i, 1100 + 100 * i));
    CHECK(a.read(1990, 2) == values{0, 11}); // 4000 ms is the end
    CHECK(a.read(3990, 2) == values{30, 0});
}

TEST_CASE("given_audio: the lag follows the pushes")
{
    const int interval = 33 * PER_MS;
    auto lag_ms = [&](const audio &a) { return given_audio_lag(a.a.get(), interval) / PER_MS; };
    audio captured; // pieces of 20 ms, pushed when they are whole
    for (int i = 0; i < 50; i++)
        captured.push(1, 20, 1000 + 20 * i, 1020 + 20 * i);
    CHECK(lag_ms(captured) == 33 + 20 + 5);
    audio present; // pieces whose time is that of the push
    for (int i = 0; i < 50; i++)
        present.push(1, 20, 1000 + 20 * i, 1000 + 20 * i, false);
    CHECK(lag_ms(present) == 33 + 5);
    audio ahead; // 100 ms before they are heard
    for (int i = 0; i < 95; i++)
        ahead.push(1, 20, 1000 + (i < 5 ? 0 : 20 * (i - 5)), 1000 + (i < 5 ? 0 : 20 * (i - 5)),
                   false);
    CHECK(given_audio_lag(ahead.a.get(), interval) == 1); // none is left
    present.push(1, 20, 2100, 2100, false);               // 80 ms late
    CHECK(lag_ms(present) >= 33 + 80);
    for (int i = 0; i < 200; i++)
        present.push(1, 20, 2120 + 20 * i, 2120 + 20 * i, false);
    CHECK(lag_ms(present) == 33 + 5); // it is forgotten
}
