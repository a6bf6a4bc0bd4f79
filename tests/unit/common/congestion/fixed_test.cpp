// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "common/base/err.h"
#include "common/congestion/controller.h"

namespace
{
using controller_ptr = std::unique_ptr<controller, decltype(&free)>;

controller_ptr make(const char *name, double max_bps = 1e9)
{
    controller_config config = {1000, max_bps, 0, 0};
    return controller_ptr(controller_new(name, &config, 0), free);
}

void send(controller *c, int64_t number, usec_t now)
{
    cc_sent s = {number, 1000, true};
    c->ops->sent(c, &s, now);
}

double rate(const controller *c)
{
    controller_info info;
    c->ops->info(c, &info, 0);
    CHECK(std::isnan(info.loss_events));
    return info.rate_bps;
}
} // namespace

TEST_CASE("fixed: a table of rates")
{
    CHECK(rate(make("fixed").get()) == 1e6);
    CHECK(rate(make("fixed:rate=2500000").get()) == 2.5e6);
    CHECK(rate(make("fixed:rate=2500000", 2e6).get()) == 2e6);
    controller_ptr media = make("fixed", 5e6), given = make("fixed:rate=3000000");
    media->ops->media_rate(media.get(), 4e6, 0);
    CHECK(rate(media.get()) == 4e6);
    media->ops->media_rate(media.get(), 6e6, 0);
    CHECK(rate(media.get()) == 5e6);
    given->ops->media_rate(given.get(), 4e6, 0);
    CHECK(rate(given.get()) == 3e6);
}

TEST_CASE("fixed: a table of instants")
{
    // 1 Mbit/s: 1000 bytes every 8000 us; burst two packets.
    controller_ptr c = make("fixed");
    CHECK(c->ops->next_send(c.get(), 0) == 0);
    send(c.get(), 0, 0);
    CHECK(c->ops->next_send(c.get(), 0) == 0);
    send(c.get(), 1, 0);
    CHECK(c->ops->next_send(c.get(), 0) == 1); // the credit is 0, and has to be above
    send(c.get(), 2, 1);
    CHECK(c->ops->next_send(c.get(), 1) == 8001);
    CHECK(c->ops->next_send(c.get(), 9000) == 9000);
    // Ten times the rate at 4001 us, when 4000 us or 500 bytes are missing: they take 400 us now.
    c->ops->media_rate(c.get(), 10e6, 4001);
    CHECK(c->ops->next_send(c.get(), 4001) == 4001 + 400);
}

TEST_CASE("fixed: a late wake-up is made up for by at most 20 ms, idle time is not")
{
    // 1 Mbit/s, 0.125 bytes/us. The credit is -1000 bytes at 1 us; packets of 1000 bytes leave
    // while it is above 0.
    struct {
        bool backlogged;
        usec_t woken;
        int packets;
    } const table[] = {
        {true, 8002, 1},    // in time
        {true, 17000, 2},   // earned 2125: 1125
        {true, 27000, 3},   // earned 3375: 2375
        {true, 900000, 3},  // 2500 at most
        {false, 17000, 2},  // earned 2125: 1125
        {false, 27000, 2},  // the burst of 2000
        {false, 900000, 2}, // the same
    };
    for (const auto &row : table) {
        controller_ptr c = make("fixed");
        for (int n = 0; n < 3; n++)
            send(c.get(), n, n / 2);
        int packets = 0;
        for (; c->ops->next_send(c.get(), row.woken) == row.woken && packets < 10; packets++) {
            cc_sent s = {3 + packets, 1000, row.backlogged && !packets};
            c->ops->sent(c.get(), &s, row.woken);
        }
        INFO(row.backlogged << " " << row.woken);
        CHECK(packets == row.packets);
    }
}

TEST_CASE("fixed: losses and marks change nothing, silence does")
{
    controller_ptr c = make("fixed");
    for (int64_t n = 0; n < 3; n++)
        send(c.get(), n, 0);
    cc_packet news[] = {{0, 1000, true, false, 0, 0}, {1, 1000, false, true, 0, 5000}};
    cc_feedback f = {news, 2, 9000, 9000, 2, 1, 1000};
    c->ops->feedback(c.get(), &f, 5000);
    CHECK(rate(c.get()) == 1e6);
    CHECK(c->ops->next_send(c.get(), 5000) == 8001);
    c->ops->rto(c.get(), 1, 20000);
    CHECK(rate(c.get()) == 0);
    CHECK(c->ops->next_send(c.get(), 20000) == USEC_NEVER);
    cc_feedback alive = {nullptr, 0, 0, 9000, 2, 1, 1000};
    c->ops->feedback(c.get(), &alive, 30000); // tells of no packet
    CHECK(c->ops->next_send(c.get(), 30000) == USEC_NEVER);
    c->ops->feedback(c.get(), &f, 40000);
    CHECK(rate(c.get()) == 1e6);
    CHECK(c->ops->next_send(c.get(), 40000) == 40000);
}

TEST_CASE("fixed: the long-run rate is exact if wake-ups are late by less than a millisecond")
{
    controller_ptr c = make("fixed:rate=100000000"); // 12.5 bytes/us
    usec_t now = 0;
    int64_t n = 0;
    for (; now < USEC_PER_SEC; n++) {
        now = c->ops->next_send(c.get(), now);
        now += n % 10 ? 0 : 500;
        send(c.get(), n, now);
    }
    CHECK(static_cast<double>(n) == Approx(12500).epsilon(0.002));
}
