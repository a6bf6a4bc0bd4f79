// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "server/stats/stats.h"

TEST_CASE("stats: totals are sums, by transport")
{
    total_stats total = {};
    session_stats s = {};
    s.packets = 3;
    s.octets = 30;
    s.thinned = 2;
    s.audio_packets = 5;
    s.audio_octets = 500;
    s.audio_dropped = 1;
    s.frames.queued[0] = 7;
    s.frames.dropped[DROP_FULL][0] = 1;
    s.frames.dropped[DROP_FULL][2] = 4;
    s.frames.dropped[DROP_BROKEN][2] = 8;
    stats_add(&total, 0, &s);
    stats_add(&total, 1, &s);
    stats_add(&total, 1, &s);
    CHECK(total.transports[0].sessions == 1);
    CHECK(total.transports[1].sessions == 2);
    CHECK(total.transports[1].packets == 6);
    CHECK(total.transports[1].octets == 60);
    CHECK(total.transports[1].audio_packets == 10);
    CHECK(total.transports[1].audio_octets == 1000);
    CHECK(total.audio_dropped == 3);
    CHECK(total.thinned == 6);
    CHECK(total.frames.queued[0] == 21);
    CHECK(stats_dropped_by_cause(&total.frames, DROP_FULL) == 15);
    CHECK(stats_dropped_by_cause(&total.frames, DROP_BROKEN) == 24);
    CHECK(stats_dropped_by_layer(&total.frames, 2) == 36);
    CHECK(stats_dropped_by_layer(&total.frames, 1) == 0);
}

TEST_CASE("stats: a session gets the smallest free number, and its stats are kept")
{
    stats_book book = {};
    session_stats s = {};
    for (int number = 1; number <= STATS_SESSIONS; number++)
        CHECK(stats_begin(&book) == number);
    CHECK(stats_begin(&book) == 0);
    s.packets = 4;
    for (int number : {0, 7, 3}) {
        s.number = number;
        stats_end(&book, 2, &s);
    }
    CHECK(book.ended.transports[2].sessions == 3);
    CHECK(book.ended.transports[2].packets == 12);
    CHECK(stats_begin(&book) == 3);
    CHECK(stats_begin(&book) == 7);
    CHECK(stats_begin(&book) == 0);
}

TEST_CASE("stats: viewers of HLS and DASH are those of both ports")
{
    static stats_book book;
    CHECK_FALSE(stats_http(&book).is_used);
    book.http = {true, 1, 2, 3, 4};
    book.web = {true, 10, 20, 30, 40};
    http_stats s = stats_http(&book);
    CHECK(s.is_used);
    CHECK(s.connections == 11);
    CHECK(s.waiting == 22);
    CHECK(s.requests == 33);
    CHECK(s.sent_bytes == 44);
    book.http = {};
    CHECK(stats_http(&book).is_used);
}
