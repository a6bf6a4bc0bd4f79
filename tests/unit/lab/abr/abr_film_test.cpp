// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/abr/abr_film.h"

#include <catch2/catch.hpp>

#include "common/base/err.h"
#include "tests/support/failing_alloc.hpp"

TEST_CASE("abr film: its names and lengths")
{
    const struct {
        const char *name;
        int seconds, err;
        int64_t groups;
    } rows[] = {
        {"goddard", 2, 0, 1},
        {"goddard", 601, 0, 300},
        {"vbr:1", 600, 0, 300},
        {"goddard", 1, ERR_RANGE, 0},
        {"vbr:7", 1 << 30, ERR_RANGE, 0},
        {"vbr:0", 600, ERR_MALFORMED, 0},
        {"vbr:-1", 600, ERR_MALFORMED, 0},
        {"vbr:1x", 600, ERR_MALFORMED, 0},
        {"vbr:", 600, ERR_MALFORMED, 0},
        {"vbr", 600, ERR_MALFORMED, 0},
        {"", 600, ERR_MALFORMED, 0},
    };
    for (const auto &row : rows) {
        CAPTURE(row.name, row.seconds);
        abr_film f{};
        CHECK(abr_film_init(&f, row.name, row.seconds) == row.err);
        if (row.err)
            continue;
        CHECK(f.groups == row.groups);
        for (int64_t g = 0; g < f.groups; g++)
            for (int l = 0; l < f.levels; l++)
                CHECK(abr_film_bytes(&f, g, l) > (l ? abr_film_bytes(&f, g, l - 1) : 0));
        abr_film_destroy(&f);
    }
}

TEST_CASE("abr film: without memory there is none")
{
    for (int n = 0;; n++) {
        abr_film f{};
        CAPTURE(n);
        failing_alloc_set(n);
        const int err = abr_film_init(&f, "vbr:1", 60);
        const bool failed = failing_alloc_end();
        CHECK(err == (failed ? ERR_NO_MEMORY : 0));
        if (failed)
            continue;
        abr_film_destroy(&f);
        CHECK(n >= 3);
        break;
    }
}
