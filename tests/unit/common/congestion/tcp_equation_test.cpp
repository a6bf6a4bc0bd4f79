// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "common/base/rng.h"
#include "common/congestion/tcp_equation.h"

TEST_CASE("tcp equation: a table of rates")
{
    // p = 0.01, R = 0.1 s, t_RTO = 4 R, b = 1, s = 1460:
    //   R sqrt(2 p / 3)             = 0.1 * 0.0816497                          = 0.00816497
    //   t_RTO 3 sqrt(3 p / 8) p (..) = 0.4 * 3 * 0.0612372 * 0.01 * 1.0032      = 0.00073720
    //   1460 / 0.00890217           = 164005 bytes/s
    // b = 2, t_RTO = 0.5 s:
    //   0.1 * 0.1154701 + 0.5 * 3 * 0.0866025 * 0.01 * 1.0032 = 0.01154701 + 0.00130320
    // p = 1, b = 1, t_RTO = 0.4 s:
    //   0.1 * 0.8164966 + 0.4 * 1.8371173 * 33 = 0.0816497 + 24.2499484; capped: 0.4 * 1 * 33
    struct {
        tcp_path path;
        double p, rate;
    } table[] = {
        {{1460, 0.1, 0.4, 1, false}, 0.01, 1460 / 0.00890217},
        {{1460, 0.1, 0.5, 2, true}, 0.01, 1460 / 0.01285021},
        {{1460, 0.1, 0.4, 1, false}, 1, 1460 / 24.3315981},
        {{1460, 0.1, 0.4, 1, true}, 1, 1460 / 13.2816497},
        {{1460, 0.1, 0.4, 1, true}, 7, 1460 / 13.2816497}, // p is at most 1
    };
    for (const auto &row : table)
        CHECK(tcp_equation_rate(&row.path, row.p) == Approx(row.rate).epsilon(1e-6));
}

TEST_CASE("tcp equation: the inverse is correct, and the rate falls with p, R and t_RTO")
{
    rng r = rng_seeded(3);
    for (int i = 0; i < 300; i++) {
        double rtt = 0.001 + rng_unit(&r);
        tcp_path path = {100 + 1400 * rng_unit(&r), rtt, 4 * rtt, 1.0 + (double)(i & 1),
                         (i & 2) != 0};
        double p = 1e-6 + 0.9 * rng_unit(&r) * rng_unit(&r);
        double rate = tcp_equation_rate(&path, p);
        CHECK(tcp_equation_loss(&path, rate) == Approx(p).epsilon(1e-8));
        CHECK(tcp_equation_rate(&path, p * 1.01) < rate);
        tcp_path farther = path;
        farther.rtt_s *= 2;
        CHECK(tcp_equation_rate(&farther, p) < rate);
        tcp_path slower = path;
        slower.rto_s *= 2;
        CHECK(tcp_equation_rate(&slower, p) < rate);
    }
}

TEST_CASE("tcp equation: rates that no p gives")
{
    tcp_path path = {1460, 0.1, 0.4, 1, false};
    CHECK(tcp_equation_loss(&path, 1) == 1); // p = 1 still gives 60 bytes/s
    CHECK(tcp_equation_loss(&path, 1e18) == 1e-12);
}
