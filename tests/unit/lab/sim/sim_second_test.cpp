// SPDX-License-Identifier: GPL-2.0-or-later
// Whole sessions over two simulated networks: generated pairs of a Wi-Fi that fades and is cut, and
// a cellular network that is slower, with bounds on stalls and on the bytes of the second path.
#include "lab/sim/sim_second.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

#include "common/base/rng.h"
#include "tests/unit/lab/sim/simulation.hpp"

namespace
{

const int LENGTH = 60; // s

// Rates in steps of a second. `bad`: the probability that a fade or a cut begins.
std::string radio(rng *r, double mean_bps, double bad, int most)
{
    std::string text = "rate=";
    int left = 0;
    double low = 0;
    for (int i = 0; i < LENGTH; i++) {
        if (left == 0 && i > 3 && rng_unit(r) < bad) {
            left = 1 + static_cast<int>(rng_unit(r) * most);
            low = rng_unit(r) < 0.5 ? 0 : 0.05 + 0.1 * rng_unit(r); // of the mean
        }
        double bps = mean_bps * (left ? low : 0.7 + 0.6 * rng_unit(r));
        left -= left > 0;
        char step[64];
        if (i == 0)
            snprintf(step, sizeof(step), "%.0fbit", bps);
        else
            snprintf(step, sizeof(step), ":%.0fbit@%ds", bps, i);
        text += step;
    }
    return text + ",queue=droptail:150000B";
}

struct outcome {
    double stalled; // s
    double share;
};

outcome play(const std::string &first, const char *rtt, const std::string &second = "")
{
    std::string group =
        std::string("stream:via=scream,media=goddard,level=5,length=60s,latency=1s,pair=0,"
                    "repair=auto,goddard=play_buf_thresh=0.3,rtt=") +
        rtt;
    if (!second.empty()) {
        std::string link = second;
        std::replace(link.begin(), link.end(), ',', '/');
        group += ",secondrtt=60ms,second=" + link;
    }
    simulation s(first.c_str(), {group}, 1, 1, "");
    s.run(LENGTH);
    const stream_viewer *v = flow_stream_viewer(s.s.flows[0]);
    qoe_json r;
    qoe_read(v->qoe, &r, LENGTH * USEC_PER_SEC);
    two_paths_stats paths;
    double share = 0;
    if (flow_stream_paths(s.s.flows[0], &paths, LENGTH * USEC_PER_SEC))
        share = static_cast<double>(paths.bytes[1]) /
                static_cast<double>(paths.bytes[0] + paths.bytes[1]);
    return {r.freezes.total, share};
}

} // namespace

TEST_CASE("sim_second: a cut of the first path stalls nothing, and costs the cut's bytes")
{
    const char *slow = "rate=3mbit,queue=droptail:200ms";
    CHECK(play("rate=5mbit:0@20s:5mbit@23s,queue=droptail:100ms", "30ms").stalled > 2);
    outcome both = play("rate=5mbit:0@20s:5mbit@23s,queue=droptail:100ms", "30ms", slow);
    CHECK(both.stalled < 0.1);
    CHECK(both.share < 0.12);
}

TEST_CASE("sim_second: a second path that carries nothing takes nothing away")
{
    outcome one = play("rate=5mbit,queue=droptail:100ms", "30ms");
    outcome both =
        play("rate=5mbit,queue=droptail:100ms", "30ms", "rate=20kbit,queue=droptail:100ms");
    CHECK(one.stalled == 0);
    CHECK(both.stalled == 0);
    CHECK(both.share < 0.06);
}

TEST_CASE("sim_second: over pairs of radios stalls are rare, and the second path's bytes few")
{
    rng r = rng_seeded(20261130);
    double wifi = 0, cellular = 0, both = 0, share = 0;
    const int pairs = 30;
    for (int i = 0; i < pairs; i++) {
        std::string a = radio(&r, 8e6, 0.03, 2);
        std::string b = radio(&r, 4e6, 0.02, 1);
        outcome one = play(a, "30ms"), two = play(b, "60ms"), pair = play(a, "30ms", b);
        INFO(i << ": wifi " << one.stalled << " cellular " << two.stalled << " both "
               << pair.stalled << " share " << pair.share);
        wifi += one.stalled;
        cellular += two.stalled;
        both += pair.stalled;
        share += pair.share / pairs;
        CHECK(pair.share < 0.2);
    }
    INFO("wifi " << wifi << " cellular " << cellular << " both " << both << " share " << share);
    CHECK(both < 0.15 * std::min(wifi, cellular));
    CHECK(share < 0.12);
}
