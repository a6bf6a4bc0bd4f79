// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <string>

#include "stream/goddard/goddard.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;

// The levels of the paper's Figure 6; the policy uses only their bitrates.
ladder figure_6()
{
    const int kbps[] = {80, 120, 240, 320, 640, 960, 1920};
    ladder l{};
    l.level_count = 7;
    for (int i = 0; i < 7; i++)
        l.levels[i].bitrate_bps = kbps[i] * 1000;
    return l;
}

struct client {
    goddard g;
    goddard_action last{}; // the last thing asked for
    int asked = 0;         // how often anything was

    explicit client(goddard_probe probe = GODDARD_BY_PAIR, int start_level = 0,
                    bool loses_frames = true, const char *params_text = "",
                    bool plays_early = false)
    {
        goddard_params params;
        char error[GODDARD_PARAMS_ERROR];
        goddard_params_init(&params);
        REQUIRE(goddard_params_read(params_text, &params, error, sizeof(error)) == 0);
        const ladder l = figure_6();
        const goddard_config c = {&l, &params, probe, start_level, loses_frames, plays_early};
        goddard_init(&g, &c, 0);
        drain();
    }
    void drain()
    {
        while (goddard_poll(&g, &last))
            asked++;
    }
    void pair(usec_t dispersion, usec_t now, size_t bytes = 1000)
    {
        const goddard_pair p = {{now - dispersion, now}, {bytes, bytes}};
        goddard_on_pair(&g, &p, now);
        drain();
    }
    void frames(int received, int lost, usec_t now, int64_t bytes = 0, int late = 0)
    {
        const goddard_frames f = {received, lost, late, bytes};
        goddard_on_frames(&g, &f, now);
        drain();
    }
    void buffer(usec_t held, usec_t now)
    {
        goddard_on_buffer(&g, held, now);
        drain();
    }
    void empty(usec_t now)
    {
        goddard_on_empty(&g, now);
        drain();
    }
    void timeout(usec_t now)
    {
        goddard_on_timeout(&g, now);
        drain();
    }
    // Returns `last` as one line: "state reason level speed".
    std::string said() const
    {
        char text[80];
        snprintf(text, sizeof(text), "%s %s %d %.1f", goddard_state_name(last.state),
                 goddard_reason_name(last.reason), last.level, last.speed);
        return text;
    }
};

// Streams at `level` from 1 s on, decided at 0. The first media arrived faster than any level, so
// the capacity is unknown and does not limit.
client streaming(int level, const char *params_text = "")
{
    client c(GODDARD_BY_MEDIA, level, true, params_text);
    goddard_on_media_rate(&c.g, 2e6, 0);
    c.drain();
    c.buffer(5 * sec, 1 * sec);
    REQUIRE(c.last.state == GODDARD_STREAMING);
    REQUIRE(c.last.level == level);
    c.asked = 0;
    return c;
}

// Reports one frame every 100 ms in (from, to], without loss.
void steady(client &c, usec_t from, usec_t to, int64_t bytes = 1000)
{
    for (usec_t t = from + 100 * ms; t <= to; t += 100 * ms)
        c.frames(1, 0, t, bytes);
}
} // namespace

TEST_CASE("goddard: a pair is requested at once, and again at each timeout")
{
    client c;
    CHECK(c.said() == "probe probe -1 1.5");
    CHECK(c.last.ask_pair);
    CHECK(std::isnan(goddard_capacity_bps(&c.g)));
    for (int i = 1; i < GODDARD_TRIES; i++) {
        CHECK(goddard_next_timeout(&c.g) == i * 2 * sec);
        c.timeout(i * 2 * sec - 1);
        CHECK(c.asked == i);
        c.timeout(i * 2 * sec);
        CHECK(c.asked == i + 1);
        CHECK(c.last.ask_pair);
    }
    c.timeout(10 * sec);
    CHECK(c.said() == "buffering no-capacity 0 1.5");
    CHECK_FALSE(c.last.ask_pair);
    CHECK(goddard_next_timeout(&c.g) == USEC_NEVER);
}

TEST_CASE("goddard: a server without pairs ends the probe at once")
{
    client c;
    goddard_on_no_pair(&c.g, 50 * ms);
    c.drain();
    CHECK(c.said() == "buffering no-capacity 0 1.5");
    goddard_on_no_pair(&c.g, 60 * ms);
    CHECK_FALSE(goddard_poll(&c.g, &c.last));
}

