// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "stream/audio/audio_jitter_buffer.h"
#include "tests/support/failing_alloc.hpp"

namespace
{

constexpr usec_t MS = USEC_PER_MSEC;

// A decoder whose samples are a tone in phase with media time, so that the test can tell what is
// played when; concealed samples are loud. A packet contains its position.
int samples_of(const uint8_t *, size_t len)
{
    return len >= sizeof(int64_t) ? AUDIO_PACKET : 0;
}

const int16_t CONCEALED = 20000;

int16_t tone(int64_t position)
{
    return static_cast<int16_t>(
        std::lrint(8000 * std::sin(2 * 3.14159265358979 * (position % 480) / 480)));
}

int decode(void *, const uint8_t *data, size_t, int16_t *out)
{
    int64_t position;
    std::memcpy(&position, data, sizeof(position));
    for (int i = 0; i < AUDIO_PACKET; i++)
        out[2 * i] = out[2 * i + 1] = tone(position + i);
    return AUDIO_PACKET;
}

int conceal(void *, int count, int16_t *out)
{
    std::fill(out, out + 2 * count, CONCEALED);
    return count;
}

void reset(void *) {}

const audio_decoding decoding = {samples_of, decode, conceal, reset};

struct rig {
    audio_jitter_buffer *s = audio_jitter_buffer_new(&decoding, nullptr);
    media_clock clock;
    usec_t at = 0;
    std::vector<int16_t> out; // left

    rig()
    {
        media_clock_init(&clock);
        media_clock_set(&clock, 0, 0);
    }
    ~rig()
    {
        audio_jitter_buffer_free(s);
    }
    void push(int from, int to, int but = -1) // packets
    {
        for (int64_t i = from; i < to; i++) {
            int64_t position = i * AUDIO_PACKET;
            if (i != but)
                audio_jitter_buffer_push(s, position, reinterpret_cast<uint8_t *>(&position),
                                         sizeof(position));
        }
    }
    void run()
    {
        audio_jitter_buffer_set_clock(s, &clock);
    }
    void pull(int ms, int piece = 10) // by pieces of that many ms
    {
        int count = AUDIO_RATE / 1000 * piece;
        std::vector<int16_t> pcm(static_cast<size_t>(2 * count));
        for (int done = 0; done < ms; done += piece, at += piece * MS) {
            audio_jitter_buffer_pull(s, pcm.data(), count, at);
            for (int i = 0; i < count; i++)
                out.push_back(pcm[static_cast<size_t>(2 * i)]);
        }
    }
    bool silent(int from_ms, int to_ms) const
    {
        return std::all_of(out.begin() + 48 * from_ms, out.begin() + 48 * to_ms,
                           [](int16_t v) { return v == 0; });
    }
    int64_t concealed() const
    {
        return std::count(out.begin(), out.end(), CONCEALED);
    }
    const audio_counts &counts() const
    {
        return *audio_jitter_buffer_counts(s);
    }
};

} // namespace

TEST_CASE("audio_jitter_buffer: on a clean path each sample is played at the clock's time")
{
    rig r;
    r.push(0, 50);
    r.run();
    r.pull(900);
    for (int i = 480; i < 48 * 900; i++) // after the fade
        REQUIRE(r.out[static_cast<size_t>(i)] == tone(i));
    CHECK(r.counts().heard == 48 * 900);
    CHECK(r.counts().underruns == 0);
    CHECK(r.counts().concealed == 0);
    CHECK(r.counts().spliced == 0);
    usec_t at;
    REQUIRE(audio_jitter_buffer_heard_at(r.s, 48 * 123, &at));
    CHECK(at == 123 * MS);
    CHECK_FALSE(audio_jitter_buffer_heard_at(r.s, 48 * 901, &at));
}

TEST_CASE("audio_jitter_buffer: packets in any order are accepted; a duplicate is refused")
{
    rig r;
    r.push(2, 10);
    r.push(0, 2);
    r.push(3, 4);
    CHECK(r.counts().refused == 1);
    uint8_t broken[3] = {};
    audio_jitter_buffer_push(r.s, 0, broken, sizeof(broken));
    CHECK(r.counts().refused == 2);
    r.run();
    r.pull(150);
    CHECK(r.out[48 * 100] == tone(48 * 100));
    CHECK(r.counts().concealed == 0);
}

TEST_CASE("audio_jitter_buffer: it begins at the clock's position and drops earlier audio")
{
    rig r;
    r.push(0, 50);
    media_clock_set(&r.clock, 500 * MS, 0); // the pictures begin half a second in
    r.run();
    r.pull(100);
    CHECK(r.out[48 * 50] == tone(48 * 550));
    CHECK(r.counts().late == 0); // nobody missed them
}

