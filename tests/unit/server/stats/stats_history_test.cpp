// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/stats/stats_history.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <string>

TEST_CASE("stats_history: a moment has the sums of all sessions and each session's own values")
{
    auto h = std::make_unique<stats_history>();
    auto f = std::make_unique<stats>();
    f->age = 7 * USEC_PER_SEC;
    f->transport_count = 2;
    f->total.transports[0].octets = 100;
    f->total.transports[1].octets = 20;
    f->total.transports[1].audio_octets = 3;
    f->total.frames.dropped[DROP_DEADLINE][0] = 4;
    f->total.frames.dropped[DROP_DEADLINE][1] = 5;
    f->total.thinned = 6;
    f->total.overload = 7;
    f->total.audio_dropped = 8;
    f->session_count = 2;
    for (int i = 0; i < 2; i++) {
        session_stats &s = f->sessions[i];
        transport_info_clear(&s.info);
        s.number = i + 1;
        snprintf(s.id, sizeof(s.id), "s%d", i);
        s.waiting_ms = 11;
        s.adaptation.delay_ms = 22;
    }
    f->sessions[0].follows = true;
    f->sessions[0].info.rate_bps = 1e6;
    f->sessions[1].info.is_reported = true;
    f->sessions[1].info.counts.packets = 50;
    f->sessions[1].info.counts.lost = 2;
    f->sessions[1].has_audio = true;
    f->sessions[1].audio_octets = 9;
    stats_history_add(h.get(), f.get(), 1.5);
    REQUIRE(h->count == 1);
    const stats_moment *m = stats_history_at(h.get(), 0);
    CHECK(m->age == 7 * USEC_PER_SEC);
    CHECK(m->cpu_seconds == 1.5);
    CHECK(m->octets == 123);
    CHECK(m->dropped[DROP_DEADLINE] == 9);
    CHECK(m->dropped[DROP_FULL] == 0);
    CHECK(m->thinned == 6);
    CHECK(m->overload == 7);
    CHECK(m->audio_dropped == 8);
    REQUIRE(m->session_count == 2);
    CHECK(std::string(m->sessions[0].id) == "s0");
    CHECK(m->sessions[0].rate_bps == 1e6);
    CHECK(m->sessions[0].delay_ms == 22);
    CHECK_FALSE(m->sessions[0].is_reported);
    CHECK_FALSE(m->sessions[0].has_audio);
    CHECK(std::isnan(m->sessions[1].rate_bps));
    CHECK(m->sessions[1].delay_ms == 11);
    CHECK(m->sessions[1].packets == 50);
    CHECK(m->sessions[1].lost == 2);
    CHECK(m->sessions[1].audio_octets == 9);
}

TEST_CASE("stats_history: it keeps the last two minutes, the oldest first")
{
    auto h = std::make_unique<stats_history>();
    auto f = std::make_unique<stats>();
    struct {
        int added, count;
        usec_t oldest;
    } rows[] = {{1, 1, 1}, {119, 119, 1}, {120, 120, 1}, {121, 120, 2}, {500, 120, 381}};
    int added = 0;
    for (const auto &row : rows) {
        for (; added < row.added; added++) {
            f->age = added + 1;
            stats_history_add(h.get(), f.get(), 0);
        }
        CHECK(h->count == row.count);
        for (int i = 0; i < h->count; i++)
            REQUIRE(stats_history_at(h.get(), i)->age == row.oldest + i);
    }
}

TEST_CASE("stats_history: a moment forgets the sessions of the one it replaces")
{
    auto h = std::make_unique<stats_history>();
    auto f = std::make_unique<stats>();
    f->session_count = STATS_SESSIONS;
    stats_history_add(h.get(), f.get(), 0);
    f->session_count = 0;
    for (int i = 0; i < STATS_MOMENTS; i++)
        stats_history_add(h.get(), f.get(), 0);
    for (int i = 0; i < h->count; i++)
        CHECK(stats_history_at(h.get(), i)->session_count == 0);
}