TEST_CASE("goddard: the first level is the highest below the capacity")
{
    struct row {
        usec_t dispersion; // of 1000-byte packets: capacity = 8e9 / it, in bit/s
        int level;
        double bps;
    };
    const row rows[] = {
        {0, 6, 8e9},                                  // faster than the clock can tell
        {1, 6, 8e9},           {4166, 6, 8e9 / 4166}, // just above the 1920 kbit/s of level 6
        {4167, 5, 8e9 / 4167},                        // just below
        {12500, 3, 640e3},                            // level 4 has 640 kbit/s: not below
        {25000, 2, 320e3},     {100000, 0, 80e3},     {1000000, 0, 8e3}, // nothing is below
    };
    for (const row &r : rows) {
        CAPTURE(r.dispersion);
        client c;
        c.pair(r.dispersion, 100 * ms);
        CHECK(goddard_capacity_bps(&c.g) == Approx(r.bps));
        CHECK(c.last.level == r.level);
        CHECK(c.last.from == -1);
        CHECK(c.last.reason == GODDARD_WHY_CAPACITY);
        CHECK(c.last.state == GODDARD_BUFFERING);
        CHECK(c.last.speed == 1.5);
    }
}

TEST_CASE("goddard: a pair in the wrong order is ignored")
{
    client c;
    c.pair(-10 * ms, 100 * ms);
    CHECK(c.said() == "probe probe -1 1.5");
    CHECK(c.asked == 2);
    CHECK(goddard_next_timeout(&c.g) == 2100 * ms);
    for (int i = 0; i < GODDARD_TRIES - 1; i++)
        c.pair(-10 * ms, 200 * ms);
    CHECK(c.said() == "buffering no-capacity 0 1.5");
    c.pair(10 * ms, 300 * ms); // late, but it tells the capacity
    CHECK(goddard_capacity_bps(&c.g) == Approx(800e3));
    c.pair(1 * ms, 300 * ms); // one is enough
    CHECK(goddard_capacity_bps(&c.g) == Approx(800e3));
    CHECK(c.said() == "buffering no-capacity 0 1.5");
}

TEST_CASE("goddard: without datagrams the rate of the first media is the capacity")
{
    struct row {
        int start;
        double bps;
        int level;
        double capacity; // NaN: the media was slower than the path
    };
    const row rows[] = {{6, 300e3, 2, 300e3}, {6, 1920e3, 5, 1920e3}, {6, 2500e3, 6, NAN},
                        {3, 400e3, 3, NAN},   {3, 100e3, 0, 100e3},   {6, 10e3, 0, 10e3}};
    for (const row &r : rows) {
        CAPTURE(r.start, r.bps);
        client c(GODDARD_BY_MEDIA, r.start);
        CHECK(c.last.state == GODDARD_PROBE);
        CHECK(c.last.level == r.start);
        CHECK(c.last.speed == 1.5);
        CHECK_FALSE(c.last.ask_pair);
        goddard_on_media_rate(&c.g, 0, 100 * ms);
        CHECK(c.asked == 1);
        goddard_on_media_rate(&c.g, r.bps, 200 * ms);
        c.drain();
        CHECK(c.last.level == r.level);
        CHECK(c.last.from == r.start);
        CHECK(c.last.state == GODDARD_BUFFERING);
        if (std::isnan(r.capacity))
            CHECK(std::isnan(goddard_capacity_bps(&c.g)));
        else
            CHECK(goddard_capacity_bps(&c.g) == r.capacity);
    }
}

TEST_CASE("goddard: media that does not arrive also ends the probe")
{
    client c(GODDARD_BY_MEDIA, 6);
    for (int i = 1; i <= GODDARD_TRIES; i++)
        c.timeout(i * 2 * sec);
    CHECK(c.said() == "buffering no-capacity 0 1.5");
    CHECK(c.asked == 2);
}

TEST_CASE("goddard: buffering ends at play_buf_thresh, once")
{
    client c;
    c.pair(4 * ms, 0); // 2 Mbit/s
    c.buffer(4999 * ms, 3 * sec);
    CHECK(c.said() == "buffering capacity 6 1.5");
    c.buffer(5000 * ms, 3 * sec);
    CHECK(c.said() == "streaming buffered 6 1.0");
    CHECK(c.last.from == 6);
    const int asked = c.asked;
    c.buffer(6000 * ms, 4 * sec);
    c.buffer(0, 5 * sec); // a short buffer is no empty one
    CHECK(c.asked == asked);
}