TEST_CASE("audio_jitter_buffer: before the first packet there is silence, and no underrun")
{
    rig r;
    r.push(5, 20); // from 100 ms on
    r.run();
    r.pull(200);
    CHECK(r.silent(0, 100));
    CHECK(r.out[48 * 150] == tone(48 * 150));
    CHECK(r.counts().underruns == 0);
    CHECK(r.counts().heard == 48 * 100);
}

TEST_CASE("audio_jitter_buffer: a lost packet is concealed, exactly where it is missing")
{
    rig r;
    r.push(0, 20, 7);
    r.run();
    r.pull(300);
    CHECK(r.concealed() == AUDIO_PACKET);
    CHECK(r.out[7 * AUDIO_PACKET] == CONCEALED);
    CHECK(r.out[8 * AUDIO_PACKET] == tone(8 * AUDIO_PACKET));
    CHECK(r.counts().concealed == AUDIO_PACKET);
    CHECK(r.counts().underruns == 0);
    r.push(7, 8);
    CHECK(r.counts().late == 1);
}

TEST_CASE("audio_jitter_buffer: when nothing is there it is one underrun, concealed for 60 ms and "
          "then silent")
{
    rig r;
    r.push(0, 5); // 100 ms
    r.run();
    r.pull(300);
    CHECK(r.concealed() >= 3 * AUDIO_PACKET - 5 * 48); // the last 5 ms fade
    CHECK(std::abs(r.out[48 * 160 - 2]) < CONCEALED / 50);
    CHECK(r.silent(160, 300));
    CHECK(r.counts().underruns == 1);
    r.push(15, 30); // it goes on, in time
    r.pull(100);
    CHECK(r.out[48 * 350] == tone(48 * 350));
    r.pull(400);
    CHECK(r.counts().underruns == 2);
}

TEST_CASE("audio_jitter_buffer: after the silence of an underrun audio fades in")
{
    rig r;
    r.push(0, 5);
    r.run();
    r.pull(250);
    r.push(13, 30);
    r.pull(100);
    int at = 48 * 260;
    CHECK(std::abs(r.out[static_cast<size_t>(at)]) < 100);
    CHECK(std::abs(r.out[static_cast<size_t>(at + 120)]) <= std::abs(tone(at + 120)) / 2 + 1);
    CHECK(r.out[static_cast<size_t>(at + 480)] == tone(at + 480));
}

TEST_CASE("audio_jitter_buffer: a late packet is waited for, and then played whole")
{
    rig r;
    r.push(0, 5); // up to 100 ms
    r.run();
    r.pull(120);
    CHECK(r.concealed() == 48 * 20);
    r.push(5, 40); // the first one should have come 20 ms ago
    r.pull(10);
    CHECK(r.out[48 * 120] == tone(48 * 100));
    CHECK(r.out[48 * 125] == tone(48 * 105));
    r.pull(400);
    CHECK(r.concealed() == 48 * 20);
    CHECK(r.counts().late == 0);
    CHECK(r.counts().underruns == 1);
    CHECK(r.counts().spliced >= 1); // it caught up
    usec_t heard;
    REQUIRE(audio_jitter_buffer_heard_at(r.s, 48 * 500, &heard));
    CHECK(std::abs(heard - 500 * MS) <= 10 * MS);
}

TEST_CASE("audio_jitter_buffer: waiting for a packet that is lost delays nothing")
{
    rig r;
    r.push(0, 5);
    r.run();
    r.pull(120);
    r.push(6, 40);
    r.pull(400);
    CHECK(r.concealed() == AUDIO_PACKET);
    CHECK(r.counts().spliced == 0);
    CHECK(r.out[48 * 130] == tone(48 * 130));
}

TEST_CASE("audio_jitter_buffer: the rest of a packet that is very late is played, without a seam")
{
    rig r;
    r.push(0, 5); // up to 100 ms
    r.run();
    r.pull(150); // it waits for 40 ms
    CHECK(r.concealed() == 48 * 50);
    r.push(5, 40);
    r.pull(10);
    CHECK(r.counts().late == 0);
    // 2.5 ms fade from what is concealed further; then it catches up.
    CHECK(r.out[48 * 150] == CONCEALED);
    CHECK(std::abs(r.out[48 * 153]) <= 8000);
    for (int i = 48 * 150; i < 48 * 160; i++) {
        int step = r.out[static_cast<size_t>(i)] - r.out[static_cast<size_t>(i - 1)];
        REQUIRE(std::abs(step) < 2 * CONCEALED / 120 + 150);
    }
}

