// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "sender/figures.h"

TEST_CASE("figures: totals are sums, by transport")
{
    total_figures total = {};
    session_figures s = {};
    s.packets = 3;
    s.octets = 30;
    s.thinned = 2;
    s.sound_packets = 5;
    s.sound_octets = 500;
    s.sound_dropped = 1;
    s.frames.queued[0] = 7;
    s.frames.dropped[DROP_FULL][0] = 1;
    s.frames.dropped[DROP_FULL][2] = 4;
    s.frames.dropped[DROP_BROKEN][2] = 8;
    figures_add(&total, 0, &s);
    figures_add(&total, 1, &s);
    figures_add(&total, 1, &s);
    CHECK(total.transports[0].sessions == 1);
    CHECK(total.transports[1].sessions == 2);
    CHECK(total.transports[1].packets == 6);
    CHECK(total.transports[1].octets == 60);
    CHECK(total.transports[1].sound_packets == 10);
    CHECK(total.transports[1].sound_octets == 1000);
    CHECK(total.sound_dropped == 3);
    CHECK(total.thinned == 6);
    CHECK(total.frames.queued[0] == 21);
    CHECK(figures_dropped_by_cause(&total.frames, DROP_FULL) == 15);
    CHECK(figures_dropped_by_cause(&total.frames, DROP_BROKEN) == 24);
    CHECK(figures_dropped_by_layer(&total.frames, 2) == 36);
    CHECK(figures_dropped_by_layer(&total.frames, 1) == 0);
}

TEST_CASE("figures: the least number that is free, and what was done is kept")
{
    figures_book book = {};
    session_figures s = {};
    for (int number = 1; number <= FIGURES_SESSIONS; number++)
        CHECK(figures_begin(&book) == number);
    CHECK(figures_begin(&book) == 0);
    s.packets = 4;
    for (int number : {0, 7, 3}) {
        s.number = number;
        figures_end(&book, 2, &s);
    }
    CHECK(book.ended.transports[2].sessions == 3);
    CHECK(book.ended.transports[2].packets == 12);
    CHECK(figures_begin(&book) == 3);
    CHECK(figures_begin(&book) == 7);
    CHECK(figures_begin(&book) == 0);
}
