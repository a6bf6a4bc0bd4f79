// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/stream_control.h"

#include <catch2/catch.hpp>

static const usec_t sec = USEC_PER_SEC;

TEST_CASE("stream_control: a request is repeated until the response")
{
    stream_control c;
    stream_control_init(&c);
    CHECK_FALSE(stream_control_pull(&c, 0));
    CHECK(stream_control_next(&c) == USEC_NEVER);
    const stream_wish wish = {3, 1, 1.5, false};
    stream_control_ask(&c, &wish, 10);
    CHECK(stream_control_pull(&c, 10));
    CHECK_FALSE(stream_control_pull(&c, 10));
    usec_t at = 10;
    for (usec_t wait : {sec, 2 * sec, 4 * sec, 8 * sec, 8 * sec}) {
        at += wait;
        CHECK(stream_control_next(&c) == at);
        CHECK_FALSE(stream_control_pull(&c, at - 1));
        CHECK(stream_control_pull(&c, at));
    }
    CHECK(stream_control_answer(&c, 1));
    CHECK(stream_control_next(&c) == USEC_NEVER);
    CHECK_FALSE(stream_control_answer(&c, 1)); // again
}

TEST_CASE("stream_control: the latest request applies")
{
    stream_control c;
    stream_control_init(&c);
    const stream_wish wish = {3, 0, 1, false};
    stream_control_ask(&c, &wish, 0);
    stream_control_ask(&c, &wish, 5);
    CHECK_FALSE(stream_control_answer(&c, 1));
    CHECK(stream_control_answer(&c, 2));
    // The receiving end: a request that was received before, or is older, is not new.
    CHECK(stream_control_heard(&c, 2));
    CHECK_FALSE(stream_control_heard(&c, 2));
    CHECK_FALSE(stream_control_heard(&c, 1));
}
