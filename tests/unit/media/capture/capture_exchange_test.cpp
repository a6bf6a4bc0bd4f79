// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/capture_exchange.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace
{
using exchange = std::unique_ptr<capture_exchange, decltype(&capture_exchange_free)>;

exchange make(bool wanted = true)
{
    exchange x(capture_exchange_new(), capture_exchange_free);
    REQUIRE(x);
    if (wanted)
        CHECK(capture_exchange_want(x.get(), true));
    return x;
}

bool put(const exchange &x, usec_t stamp)
{
    return capture_exchange_put(x.get(), {picture_new(16, 16), stamp});
}

// Takes all pictures; returns their stamps.
std::vector<usec_t> stamps(const exchange &x)
{
    std::vector<usec_t> all;
    captured c;
    for (usec_t stamp; capture_exchange_oldest(x.get(), &stamp);) {
        REQUIRE(capture_exchange_take(x.get(), stamp, &c));
        CHECK(c.stamp == stamp);
        picture_unref(c.picture);
        all.push_back(stamp);
    }
    return all;
}

std::string reason(const exchange &x)
{
    char text[CAPTURE_MAX_REASON];
    capture_exchange_reason(x.get(), text);
    return text;
}
} // namespace

TEST_CASE("capture_exchange: pictures come out in their order; a full ring drops the oldest")
{
    exchange x = make();
    for (usec_t stamp = 1; stamp <= CAPTURE_RING; stamp++)
        CHECK_FALSE(put(x, stamp));
    CHECK(stamps(x) == std::vector<usec_t>{1, 2, 3, 4});
    for (usec_t stamp = 1; stamp <= CAPTURE_RING + 2; stamp++)
        put(x, stamp);
    CHECK(stamps(x) == std::vector<usec_t>{3, 4, 5, 6});
    capture_exchange_wait_picture(x.get(), 0); // a time that is over
}

TEST_CASE("capture_exchange: a picture that the full ring dropped is not taken")
{
    exchange x = make();
    captured c;
    usec_t stamp;
    CHECK_FALSE(capture_exchange_oldest(x.get(), &stamp));
    CHECK_FALSE(capture_exchange_take(x.get(), 1, &c));
    for (usec_t s = 1; s <= CAPTURE_RING + 1; s++)
        put(x, s);
    CHECK_FALSE(capture_exchange_take(x.get(), 1, &c));
    REQUIRE(capture_exchange_take(x.get(), 2, &c));
    picture_unref(c.picture);
}

TEST_CASE("capture_exchange: the first failure and the first picture after it are news")
{
    exchange x = make();
    CHECK(reason(x) == "the device is being opened");
    CHECK(capture_exchange_failed(x.get(), "no camera"));
    CHECK_FALSE(capture_exchange_failed(x.get(), "no camera at all"));
    CHECK(reason(x) == "no camera at all");
    CHECK(put(x, 1));
    CHECK_FALSE(put(x, 2));
    CHECK(reason(x) == "the device is being opened");
    CHECK(capture_exchange_failed(x.get(), "unplugged"));
}

TEST_CASE("capture_exchange: a viewer that returns begins a session without old pictures")
{
    exchange x = make(false);
    unsigned first, second;
    CHECK(capture_exchange_want(x.get(), true));
    CHECK_FALSE(capture_exchange_want(x.get(), true));
    REQUIRE(capture_exchange_wait_work(x.get(), &first)); // at once: the device is wanted
    capture_exchange_opened(x.get(), first);
    CHECK(reason(x) == "the device delivers no pictures");
    CHECK(capture_exchange_view(x.get(), 0) == CAPTURE_VIEW_NONE);
    put(x, 1);
    CHECK(capture_exchange_view(x.get(), 0) == CAPTURE_VIEW_PICTURE);
    CHECK(capture_exchange_pause(x.get(), first, 0) == CAPTURE_READ);

    CHECK(capture_exchange_want(x.get(), false));
    CHECK(capture_exchange_pause(x.get(), first, USEC_NEVER) == CAPTURE_UNWANTED);
    CHECK(stamps(x).empty());
    CHECK(capture_exchange_want(x.get(), true));
    CHECK(capture_exchange_pause(x.get(), first, USEC_NEVER) == CAPTURE_UNWANTED);
    capture_exchange_opened(x.get(), first); // of the session before: it changes nothing
    CHECK(reason(x) == "the device is being opened");
    REQUIRE(capture_exchange_wait_work(x.get(), &second));
    CHECK(second == first + 1);
}

TEST_CASE("capture_exchange: the device's thread ends when it is told to")
{
    exchange x = make();
    unsigned session;
    REQUIRE(capture_exchange_wait_work(x.get(), &session));
    capture_exchange_opened(x.get(), session);
    capture_exchange_stop(x.get());
    CHECK(capture_exchange_pause(x.get(), session, USEC_NEVER) == CAPTURE_UNWANTED);
    CHECK_FALSE(capture_exchange_wait_work(x.get(), &session));
}
