// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/repair/path_estimate.h"

#include <catch2/catch.hpp>

static const usec_t MS = USEC_PER_MSEC;

static repair_path of(const path_estimate &e)
{
    repair_path p{};
    path_estimate_fill(&e, &p);
    return p;
}

TEST_CASE("path estimate: assumed before the first sample; by hand after")
{
    path_estimate e;
    path_estimate_init(&e);
    CHECK(of(e).rtt == 50 * MS);
    CHECK(of(e).delay == 25 * MS);
    path_estimate_rtt(&e, 80 * MS, 0);
    CHECK(of(e).rtt == 80 * MS);
    CHECK(of(e).min_rtt == 80 * MS);
    CHECK(of(e).delay == 40 * MS);
    CHECK(of(e).jitter == 1 * MS);
    path_estimate_rtt(&e, 160 * MS, 33 * MS); // deviation 80 / 4, srtt 80 + 80 / 8
    CHECK(of(e).rtt == 90 * MS);
    CHECK(of(e).min_rtt == 80 * MS);
    CHECK(of(e).jitter == 10 * MS + 2 * 20 * MS);
}

TEST_CASE("path estimate: a standing queue is jitter, until its round trips are the least")
{
    path_estimate e;
    path_estimate_init(&e);
    usec_t now = 0;
    for (int i = 0; i < 30; i++, now += 33 * MS)
        path_estimate_rtt(&e, 50 * MS, now);
    for (int i = 0; i < 100; i++, now += 33 * MS)
        path_estimate_rtt(&e, 90 * MS, now);
    CHECK(of(e).min_rtt == 50 * MS);
    CHECK(of(e).jitter > 38 * MS);
    CHECK(of(e).jitter < 42 * MS);
    for (int i = 0; i < 700; i++, now += 33 * MS)
        path_estimate_rtt(&e, 90 * MS, now);
    CHECK(of(e).min_rtt > 85 * MS);
    CHECK(of(e).jitter < 5 * MS);
}
