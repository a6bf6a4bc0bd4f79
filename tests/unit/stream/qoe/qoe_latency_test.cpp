// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cmath>
#include <memory>

#include "stream/qoe/qoe_latency.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

struct measured {
    std::unique_ptr<qoe_latency> latency = std::make_unique<qoe_latency>();
    std::unique_ptr<qoe_json> out = std::make_unique<qoe_json>();

    measured()
    {
        qoe_latency_init(latency.get());
    }
    const qoe_json &read()
    {
        qoe_latency_read(latency.get(), out.get());
        return *out;
    }
};

} // namespace

TEST_CASE("qoe_latency: nothing was measured")
{
    measured m;
    const qoe_json &r = m.read();
    CHECK(r.latency.samples == 0);
    CHECK(std::isnan(r.latency.d200));
    CHECK(std::isnan(r.latency.frame.mean));
    CHECK(std::isnan(r.latency.budget.spent_encoder));
}

TEST_CASE("qoe_latency: D200 and D500 count packets up to their limit")
{
    measured m;
    for (usec_t latency : {200 * ms, 200 * ms + 1, 500 * ms, 500 * ms + 1, (usec_t)QOE_UNKNOWN})
        qoe_latency_packet(m.latency.get(), latency);
    const qoe_json &r = m.read();
    CHECK(r.latency.samples == 4);
    CHECK(r.latency.d200 == 0.25);
    CHECK(r.latency.d500 == 0.75);
}

TEST_CASE("qoe_latency: frames and pictures have parts, each measured or unknown")
{
    measured m;
    qoe_frame arrived[] = {{0, 0, 700, 50 * ms, 10 * ms, 40 * ms},
                           {1, 0, 700, 70 * ms, QOE_UNKNOWN, QOE_UNKNOWN}};
    for (const qoe_frame &e : arrived)
        qoe_latency_frame(m.latency.get(), &e);
    qoe_shown shown{};
    shown.latency = 120 * ms;
    shown.buffer = 30 * ms;
    shown.decoder = QOE_UNKNOWN;
    shown.display = 4 * ms;
    shown.encoder = 12 * ms;
    shown.transport = 44 * ms;
    qoe_latency_shown(m.latency.get(), &shown);
    const qoe_json &r = m.read();
    CHECK(r.latency.frame.mean == Approx(60));
    CHECK(r.latency.parts.encoder.mean == Approx(10));
    CHECK(r.latency.parts.encoder.count == 1);
    CHECK(r.latency.parts.transport.mean == Approx(40));
    CHECK(r.latency.display.max == Approx(120));
    CHECK(r.latency.parts.buffer.mean == Approx(30));
    CHECK(r.latency.parts.decoder.count == 0);
    CHECK(r.latency.parts.display.mean == Approx(4));
    CHECK(r.latency.budget.spent_encoder == Approx(12)); // of frames shown alone
    CHECK(r.latency.budget.spent_transport == Approx(44));
}

TEST_CASE("qoe_latency: behind a proxy the way to it is of the transport, and told in parts")
{
    measured m;
    qoe_frame e{};
    e.latency = 180 * ms;
    e.encoder = 150 * ms; // capture to the proxy's write
    e.transport = 30 * ms;
    qoe_latency_relay(m.latency.get(), 100 * ms, 20 * ms);
    qoe_latency_frame(m.latency.get(), &e);
    const qoe_json &r = m.read();
    CHECK(r.latency.parts.encoder.mean == Approx(30).epsilon(0.01));
    CHECK(r.latency.parts.transport.mean == Approx(150).epsilon(0.01));
    CHECK(r.latency.parts.backbone.mean == Approx(100).epsilon(0.01));
    CHECK(r.latency.parts.proxy.mean == Approx(20).epsilon(0.01));
    CHECK(r.latency.parts.access.mean == Approx(30).epsilon(0.01));
    CHECK(r.latency.frame.mean == Approx(180).epsilon(0.01));

    measured direct;
    qoe_latency_frame(direct.latency.get(), &e);
    CHECK(direct.read().latency.parts.transport.mean == Approx(30).epsilon(0.01));
    CHECK(std::isnan(direct.read().latency.parts.access.mean));
}
