// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/lateness.h"

#include <catch2/catch.hpp>

namespace
{

const usec_t MS = USEC_PER_MSEC;

} // namespace

TEST_CASE("lateness: from when work was due until it ran")
{
    const struct {
        usec_t due, works, late;
    } table[] = {
        {USEC_NEVER, 5000 * MS, 0},                             // nothing was due
        {100 * MS, 90 * MS, 0},                                 // something arrived before
        {100 * MS, 100 * MS, 0},       {100 * MS, 119 * MS, 0}, // a loop that serves many
        {100 * MS, 120 * MS, 20 * MS}, {100 * MS, 2100 * MS, 2000 * MS},
    };
    for (const auto &row : table) {
        INFO(row.due << " " << row.works);
        lateness l;
        lateness_init(&l);
        CHECK(lateness_works(&l, 0) == 0);
        CHECK_FALSE(lateness_lasts(&l));
        lateness_set_due(&l, row.due);
        CHECK(lateness_works(&l, row.works) == row.late);
        CHECK(lateness_lasts(&l) == (row.late > 0));
        lateness_set_due(&l, row.works + MS);
        CHECK(lateness_works(&l, row.works + 2 * MS) == 0);
    }
}

TEST_CASE("lateness: it covers its time, and as long after it as peers need to recover")
{
    const struct {
        usec_t from, to; // ms
        bool covered;
    } table[] = {
        {0, 99, false},      {0, 100, true},                       // it was late from 100 to 140
        {110, 120, true},    {180, 190, true},                     // 40 ms more
        {181, 190, false},   {900, 999, false}, {900, 1000, true}, // and from 1000 to 3000
        {3500, 3510, true},                                        // 500 ms more
        {3501, 3510, false},
    };
    lateness l;
    lateness_init(&l);
    lateness_set_due(&l, 100 * MS);
    CHECK(lateness_works(&l, 140 * MS) == 40 * MS);
    lateness_set_due(&l, 1000 * MS);
    CHECK(lateness_works(&l, 3000 * MS) == 2000 * MS);
    for (const auto &row : table) {
        INFO(row.from << " to " << row.to);
        CHECK(lateness_covers(&l, row.from * MS, row.to * MS) == row.covered);
    }
    CHECK(lateness_lasts(&l));
    lateness_set_due(&l, 3500 * MS);
    CHECK(lateness_works(&l, 3500 * MS) == 0);
    CHECK(lateness_lasts(&l));
    CHECK(lateness_works(&l, 3501 * MS) == 0);
    CHECK_FALSE(lateness_lasts(&l));
}

TEST_CASE("lateness: the last times are remembered")
{
    lateness l;
    lateness_init(&l);
    for (int i = 1; i <= LATENESS_SPANS + 1; i++) {
        lateness_set_due(&l, i * USEC_PER_SEC);
        CHECK(lateness_works(&l, i * USEC_PER_SEC + 30 * MS) == 30 * MS);
    }
    CHECK_FALSE(lateness_covers(&l, USEC_PER_SEC, USEC_PER_SEC + 30 * MS));
    CHECK(lateness_covers(&l, 2 * USEC_PER_SEC, 2 * USEC_PER_SEC));
}
