// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/attach_watch.h"

#include <catch2/catch.hpp>

namespace
{

const usec_t MS = USEC_PER_MSEC;
const usec_t T0 = 100 * USEC_PER_SEC;

attach_watch begin()
{
    attach_watch w;
    attach_watch_init(&w);
    return w;
}

} // namespace

TEST_CASE("attach watch: when another connection is tried")
{
    const struct {
        bool is_gone, carries_media, has_moved;
        int asked_ms, heard_ms; // before T0; asked_ms < 0: all requests have a response
        int due_ms;             // after T0; < 0: never
    } table[] = {
        {false, false, false, -1, 5000, -1}, // nothing is awaited
        {false, true, false, -1, 5000, -1},
        {false, false, false, 0, 500, 2000},
        {false, false, false, 1000, 1500, 1000},
        {false, false, false, 1500, 100, 1900}, // something else has come since
        {false, true, false, 0, 500, 3000},
        {false, true, false, 500, 0, 3000},
        {false, false, true, 0, 500, 400},    // the address of the datagrams has changed
        {true, false, false, -1, 0, -100000}, // at once
        {true, true, false, 0, 0, -100000},
    };
    for (const auto &row : table) {
        INFO(row.is_gone << row.carries_media << row.has_moved << " " << row.asked_ms << " "
                         << row.heard_ms);
        attach_watch w = begin();
        if (row.has_moved)
            attach_watch_moved(&w, T0 - 100 * MS);
        const attach_signs s = {row.is_gone, row.carries_media,
                                row.asked_ms < 0 ? USEC_NEVER : T0 - row.asked_ms * MS,
                                T0 - row.heard_ms * MS};
        const usec_t due = row.is_gone ? 0 : row.due_ms < 0 ? USEC_NEVER : T0 + row.due_ms * MS;
        CHECK(attach_watch_next_timeout(&w, &s) == due);
        if (due == USEC_NEVER)
            continue;
        if (due)
            CHECK(attach_watch_step(&w, &s, due - 1) == ATTACH_NOTHING);
        CHECK(attach_watch_step(&w, &s, due) == ATTACH_BEGIN);
        CHECK(attach_watch_step(&w, &s, due) == ATTACH_NOTHING);
        CHECK(attach_watch_next_timeout(&w, &s) == due + ATTACH_TRY);
        CHECK(attach_watch_step(&w, &s, due + ATTACH_TRY) == ATTACH_GIVE_UP);
    }
}

TEST_CASE("attach watch: attempts that fail are further and further apart, until the server has "
          "forgotten the session")
{
    attach_watch w = begin();
    attach_signs s = {true, false, USEC_NEVER, T0 - 1};
    usec_t now = T0;
    for (int wait : {100, 200, 400, 800, 1600, 3200, 3200, 3200}) {
        INFO(wait);
        REQUIRE(attach_watch_step(&w, &s, now) == ATTACH_BEGIN);
        CHECK(attach_watch_is_over(&w, T0, now) == (now >= T0 + ATTACH_LIMIT));
        attach_watch_ended(&w, wait == 400 ? 503 : 0, now);
        CHECK(attach_watch_next_timeout(&w, &s) == now + wait * MS);
        now += wait * MS;
    }
    s.heard = now - 1; // it works again, and fails an hour later
    now += 3600 * USEC_PER_SEC;
    CHECK_FALSE(attach_watch_is_over(&w, now, now));
    REQUIRE(attach_watch_step(&w, &s, now) == ATTACH_BEGIN);
    attach_watch_ended(&w, 0, now);
    CHECK(attach_watch_next_timeout(&w, &s) == now + 100 * MS);
    REQUIRE(attach_watch_step(&w, &s, now + 100 * MS) == ATTACH_BEGIN);
    attach_watch_ended(&w, 200, now + 150 * MS); // all begins again
    CHECK(attach_watch_next_timeout(&w, &s) <= now);
}

TEST_CASE("attach watch: a server that refuses the secret is asked once")
{
    for (int status : {404, 454, 455, 501}) {
        attach_watch w = begin();
        const attach_signs gone = {true, false, USEC_NEVER, T0};
        REQUIRE(attach_watch_step(&w, &gone, T0) == ATTACH_BEGIN);
        attach_watch_ended(&w, status, T0);
        CHECK(attach_watch_is_over(&w, T0, T0));
        CHECK(attach_watch_next_timeout(&w, &gone) == USEC_NEVER);
        CHECK(attach_watch_step(&w, &gone, T0 + 3600 * USEC_PER_SEC) == ATTACH_NOTHING);
    }
}
