// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture_link.h"

#include <catch2/catch.hpp>

namespace
{
const usec_t S = USEC_PER_SEC, MS = USEC_PER_MSEC;
}

TEST_CASE("a device is open while someone watches, and only then")
{
    capture_link l = {};
    CHECK(capture_link_open_at(&l) == USEC_NEVER);
    capture_link_want(&l, true, 10 * S);
    CHECK(capture_link_open_at(&l) == 10 * S);
    CHECK(capture_link_view(&l, 10 * S) == CAPTURE_VIEW_NONE);
    capture_link_opened(&l, 11 * S);
    CHECK(capture_link_open_at(&l) == USEC_NEVER);
    capture_link_picture(&l, 11 * S + 200 * MS);
    CHECK(capture_link_view(&l, 12 * S) == CAPTURE_VIEW_PICTURE);
    capture_link_want(&l, false, 20 * S);
    CHECK(capture_link_open_at(&l) == USEC_NEVER);
    capture_link_want(&l, true, 90 * S); // pictures of the time before do not count
    CHECK(capture_link_view(&l, 90 * S) == CAPTURE_VIEW_NONE);
    CHECK(capture_link_open_at(&l) == 90 * S);
}

TEST_CASE("unplugged in mid-stream, and back")
{
    capture_link l = {};
    capture_link_want(&l, true, 0);
    capture_link_opened(&l, 0);
    capture_link_picture(&l, 5 * S);
    CHECK(capture_link_failed(&l, 5 * S + 100 * MS));
    CHECK(capture_link_view(&l, 6 * S) == CAPTURE_VIEW_PICTURE); // the last one stays
    CHECK(capture_link_view(&l, 7 * S) == CAPTURE_VIEW_CARD);
    const usec_t pauses[] = {500 * MS, 1 * S, 2 * S, 4 * S, 5 * S, 5 * S};
    usec_t now = 5 * S + 100 * MS;
    for (usec_t pause : pauses) {
        CHECK(capture_link_open_at(&l) == now + pause);
        now += pause;
        CHECK_FALSE(capture_link_failed(&l, now)); // no news any more
    }
    capture_link_opened(&l, now);
    CHECK(capture_link_view(&l, now) == CAPTURE_VIEW_CARD);
    capture_link_picture(&l, now + 300 * MS);
    CHECK(capture_link_view(&l, now + 300 * MS) == CAPTURE_VIEW_PICTURE);
    CHECK(capture_link_failed(&l, now + S)); // news again, and the pauses begin anew
    CHECK(capture_link_open_at(&l) == now + S + 500 * MS);
}

TEST_CASE("a device that is silent, or never opens")
{
    capture_link l = {};
    capture_link_want(&l, true, 0);
    CHECK(capture_link_view(&l, 2 * S) == CAPTURE_VIEW_CARD); // opening takes too long
    capture_link_opened(&l, 2 * S);
    CHECK_FALSE(capture_link_is_silent(&l, 5 * S - 1));
    CHECK(capture_link_is_silent(&l, 5 * S));
    capture_link_picture(&l, 5 * S);
    CHECK_FALSE(capture_link_is_silent(&l, 8 * S - 1));
    CHECK(capture_link_is_silent(&l, 8 * S));
    capture_link_failed(&l, 8 * S);
    CHECK_FALSE(capture_link_is_silent(&l, 20 * S));

    capture_link refused = {};
    capture_link_want(&refused, true, 0);
    CHECK(capture_link_failed(&refused, 10 * MS));
    CHECK(capture_link_view(&refused, 10 * MS) == CAPTURE_VIEW_CARD); // at once: no picture to keep
}
