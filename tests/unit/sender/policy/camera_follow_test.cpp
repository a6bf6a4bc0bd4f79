// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_follow.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "sender/policy/camera_rate.h"

namespace
{

// A camera, and its numbers as camera.c gives them.
struct camera {
    camera_follow f{};
    fps rate;
    int64_t last = -1;
    usec_t raw = 0, shift = 0;
    int rises = 0;
    bool too_fast = false;
    double ahead = 0; // seconds, at most

    explicit camera(int per_second, bool reorders = false) : rate{per_second, 1}
    {
        camera_follow_init(&f, rate, reorders, 0);
    }
    void picture(usec_t at)
    {
        usec_t media = at + shift;
        int64_t due = (int64_t)(usec_to_sec(media) * fps_value(rate) + 0.5);
        last = std::max(due, last + 1);
        ahead = std::max(ahead, (double)last / fps_value(rate) - usec_to_sec(media));
        fps faster;
        switch (camera_follow_picture(&f, media, last, &faster)) {
        case CAMERA_FOLLOW_FITS:
            break;
        case CAMERA_FOLLOW_TOO_FAST:
            too_fast = true;
            break;
        case CAMERA_FOLLOW_RISES:
            CHECK(fps_value(faster) >= 1.05 * fps_value(rate));
            rises++;
            rate = faster;
            shift = usec_of_frames(last + 1, rate.num, rate.den) - at;
            camera_follow_init(&f, rate, f.reorders, at + shift);
            break;
        }
    }
    void send(double per_second, double seconds)
    {
        usec_t end = raw + (usec_t)(seconds * 1e6);
        for (; raw < end && !too_fast; raw += (usec_t)(1e6 / per_second))
            picture(raw);
    }
};

} // namespace

TEST_CASE("camera_follow: a camera at its rate, or slower, keeps it")
{
    for (double sent : {25.0, 24.9, 12.5, 1.0}) {
        camera c(25);
        c.send(sent, 3600);
        CHECK(c.rises == 0);
        CHECK(c.ahead < 0.1);
    }
    camera c(25, true); // B frames: in decoding order each third one is two frames early
    for (int i = 0; i < 10000; i++)
        c.picture((i / 3 * 3 + (i % 3 == 0 ? 2 : i % 3 - 1)) * 40000);
    CHECK(c.rises == 0);
}

TEST_CASE("camera_follow: the rate follows a camera that gets faster")
{
    struct row {
        int opened;
        double sent;
        fps then;
        double ahead; // seconds
    };
    const row table[] = {
        {12, 25, {25, 1}, 2.3},          {25, 50, {50, 1}, 1.1}, {25, 30, {30, 1}, 0.7},
        {25, 29.97, {30000, 1001}, 0.7}, {1, 25, {25, 1}, 48},   {25, 25.5, {26513, 1000}, 0.7},
        {30, 47, {47470, 1000}, 0.7},
    };
    for (const row &r : table) {
        INFO(r.opened << " " << r.sent);
        camera c(r.opened);
        c.send(r.opened, 60);
        c.send(r.sent, 3600);
        CHECK(c.rises == 1);
        CHECK(std::abs(fps_value(c.rate) / fps_value(r.then) - 1) < 0.002);
        CHECK(c.ahead < r.ahead);
        double before = c.ahead;
        c.send(r.sent, 3600);
        CHECK(c.ahead == before); // it does not grow
    }
}

TEST_CASE("camera_follow: a burst is no rate; a flood is refused")
{
    camera c(25);
    c.send(25, 10);
    c.send(200, 0.1);
    c.send(25, 100);
    CHECK(c.rises == 0);
    c.send(1000, 10);
    CHECK(c.too_fast);
    camera same(25); // pictures of one time
    for (int i = 0; i < 100; i++)
        same.picture(0);
    CHECK(same.too_fast);
    camera creeping(1); // each time a little faster
    for (double sent = 1; sent < 300 && !creeping.too_fast; sent *= 1.01)
        creeping.send(sent, 50);
    CHECK(creeping.rises <= 112);
    CHECK(fps_value(creeping.rate) <= 1.02 * (double)CAMERA_RATE_MAX);
}