TEST_CASE("goddard: rebuffering takes the highest level below the throughput, never a higher one")
{
    struct row {
        int level;
        int64_t bytes; // each 100 ms for 10 s: 80 bit/s a byte
        int to;
    };
    const row rows[] = {
        {6, 4500, 3},  // 360 kbit/s
        {6, 3800, 2},  // 304 kbit/s
        {6, 0, 0},     // nothing came
        {2, 2500, 1},  // 200 kbit/s
        {2, 4500, 2},  // enough for its own level
        {2, 90000, 2}, // enough for more
        {0, 4500, 0},
    };
    for (const row &r : rows) {
        CAPTURE(r.level, r.bytes);
        client c = streaming(r.level);
        steady(c, 1 * sec, 11 * sec, r.bytes);
        c.asked = 0;
        c.empty(11 * sec);
        CHECK(c.asked == 1);
        CHECK(c.last.state == GODDARD_REBUFFERING);
        CHECK(c.last.reason == GODDARD_WHY_REBUFFER);
        CHECK(c.last.from == r.level);
        CHECK(c.last.level == r.to);
        CHECK(c.last.speed == 1.5);
        c.empty(12 * sec); // it is empty still
        CHECK(c.asked == 1);
        c.buffer(5 * sec, 15 * sec);
        CHECK(c.last.state == GODDARD_STREAMING);
        CHECK(c.last.speed == 1.0);
    }
}

TEST_CASE("goddard: an empty buffer before playout is no rebuffering")
{
    client c;
    c.empty(0);
    c.pair(4 * ms, 0);
    c.empty(1 * sec);
    CHECK(c.said() == "buffering capacity 6 1.5");
}

TEST_CASE("goddard: loss above the limit lowers the level by one, once per interval")
{
    client c = streaming(3); // decided at 0
    c.frames(94, 6, 4999 * ms);
    CHECK(c.asked == 0); // 6 % of loss, but too soon
    c.frames(1, 0, 5000 * ms);
    CHECK(c.said() == "streaming loss 2 1.0"); // 6 of 101
    CHECK(c.last.from == 3);
    c.frames(50, 50, 9999 * ms);
    CHECK(c.asked == 1);
    c.frames(1, 0, 10 * sec);
    CHECK(c.said() == "streaming loss 1 1.0");
    c.frames(50, 50, 15 * sec);
    CHECK(c.said() == "streaming loss 0 1.0");
    c.frames(50, 50, 20 * sec); // there is no lower level
    CHECK(c.said() == "streaming loss 0 1.0");
    CHECK(c.asked == 3);
}

TEST_CASE("goddard: five lost of a hundred are not above 0.05; late frames count as lost")
{
    client c = streaming(3);
    c.frames(95, 5, 6 * sec);
    CHECK(c.asked == 0);
    c.frames(0, 0, 6 * sec, 0, 1);
    CHECK(c.said() == "streaming loss 2 1.0"); // 6 of 101
}

TEST_CASE("goddard: losses before the last decision, or older than an interval, do not count")
{
    client c = streaming(3);
    c.frames(0, 100, 1 * sec);
    steady(c, 1 * sec, 4 * sec);
    c.frames(100, 0, 6 * sec); // the loss is an interval old
    CHECK(c.asked == 0);
    c.frames(0, 50, 7 * sec);
    CHECK(c.said() == "streaming loss 2 1.0");
    c.frames(100, 0, 12 * sec); // the loss at 7 s led to the decision at 7 s
    CHECK(c.asked == 1);
}

TEST_CASE("goddard: loss while buffering also lowers the level, and the speed stays")
{
    client c;
    c.pair(4 * ms, 0);
    c.frames(50, 50, 5 * sec);
    CHECK(c.said() == "buffering loss 5 1.5");
}

TEST_CASE("goddard: one level up after each upscale_interval with little loss")
{
    client c = streaming(2); // decided at 0
    steady(c, 1 * sec, 59900 * ms);
    CHECK(c.asked == 0);
    steady(c, 59900 * ms, 60 * sec);
    CHECK(c.said() == "streaming upscale 3 1.0");
    CHECK(c.last.from == 2);
    steady(c, 60 * sec, 300 * sec); // at 120, 180 and 240 s
    CHECK(c.said() == "streaming upscale 6 1.0");
    CHECK(c.asked == 4);
    steady(c, 300 * sec, 400 * sec);
    CHECK(c.asked == 4);
}

TEST_CASE("goddard: one lost of a hundred is not below 0.01; loss counts since the decision")
{
    client c = streaming(2);
    c.frames(990, 10, 50 * sec);
    c.frames(0, 0, 60 * sec);
    CHECK(c.asked == 0);
    c.frames(1, 0, 61 * sec); // 10 of 1001
    CHECK(c.said() == "streaming upscale 3 1.0");
}

