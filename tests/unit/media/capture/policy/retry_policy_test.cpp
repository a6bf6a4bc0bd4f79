// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/retry_policy.h"

#include <catch2/catch.hpp>

namespace
{
const usec_t S = USEC_PER_SEC, MS = USEC_PER_MSEC;
}

TEST_CASE("a device is open only while a viewer watches")
{
    retry_policy l = {};
    CHECK(retry_policy_open_at(&l) == USEC_NEVER);
    retry_policy_want(&l, true, 10 * S);
    CHECK(retry_policy_open_at(&l) == 10 * S);
    CHECK(retry_policy_view(&l, 10 * S) == CAPTURE_VIEW_NONE);
    retry_policy_opened(&l, 11 * S);
    CHECK(retry_policy_open_at(&l) == USEC_NEVER);
    retry_policy_picture(&l, 11 * S + 200 * MS);
    CHECK(retry_policy_view(&l, 12 * S) == CAPTURE_VIEW_PICTURE);
    retry_policy_want(&l, false, 20 * S);
    CHECK(retry_policy_open_at(&l) == USEC_NEVER);
    retry_policy_want(&l, true, 90 * S); // pictures of the time before do not count
    CHECK(retry_policy_view(&l, 90 * S) == CAPTURE_VIEW_NONE);
    CHECK(retry_policy_open_at(&l) == 90 * S);
}

TEST_CASE("unplugged while in use, and plugged in again")
{
    retry_policy l = {};
    retry_policy_want(&l, true, 0);
    retry_policy_opened(&l, 0);
    retry_policy_picture(&l, 5 * S);
    CHECK(retry_policy_failed(&l, 5 * S + 100 * MS));
    CHECK(retry_policy_view(&l, 6 * S) == CAPTURE_VIEW_PICTURE); // the last one stays
    CHECK(retry_policy_view(&l, 7 * S) == CAPTURE_VIEW_CARD);
    const usec_t pauses[] = {500 * MS, 1 * S, 2 * S, 4 * S, 5 * S, 5 * S};
    usec_t now = 5 * S + 100 * MS;
    for (usec_t pause : pauses) {
        CHECK(retry_policy_open_at(&l) == now + pause);
        now += pause;
        CHECK_FALSE(retry_policy_failed(&l, now)); // no news any more
    }
    retry_policy_opened(&l, now);
    CHECK(retry_policy_view(&l, now) == CAPTURE_VIEW_CARD);
    retry_policy_picture(&l, now + 300 * MS);
    CHECK(retry_policy_view(&l, now + 300 * MS) == CAPTURE_VIEW_PICTURE);
    CHECK(retry_policy_failed(&l, now + S)); // news again, and the pauses begin anew
    CHECK(retry_policy_open_at(&l) == now + S + 500 * MS);
}

TEST_CASE("a device that is silent, or that never opens")
{
    retry_policy l = {};
    retry_policy_want(&l, true, 0);
    CHECK(retry_policy_view(&l, 2 * S) == CAPTURE_VIEW_CARD); // opening takes too long
    retry_policy_opened(&l, 2 * S);
    CHECK_FALSE(retry_policy_is_silent(&l, 5 * S - 1));
    CHECK(retry_policy_is_silent(&l, 5 * S));
    retry_policy_picture(&l, 5 * S);
    CHECK_FALSE(retry_policy_is_silent(&l, 8 * S - 1));
    CHECK(retry_policy_is_silent(&l, 8 * S));
    retry_policy_failed(&l, 8 * S);
    CHECK_FALSE(retry_policy_is_silent(&l, 20 * S));

    retry_policy refused = {};
    retry_policy_want(&refused, true, 0);
    CHECK(retry_policy_failed(&refused, 10 * MS));
    CHECK(retry_policy_view(&refused, 10 * MS) == CAPTURE_VIEW_CARD); // at once: no picture to keep
}
