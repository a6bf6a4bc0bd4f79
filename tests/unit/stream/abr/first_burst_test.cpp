// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <vector>

#include "stream/abr/first_burst.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;

struct flight { // packets that arrive one after the other
    int at_ms;
    int packets;
    int bytes;  // of each
    double bps; // of the path; 0: all are read at one time
};

// Returns the time of the last packet.
usec_t arrive(first_burst *b, const std::vector<flight> &flights)
{
    usec_t now = 0;
    for (const flight &f : flights) {
        now = f.at_ms * ms;
        for (int i = 0; i < f.packets; i++) {
            now += f.bps > 0 ? (usec_t)(f.bytes * 8e6 / f.bps) : 0;
            first_burst_add(b, (size_t)f.bytes, now);
        }
    }
    return now;
}
} // namespace

TEST_CASE("first_burst: what the path carries")
{
    const struct {
        const char *what;
        std::vector<flight> flights;
        int rtt_ms;
        double least, most; // Mbit/s
        bool is_long;
    } rows[] = {
        {"a slow path", {{0, 40, 1000, 400e3}}, 50, .39, .41, true},
        {"one that is slower than audio", {{0, 20, 1000, 50e3}}, 50, .049, .051, true},
        {"a window that doubles each round trip of 50 ms: the path has 4 Mbit/s",
         {{0, 10, 300, 4e6}, {50, 20, 300, 4e6}, {100, 40, 300, 4e6}, {150, 50, 300, 4e6}},
         50,
         3.9,
         5,
         false},
        {"all in one flight of 4 Mbit/s", {{0, 25, 1400, 4e6}}, 50, 3.9, 4.1, false},
        {"a fast path is known as far as the flights are long",
         {{0, 10, 300, 100e6}, {50, 20, 300, 100e6}, {100, 40, 300, 100e6}, {150, 50, 300, 100e6}},
         50,
         4,
         7,
         false},
        {"a bucket of 16 kB, and 600 kbit/s behind it",
         {{0, 16, 1000, 50e6}, {3, 20, 1000, 600e3}},
         50,
         .59,
         .7,
         false},
        {"a reader that was busy for 30 ms reads late, and all at one time",
         {{0, 15, 300, 1e6}, {66, 12, 300, 0}, {66, 20, 300, 1e6}},
         50,
         .9,
         1.1,
         false},
        {"too little for a stretch: as in a round trip", {{0, 3, 300, 4e6}}, 50, .09, .1, false},
        {"on the same machine", {{0, 30, 1000, 0}, {1, 30, 1000, 0}}, 0, 11, 13, false},
        {"nothing but one packet", {{0, 1, 1000, 4e6}}, 50, 0, 0, false},
    };
    for (const auto &row : rows) {
        CAPTURE(row.what);
        first_burst b = {};
        usec_t now = arrive(&b, row.flights);
        double mbps = first_burst_bps(&b, row.rtt_ms * ms, now) / 1e6;
        CHECK(mbps >= row.least);
        CHECK(mbps <= row.most);
        CHECK(first_burst_is_long(&b, row.rtt_ms * ms, now) == row.is_long);
    }
}

TEST_CASE("first_burst: more packets than it remembers")
{
    first_burst b = {};
    usec_t now = arrive(&b, {{0, 4000, 100, 2e6}});
    CHECK(first_burst_bps(&b, 50 * ms, now) == Approx(2e6).epsilon(.01));
    CHECK(first_burst_duration(&b, now) == 3999 * 400);
}
