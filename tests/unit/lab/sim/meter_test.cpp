// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/meter.h"

#include <catch2/catch.hpp>

#include <cmath>

TEST_CASE("spread: deviation over mean")
{
    spread s = {};
    CHECK(std::isnan(spread_variation(&s)));
    for (double x : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0})
        spread_add(&s, x);
    CHECK(s.mean == Approx(5));
    CHECK(spread_variation(&s) == Approx(std::sqrt(32.0 / 7) / 5));
}

static void state(const struct flow *, struct flow_state *out, usec_t now)
{
    out->rate_bps = now < 3 * USEC_PER_SEC ? 1e6 : 3e6;
}

TEST_CASE("meter: bins of 100 ms and of 1 s, from a given time on")
{
    static const flow_ops ops = {state, nullptr};
    flow f = {};
    f.ops = &ops;
    meter m;
    meter_init(&m, USEC_PER_SEC);
    for (usec_t now = 0; now <= 3 * USEC_PER_SEC; now += METER_STEP) {
        meter_sample(&m, &f, now);
        f.counts.sent_bytes += now < 2 * USEC_PER_SEC ? 100 : 300;
    }
    CHECK(m.at.sent_bytes == 1000);
    CHECK(m.tx_1s.n == 2);
    CHECK(m.tx_1s.mean == 2000); // 1000 and 3000
    CHECK(spread_variation(&m.tx_1s) == Approx(std::sqrt(2e6) / 2000));
    CHECK(m.tx_100ms.n == 20);
    CHECK(m.tx_100ms.mean == Approx(200));
    CHECK(m.rate.mean == Approx(2e6));
}