TEST_CASE("audio_jitter_buffer: while it is ahead of the clock, an underrun costs no audio")
{
    rig r;
    // Each packet of 20 ms arrives just in time. After half a second the path is 30 ms longer, and
    // so the clock is postponed.
    const int change = 500, longer = 30;
    for (int now = 0; now < 1000; now += 10) {
        media_clock_set(&r.clock, 0, now < change ? 0 : longer * MS);
        r.run();
        int begins = now < change ? now : now - longer;
        if (begins % 20 == 0 && (now < change || begins >= change))
            r.push(begins / 20, begins / 20 + 1);
        r.pull(10);
    }
    CHECK(r.counts().late == 0);
    CHECK(r.counts().jumps == 0);
    CHECK(r.concealed() > 0);
    CHECK(r.concealed() <= 48 * longer + 480);
    usec_t heard;
    REQUIRE(audio_jitter_buffer_heard_at(r.s, 48 * 950, &heard));
    CHECK(std::abs(heard - (950 + longer) * MS) <= 10 * MS);
}

TEST_CASE("audio_jitter_buffer: the end of the stream is no underrun")
{
    rig r;
    r.push(0, 5);
    r.run();
    audio_jitter_buffer_end(r.s);
    r.pull(300);
    CHECK(r.counts().underruns == 0);
    CHECK(r.concealed() == 0);
}

TEST_CASE(
    "audio_jitter_buffer: a stall is silence after a fade; then audio continues with the video")
{
    rig r;
    r.push(0, 100);
    r.run();
    r.pull(200);
    audio_jitter_buffer_set_clock(r.s, nullptr);
    r.pull(300);
    CHECK(r.silent(206, 500)); // the fade takes 5 ms
    CHECK(std::abs(r.out[48 * 201]) <= std::abs(tone(48 * 201)));
    CHECK(r.counts().concealed == 0);
    media_clock_set(&r.clock, 210 * MS, 500 * MS);
    r.run();
    r.pull(100);
    CHECK(r.out[48 * 550] == tone(48 * 260));
    CHECK(r.counts().jumps == 0);
    CHECK(r.counts().underruns == 0);
}

TEST_CASE("audio_jitter_buffer: a skip or a seek restarts at the clock's position")
{
    rig r;
    r.push(0, 200);
    r.run();
    r.pull(200);
    media_clock_set(&r.clock, 3000 * MS, r.at);
    r.run();
    r.pull(100);
    CHECK(r.counts().jumps == 1);
    CHECK(r.out[48 * 280] == tone(48 * 3080));
}

TEST_CASE("audio_jitter_buffer: at another speed it stays within 15 ms, with unchanged pitch")
{
    for (int ppm : {1050000, 950000, 1000200}) {
        INFO("speed " << ppm);
        rig r;
        r.push(0, 700); // 14 s
        media_clock_set_speed(&r.clock, ppm, 0);
        r.run();
        usec_t most = 0;
        for (int i = 0; i < 1000; i++) {
            r.pull(10);
            usec_t at;
            int64_t position = audio_samples(media_clock_position(&r.clock, r.at - 5 * MS));
            if (i > 5 && audio_jitter_buffer_heard_at(r.s, position, &at))
                most = std::max(most, std::abs(at - (r.at - 5 * MS)));
        }
        CHECK(most <= 15 * MS);
        CHECK(r.counts().underruns == 0);
        CHECK(r.counts().concealed == 0);
        // 100 Hz: 2 zero crossings per period at any speed.
        int crossings = 0;
        for (size_t i = 1; i < r.out.size(); i++)
            crossings += (r.out[i - 1] < 0) != (r.out[i] < 0);
        CHECK(crossings == Approx(2000).margin(30)); // 5 % would be 100
        if (std::abs(ppm - 1000000) < 1000)
            CHECK(r.counts().spliced == 0); // 2 ms in 10 s are within the tolerance
        else
            CHECK(r.counts().spliced >= 500 / 13); // 0.5 s, by 12.5 ms at most
    }
}

TEST_CASE("audio_jitter_buffer: a film that is played faster or slower keeps its pitch")
{
    for (int ppm : {500000, 750000, 1250000, 1500000, 2000000})
        for (int piece : {5, 10, 21, 50}) {
            CAPTURE(ppm, piece);
            rig r;
            r.push(0, 600); // 12 s
            media_clock_set_speed(&r.clock, ppm, 0);
            r.run();
            usec_t most = 0;
            for (int ms = 0; ms + piece <= 5000; ms += piece) {
                r.pull(piece, piece);
                usec_t at, now = r.at - 3 * MS;
                int64_t position = audio_samples(media_clock_position(&r.clock, now));
                if (ms > 50 && audio_jitter_buffer_heard_at(r.s, position, &at))
                    most = std::max(most, std::abs(at - now));
            }
            CHECK(most <= 30 * MS);
            CHECK(r.counts().jumps == 0);
            CHECK(r.counts().concealed == 0);
            CHECK(r.counts().heard >= 48 * 4900);
            // 100 Hz: as many periods as at speed 1.
            int crossings = 0;
            for (size_t i = 1; i < r.out.size(); i++)
                crossings += (r.out[i - 1] < 0) != (r.out[i] < 0);
            CHECK(crossings == Approx(1000).margin(30)); // the pitch of .97 would be 30 less
        }
}

