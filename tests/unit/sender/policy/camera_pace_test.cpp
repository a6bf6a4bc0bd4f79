// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/camera_pace.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

const usec_t s = USEC_PER_SEC;

// The time, in seconds after the last picture, at which the camera counts as lost.
int lost_after(const std::vector<double> &pictures, bool packets = false)
{
    camera_pace p{};
    camera_pace_begin(&p, 0);
    usec_t last = 0;
    for (double at : pictures) {
        last = (usec_t)(at * (double)s);
        camera_pace_packet(&p, last);
        camera_pace_picture(&p, true, last);
    }
    if (packets)
        camera_pace_packet(&p, last);
    for (int i = 0; i < 100; i++)
        if (camera_pace_is_lost(&p, last + i * s))
            return i;
    return -1;
}

} // namespace

TEST_CASE("a camera is lost after three of its longest intervals")
{
    CHECK(lost_after({}) == 10);
    CHECK(lost_after({1}) == 60);       // its pace is not known
    CHECK(lost_after({1, 2, 3}) == 60); // nor yet
    CHECK(lost_after({1, 1.04, 1.08, 1.12}) == 10);
    CHECK(lost_after({1, 13, 25, 37}) == 36);
    CHECK(lost_after({1, 31, 61, 91}) == 60);
    CHECK(lost_after({1, 2, 3, 8}) == 15);
    CHECK(lost_after({}, true) == 10);
    CHECK(lost_after({1, 13, 25, 37}, true) == 10); // packets come, but no picture
}

TEST_CASE("a slow camera is not lost while a picture arrives")
{
    camera_pace p{};
    camera_pace_begin(&p, 0);
    camera_pace_packet(&p, 0);
    camera_pace_picture(&p, true, 0);
    camera_pace_packet(&p, 12 * s); // the first half of the next one
    CHECK_FALSE(camera_pace_is_lost(&p, 13 * s));
    CHECK(camera_pace_is_lost(&p, 22 * s)); // the second half never came
    for (int i = 1; i <= 3; i++)
        camera_pace_picture(&p, true, i * 12 * s);
    camera_pace_begin(&p, 40 * s); // another connection
    CHECK_FALSE(camera_pace_is_lost(&p, 75 * s));
    CHECK(camera_pace_is_lost(&p, 76 * s));
}

TEST_CASE("a camera's pace is that of all its connections, without the time between them")
{
    camera_pace p{};
    camera_pace_begin(&p, 0);
    for (int i = 1; i <= 4; i++)
        camera_pace_picture(&p, true, i * s);
    camera_pace_begin(&p, 100 * s);
    CHECK_FALSE(camera_pace_is_lost(&p, 109 * s));
    CHECK(camera_pace_is_lost(&p, 110 * s));
    camera_pace_picture(&p, true, 111 * s);
    CHECK(p.longest == s);
    CHECK(camera_pace_is_lost(&p, 121 * s));
}

TEST_CASE("pictures without a key frame are said once")
{
    camera_pace p{};
    camera_pace_begin(&p, 0);
    CHECK_FALSE(camera_pace_says_no_key(&p, 60 * s)); // nothing came
    camera_pace_picture(&p, true, 60 * s);
    CHECK_FALSE(camera_pace_says_no_key(&p, 80 * s)); // the next picture has not come
    camera_pace_packet(&p, 80 * s);
    camera_pace_picture(&p, false, 80 * s);
    CHECK(camera_pace_says_no_key(&p, 80 * s));
    CHECK_FALSE(camera_pace_says_no_key(&p, 90 * s));
    camera_pace never{}; // packets that make no picture
    camera_pace_begin(&never, 0);
    camera_pace_packet(&never, 9 * s);
    CHECK_FALSE(camera_pace_says_no_key(&never, 9 * s));
    CHECK(camera_pace_says_no_key(&never, 10 * s));
    camera_pace silent{}; // within a picture
    camera_pace_begin(&silent, 0);
    camera_pace_picture(&silent, true, 1 * s);
    camera_pace_packet(&silent, 2 * s);
    CHECK_FALSE(camera_pace_says_no_key(&silent, 12 * s));
}