TEST_CASE("goddard: no level above the capacity; one equal to it is allowed")
{
    client equal;
    equal.pair(12500, 0); // 640 kbit/s: begins at 3
    equal.buffer(5 * sec, 1 * sec);
    steady(equal, 1 * sec, 200 * sec);
    CHECK(equal.said() == "streaming upscale 4 1.0");
    client below;
    below.pair(12501, 0);
    below.buffer(5 * sec, 1 * sec);
    steady(below, 1 * sec, 200 * sec);
    CHECK(below.said() == "streaming buffered 3 1.0");
}

TEST_CASE("goddard: buffering does not go up")
{
    client c;
    c.pair(12500, 0); // 640 kbit/s, enough for level 4
    steady(c, 0, 100 * sec);
    CHECK(c.said() == "buffering capacity 3 1.5");
}

TEST_CASE("goddard: after rebuffering the limit is one level below, until it is raised")
{
    client c = streaming(4);
    steady(c, 1 * sec, 10 * sec, 3100); // 248 kbit/s
    c.empty(10 * sec);
    CHECK(c.last.level == 2);
    c.buffer(5 * sec, 15 * sec);
    c.asked = 0;
    // Up to 3 at 70 s. 4 would come at 130 s; the limit goes there at 10 + 3 x 60 = 190 s.
    steady(c, 15 * sec, 69900 * ms);
    CHECK(c.asked == 0);
    steady(c, 69900 * ms, 189900 * ms);
    CHECK(c.said() == "streaming upscale 3 1.0");
    CHECK(c.asked == 1);
    steady(c, 189900 * ms, 190 * sec);
    CHECK(c.said() == "streaming upscale 4 1.0");
    // 5 is beyond the limit again, until 370 s.
    steady(c, 190 * sec, 369900 * ms);
    CHECK(c.asked == 2);
    steady(c, 369900 * ms, 370 * sec);
    CHECK(c.said() == "streaming upscale 5 1.0");
}

TEST_CASE("goddard: scaling down postpones raising the limit")
{
    client c = streaming(4);
    steady(c, 1 * sec, 10 * sec, 3100);
    c.empty(10 * sec); // to 2; limit 3
    c.buffer(5 * sec, 15 * sec);
    steady(c, 15 * sec, 100 * sec); // 3 at 70 s
    REQUIRE(c.last.level == 3);
    c.frames(0, 50, 100 * sec); // down at 100 s: the limit stays until 280 s
    REQUIRE(c.last.level == 2);
    steady(c, 100 * sec, 279900 * ms); // 3 again at 160 s
    CHECK(c.said() == "streaming upscale 3 1.0");
    steady(c, 279900 * ms, 280 * sec);
    CHECK(c.said() == "streaming upscale 4 1.0");
}

TEST_CASE("goddard: rebuffering at the lowest level holds it there")
{
    client c = streaming(0);
    steady(c, 1 * sec, 10 * sec);
    c.empty(10 * sec);
    CHECK(c.said() == "rebuffering rebuffer 0 1.5");
    c.buffer(5 * sec, 15 * sec);
    steady(c, 15 * sec, 189900 * ms);
    CHECK(c.last.level == 0);
    steady(c, 189900 * ms, 190 * sec);
    CHECK(c.said() == "streaming upscale 1 1.0");
}

TEST_CASE("goddard: over transports without loss only rebuffering scales")
{
    client c(GODDARD_BY_MEDIA, 3, false);
    goddard_on_media_rate(&c.g, 400e3, 200 * ms);
    c.drain();
    c.buffer(5 * sec, 3 * sec);
    steady(c, 3 * sec, 200 * sec);
    c.frames(0, 100, 201 * sec);
    CHECK(c.said() == "streaming buffered 3 1.0");
    c.empty(210 * sec); // nothing came in the last interval
    CHECK(c.said() == "rebuffering rebuffer 0 1.5");
}

TEST_CASE("goddard: a seek fills the buffer again at the same level")
{
    client c = streaming(3);
    goddard_on_flush(&c.g, 10 * sec);
    c.drain();
    CHECK(c.said() == "buffering flush 3 1.5");
    c.empty(11 * sec);
    CHECK(c.said() == "buffering flush 3 1.5");
    c.buffer(5 * sec, 12 * sec);
    CHECK(c.said() == "streaming buffered 3 1.0");
}