TEST_CASE("audio_jitter_buffer: the device's drift is corrected")
{
    rig r;
    r.push(0, 800);
    r.run();
    // The device takes 10 ms of samples each 10.02 ms: 2000 ppm slow.
    std::vector<int16_t> pcm(960);
    usec_t at = 0;
    for (int i = 0; i < 1200; i++, at += 10020)
        audio_jitter_buffer_pull(r.s, pcm.data(), 480, at);
    usec_t heard;
    REQUIRE(audio_jitter_buffer_heard_at(r.s, audio_samples(at - 100 * MS), &heard));
    CHECK(std::abs(heard - (at - 100 * MS)) <= 15 * MS);
    CHECK(r.counts().jumps == 0);
    CHECK(r.counts().spliced > 0);
}

TEST_CASE("audio_jitter_buffer: the buffer is bounded; the packet needed last is dropped")
{
    rig r;
    r.push(1, AUDIO_MAX_PACKETS + 1);
    CHECK(r.counts().refused == 0);
    r.push(AUDIO_MAX_PACKETS + 1, AUDIO_MAX_PACKETS + 2);
    CHECK(r.counts().refused == 1);
    r.push(0, 1); // the last of those held makes room
    CHECK(r.counts().refused == 2);
    r.run();
    r.pull(100);
    CHECK(r.out[48 * 50] == tone(48 * 50));
}

TEST_CASE("audio_jitter_buffer: large packets fill it early")
{
    rig r;
    std::vector<uint8_t> large(65536);
    for (int64_t i = 1; i <= 200; i++) {
        int64_t position = i * AUDIO_PACKET;
        std::memcpy(large.data(), &position, sizeof(position));
        audio_jitter_buffer_push(r.s, position, large.data(), large.size());
    }
    CHECK(r.counts().refused == 200 - AUDIO_MAX_BYTES / 65536);
    r.push(0, 1); // the one needed last goes for it
    CHECK(r.counts().refused == 200 - AUDIO_MAX_BYTES / 65536 + 1);
    r.run();
    r.pull(20);
    CHECK(r.out[48 * 10] == tone(48 * 10));
    r.push(300, 301); // there is room again
    CHECK(r.counts().refused == 200 - AUDIO_MAX_BYTES / 65536 + 1);
}

TEST_CASE("audio_jitter_buffer: without memory there is none")
{
    CHECK(each_allocation_fails([] { return audio_jitter_buffer_new(&decoding, nullptr); },
                                audio_jitter_buffer_free) == 2);
}

TEST_CASE("audio_jitter_buffer: what does not decode, and is not concealed, is silent")
{
    rig r;
    audio_jitter_buffer_free(r.s);
    static const audio_decoding broken = {
        samples_of, [](void *, const uint8_t *, size_t, int16_t *) { return -1; },
        [](void *, int, int16_t *) { return 0; }, reset};
    r.s = audio_jitter_buffer_new(&broken, nullptr);
    REQUIRE(r.s);
    r.push(0, 10, 4);
    r.run();
    r.pull(200);
    CHECK(r.silent(0, 200));
    CHECK(r.counts().concealed >= 200 * 48);
    CHECK(r.counts().underruns == 0);
    CHECK(r.counts().refused == 0);
}

TEST_CASE(
    "audio_jitter_buffer: a few samples more and nothing else: each piece is as long as asked")
{
    for (int samples : {1, 7, 239, 240, 241, int(AUDIO_MAX_PULL)}) {
        CAPTURE(samples);
        rig r;
        r.push(0, 2);
        r.run();
        std::vector<int16_t> pcm(static_cast<size_t>(2 * samples) + 2, 77);
        for (int done = 0; done < AUDIO_RATE / 10; done += samples) {
            audio_jitter_buffer_pull(r.s, pcm.data(), samples, r.at);
            r.at = (usec_t)(done + samples) * USEC_PER_SEC / AUDIO_RATE;
        }
        CHECK(pcm[static_cast<size_t>(2 * samples)] == 77);
        CHECK(r.counts().underruns == 1);
        audio_jitter_buffer_set_clock(r.s, nullptr);
        audio_jitter_buffer_pull(r.s, pcm.data(), samples, r.at);
        audio_jitter_buffer_pull(r.s, pcm.data(), samples, r.at);
        CHECK_FALSE(audio_jitter_buffer_is_heard(r.s));
    }
}
