// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>

#include "stream/qoe/qoe_network.h"

namespace
{

struct network {
    std::unique_ptr<qoe_network> n = std::make_unique<qoe_network>();
    std::unique_ptr<qoe_json> out = std::make_unique<qoe_json>();

    network()
    {
        qoe_network_init(n.get());
    }
    const qoe_json &read()
    {
        qoe_network_read(n.get(), out.get());
        return *out;
    }
};

} // namespace

TEST_CASE("qoe_network: nothing is known before it is measured")
{
    network w;
    const qoe_json &r = w.read();
    CHECK(std::isnan(r.network.bytes_received));
    CHECK(std::isnan(r.network.throughput));
    CHECK(std::isnan(r.network.packets_lost));
    CHECK(std::isnan(r.network.loss_rate));
    CHECK(std::isnan(r.network.ecn_marked));
    CHECK(std::isnan(r.network.rtt_mean));
    CHECK(std::isnan(r.network.capacity_estimate));
}

TEST_CASE("qoe_network: throughput and goodput are over the time of the packets")
{
    network w;
    qoe_network_packet(w.n.get(), 1000, 1 * USEC_PER_SEC);
    CHECK(std::isnan(w.read().network.throughput)); // one packet has no time
    qoe_network_packet(w.n.get(), 1000, 3 * USEC_PER_SEC);
    w.n->good_bytes += 500;
    w.n->capacity = 3e6;
    const qoe_json &r = w.read();
    CHECK(r.network.packets_received == 2);
    CHECK(r.network.throughput == Approx(8000));
    CHECK(r.network.goodput == Approx(2000));
    CHECK(r.network.capacity_estimate == 3e6);
}

TEST_CASE("qoe_network: each snapshot replaces the last, and adds to previous connections")
{
    network w;
    qoe_receiver early = {50, 1, 0, 1, 2, -1}, late = {100, 5, 1, 4, 3, -1},
                 other = {100, 5, 2, 1, 4, -1};
    qoe_network_receiver(w.n.get(), &early);
    qoe_network_receiver(w.n.get(), &late);
    CHECK(w.read().network.packets_lost == 5);
    qoe_network_reconnect(w.n.get());
    CHECK(w.read().network.packets_lost == 5); // of the connection before
    qoe_network_receiver(w.n.get(), &other);
    const qoe_json &r = w.read();
    CHECK(r.network.packets_lost == 10);
    CHECK(r.network.loss_rate == Approx(0.05));
    CHECK(r.network.loss_event_rate == Approx(0.025));
    CHECK(r.network.packets_reordered == 3);
    CHECK(r.network.ecn_marked == 7);
}

TEST_CASE("qoe_network: marks are unknown if those of one connection are")
{
    network w;
    qoe_receiver unmarked = {100, 0, 0, 0, -1, -1}, marked = {100, 0, 0, 0, 4, -1};
    qoe_network_receiver(w.n.get(), &unmarked);
    qoe_network_reconnect(w.n.get());
    qoe_network_receiver(w.n.get(), &marked);
    CHECK(std::isnan(w.read().network.ecn_marked));
}

TEST_CASE("qoe_network: unknown round-trip times do not count")
{
    network w;
    qoe_network_rtt(w.n.get(), 0.020);
    qoe_network_rtt(w.n.get(), std::nan(""));
    qoe_network_rtt(w.n.get(), 0.040);
    CHECK(w.read().network.rtt_mean == Approx(30));
}

TEST_CASE("qoe_network: what repair did, over all connections")
{
    network w;
    CHECK_FALSE(w.read().repair.is_known);
    qoe_repair early = {5, 1, 0, 0, 2, 600, 9000}, late = {10, 2, 3, 1, 4, 1500, 20000},
               other = {1, 0, 0, 0, -1, 500, 20000};
    qoe_network_repair(w.n.get(), &early);
    qoe_network_repair(w.n.get(), &late);
    CHECK(w.read().repair.is_known);
    CHECK(w.read().repair.resent == 10);
    CHECK(w.read().repair.duplicated == 2);
    CHECK(w.read().repair.fec_packets == 3);
    CHECK(w.read().repair.fec_recovered == 1);
    CHECK(w.read().repair.invalidations == 4);
    CHECK(w.read().repair.overhead == Approx(0.075));
    qoe_network_reconnect(w.n.get());
    qoe_network_repair(w.n.get(), &other);
    CHECK(w.read().repair.resent == 11);
    CHECK(std::isnan(w.read().repair.invalidations)); // those of one connection are not known
    CHECK(w.read().repair.overhead == Approx(0.05));
}
