// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/latency/recent_loss.h"

#include <catch2/catch.hpp>

#include <vector>

static const usec_t MEMORY = 15 * USEC_PER_SEC;

TEST_CASE("recent_loss: a packet is lost when three later ones arrived without it")
{
    struct {
        const char *what;
        std::vector<int64_t> arrivals;
        bool lost;
    } const table[] = {
        {"nothing", {}, false},
        {"in order", {7, 8, 9, 10, 11, 12}, false},
        {"a hole that two packets passed", {7, 9, 10}, false},
        {"a hole that three packets passed", {7, 9, 10, 11}, true},
        {"a swap", {7, 9, 8, 10, 11, 12, 13}, false},
        {"two packets late", {7, 9, 10, 8, 11, 12, 13}, false},
        {"three packets late: it was sent again", {7, 9, 10, 11, 8}, true},
        {"a duplicate", {7, 7, 8, 8, 9, 10, 11}, false},
        {"a long hole, of which all but the end is lost at once", {7, 1007}, true},
        {"a hole of two", {7, 10}, false},
        {"from before the first", {7, 5, 8, 9, 10, 11}, false},
    };
    for (const auto &row : table) {
        INFO(row.what);
        recent_loss l;
        recent_loss_init(&l);
        usec_t now = 5;
        for (int64_t seq : row.arrivals)
            recent_loss_packet(&l, seq, USEC_NEVER, ++now);
        CHECK(recent_loss_read(&l, MEMORY, now) == row.lost);
        CHECK_FALSE(recent_loss_read(&l, MEMORY, now + MEMORY));
    }
}

TEST_CASE("recent_loss: three events within two seconds are frequent, for 15 s")
{
    struct {
        const char *what;
        std::vector<int> losses; // ms
        bool frequent;
    } const table[] = {
        {"none", {}, false},
        {"two events", {0, 300}, false},
        {"three", {0, 300, 600}, true},
        {"three, one of which is long ago", {0, 1500, 2000}, false},
        {"losses within 200 ms are one event", {0, 50, 100, 150, 199, 300}, false},
        {"a new event begins after 200 ms", {0, 100, 200, 300, 400}, true},
        {"next to a TCP flow", {0, 2500, 2600, 5000, 5100, 7000, 9500}, false},
        {"rare, then frequent", {0, 3000, 6000, 6500, 7000}, true},
    };
    for (const auto &row : table) {
        INFO(row.what);
        recent_loss l;
        recent_loss_init(&l);
        int64_t seq = 0;
        usec_t now = 0;
        for (int at : row.losses) {
            now = at * USEC_PER_MSEC;
            if (seq == 0)
                recent_loss_packet(&l, seq++, USEC_NEVER, now);
            seq++; // lost
            for (int i = 0; i < 3; i++)
                recent_loss_packet(&l, seq++, USEC_NEVER, now);
        }
        CHECK(recent_loss_is_frequent(&l, now) == row.frequent);
        CHECK(recent_loss_is_frequent(&l, now + RECENT_LOSS_MEMORY - 1) == row.frequent);
        CHECK_FALSE(recent_loss_is_frequent(&l, now + RECENT_LOSS_MEMORY));
    }
}

TEST_CASE("recent_loss: it is forgotten after 15 s")
{
    recent_loss l;
    recent_loss_init(&l);
    for (int64_t seq : {1, 3, 4, 5})
        recent_loss_packet(&l, seq, USEC_NEVER, 1000);
    CHECK(recent_loss_read(&l, MEMORY, 1000 + MEMORY - 1));
    CHECK_FALSE(recent_loss_read(&l, MEMORY, 1000 + MEMORY));
    CHECK(recent_loss_read(&l, 2 * MEMORY, 1000 + MEMORY));
}

namespace
{

// Packets 0, 2, 3 and 4 of the given ways, ms, after a first one that met no queue; 1 is lost.
recent_loss lose(const std::vector<usec_t> &ways)
{
    recent_loss l;
    recent_loss_init(&l);
    recent_loss_packet(&l, 0, 0, 900);
    int64_t seq = 1;
    for (usec_t way : ways) {
        recent_loss_packet(&l, seq, way == USEC_NEVER ? way : way * USEC_PER_MSEC, 1000);
        seq += seq == 1 ? 2 : 1;
    }
    return l;
}

} // namespace

TEST_CASE("recent_loss: a loss whose neighbours met no queue is taken for a frequent one")
{
    struct {
        std::vector<usec_t> ways; // ms
        bool frequent;
    } const table[] = {
        {{0, 0, 0, 0}, true},           {{19, 19, 19, 19}, true},
        {{20, 0, 0, 0}, false}, // the packet before it
        {{0, 20, 0, 0}, false},         {{0, 0, 0, 20}, false},
        {{0, 0, 0, USEC_NEVER}, false},
    };
    for (const auto &row : table) {
        recent_loss l = lose(row.ways);
        CHECK(recent_loss_read(&l, MEMORY, 1000));
        CHECK(recent_loss_is_frequent(&l, 1000) == row.frequent);
    }
}

TEST_CASE("recent_loss: a shorter way that is found later shows that there was a queue")
{
    recent_loss l = lose({0, 0, 0, 0});
    recent_loss_packet(&l, 5, -5 * USEC_PER_MSEC, 2000);
    CHECK(recent_loss_is_frequent(&l, 2000));
    recent_loss_packet(&l, 6, -20 * USEC_PER_MSEC, 3000);
    CHECK_FALSE(recent_loss_is_frequent(&l, 3000));
    // A copy is as late as its repair took: it tells nothing of the queue.
    recent_loss late = lose({0, 0, 0, 0});
    recent_loss_packet(&late, 2, -20 * USEC_PER_MSEC, 3000);
    CHECK(recent_loss_is_frequent(&late, 3000));
}

TEST_CASE("recent_loss: losses at the peak of a queue are no events")
{
    struct {
        const char *what;
        usec_t peak, at; // ms
        bool frequent;
    } const table[] = {
        {"at the peak", 50, 50, false},
        {"near it", 50, 30, false},
        {"well below", 50, 29, true},
        {"a queue too short to tell", 19, 19, true},
    };
    for (const auto &row : table) {
        INFO(row.what);
        recent_loss l;
        recent_loss_init(&l);
        recent_loss_packet(&l, 0, 0, 0);
        recent_loss_packet(&l, 1, row.peak * USEC_PER_MSEC, 0);
        int64_t seq = 2;
        usec_t now = 0;
        for (int i = 0; i < RECENT_LOSS_EVENTS; i++) {
            now = i * 300 * USEC_PER_MSEC;
            for (int k = 0; k < 8; k++) {
                recent_loss_packet(&l, seq, row.at * USEC_PER_MSEC, now);
                seq += k == 3 ? 2 : 1;
            }
        }
        CHECK(recent_loss_is_frequent(&l, now) == row.frequent);
    }
}