TEST_CASE("goddard: the policy's time stops while the user pauses")
{
    client c = streaming(2);
    steady(c, 1 * sec, 50 * sec);
    goddard_on_pause(&c.g, 50 * sec);
    goddard_on_pause(&c.g, 60 * sec);
    goddard_on_resume(&c.g, 1050 * sec);
    goddard_on_resume(&c.g, 1060 * sec);
    steady(c, 1050 * sec, 1059900 * ms);
    CHECK(c.asked == 0);
    steady(c, 1059900 * ms, 1060 * sec);
    CHECK(c.said() == "streaming upscale 3 1.0");

    client p;
    goddard_on_pause(&p.g, 1 * sec);
    CHECK(goddard_next_timeout(&p.g) == USEC_NEVER);
    goddard_on_resume(&p.g, 11 * sec);
    CHECK(goddard_next_timeout(&p.g) == 12 * sec);
}

TEST_CASE("goddard: the parameters are used")
{
    const char text[] = "buf_factor=2,play_buf_thresh=1,loss_monitor_interval=1,"
                        "downscale_frame_loss_rate=0.5,upscale_interval=10,"
                        "upscale_frame_loss_rate=0.4,pkp_timeout_interval=1";
    client c(GODDARD_BY_PAIR, 0, true, text);
    CHECK(goddard_next_timeout(&c.g) == 1 * sec);
    c.pair(20 * ms, 0);
    CHECK(c.said() == "buffering capacity 3 2.0");
    c.buffer(1 * sec, 1 * sec);
    CHECK(c.said() == "streaming buffered 3 1.0");
    c.frames(49, 51, 1 * sec);
    CHECK(c.said() == "streaming loss 2 1.0");
    c.frames(61, 39, 11 * sec);
    CHECK(c.said() == "streaming upscale 3 1.0");
}

TEST_CASE("goddard: a player that began early may run out of frames while the buffer fills")
{
    client c(GODDARD_BY_MEDIA, 6, true, "", true);
    goddard_on_media_rate(&c.g, 2e6, 200 * ms);
    c.drain();
    REQUIRE(c.said() == "buffering capacity 6 1.5");
    steady(c, 200 * ms, 5 * sec, 3100);
    c.empty(5 * sec); // the decision is 4.8 s old
    CHECK(c.said() == "buffering capacity 6 1.5");
    steady(c, 5 * sec, 6 * sec, 3100); // 248 kbit/s
    c.empty(6 * sec);
    CHECK(c.said() == "rebuffering rebuffer 2 1.5");
    c.empty(7 * sec);
    CHECK(c.asked == 3);
    c.empty(11 * sec);
    CHECK(c.said() == "rebuffering rebuffer 0 1.5"); // nothing came
}

TEST_CASE("goddard: a capacity that the first media told is outdated after a while")
{
    client c(GODDARD_BY_MEDIA, 6);
    goddard_on_media_rate(&c.g, 300e3, 0);
    c.drain();
    c.buffer(5 * sec, 1 * sec);
    REQUIRE(c.said() == "streaming buffered 2 1.0");
    steady(c, 1 * sec, 179900 * ms);
    CHECK(c.last.level == 2);
    steady(c, 179900 * ms, 180 * sec);
    CHECK(c.said() == "streaming upscale 3 1.0");
    steady(c, 180 * sec, 359900 * ms);
    CHECK(c.last.level == 3);
    steady(c, 359900 * ms, 360 * sec);
    CHECK(c.said() == "streaming upscale 4 1.0");
    c.frames(0, 50, 366 * sec); // the trial failed: the next one comes after 2 x 180 s
    REQUIRE(c.said() == "streaming loss 3 1.0");
    steady(c, 366 * sec, 725900 * ms);
    CHECK(c.last.level == 3);
    steady(c, 725900 * ms, 726 * sec);
    CHECK(c.said() == "streaming upscale 4 1.0");
    client pair;                     // a pair measures the path itself
    pair.pair(80000 * ms / 2400, 0); // 240 kbit/s
    pair.buffer(5 * sec, 1 * sec);
    steady(pair, 1 * sec, 400 * sec);
    CHECK(pair.last.level == 2);
}

TEST_CASE("goddard: loss at the lowest level does not rule out going up once it has ended")
{
    client c = streaming(0);
    c.frames(0, 300, 10 * sec);
    CHECK(c.asked == 0);
    steady(c, 10 * sec, 69900 * ms);
    CHECK(c.last.level == 0);
    steady(c, 69900 * ms, 70 * sec);
    CHECK(c.said() == "streaming upscale 1 1.0");
}
