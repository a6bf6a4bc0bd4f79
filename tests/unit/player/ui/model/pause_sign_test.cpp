// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/pause_sign.h"

#include <catch2/catch.hpp>

TEST_CASE("pause_sign: a change shows it; it stands for 0.3 s, and fades in 0.7 s")
{
    struct pause_sign s;
    pause_sign_init(&s);
    pause_sign_set(&s, false, 0);
    CHECK(pause_sign_opacity(&s, 0) == 0); // nothing has changed yet
    const usec_t at = 5 * USEC_PER_SEC;
    pause_sign_set(&s, true, at);
    CHECK(s.paused);
    static const struct {
        usec_t after;
        double opacity;
    } rows[] = {{0, 1}, {300, 1}, {650, 0.5}, {1000, 0}, {60000, 0}};
    for (const auto &row : rows) {
        pause_sign_set(&s, true, at + row.after * USEC_PER_MSEC); // the same state: no new sign
        CHECK(pause_sign_opacity(&s, at + row.after * USEC_PER_MSEC) == Approx(row.opacity));
    }
    pause_sign_set(&s, false, 2 * at);
    CHECK_FALSE(s.paused);
    CHECK(pause_sign_opacity(&s, 2 * at) == 1);
}
