// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/path_loss.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/base/rng.h"

namespace
{

const usec_t MS = USEC_PER_MSEC;
const usec_t T0 = 100 * USEC_PER_SEC;

transport_info info_of(double rtt_ms, usec_t unheard, uint64_t packets)
{
    transport_info info;
    transport_info_clear(&info);
    info.rtt_ms = rtt_ms;
    info.unheard = unheard;
    info.unheard_packets = packets;
    return info;
}

} // namespace

TEST_CASE("path loss: by the time without a report, the round trip and the packets")
{
    const struct {
        double rtt_ms;
        usec_t unheard;
        uint64_t packets;
        bool lost;
    } table[] = {
        {50, 0, 0, false},
        {50, 10 * USEC_PER_SEC, 0, false}, // nothing is outstanding: a
                                           // pause
        {50, 199 * MS, 50, false},
        {50, 200 * MS, 50, true},
        {50, 200 * MS, 3, true},
        {50, 399 * MS, 2, false}, // they may have got lost
        {50, 400 * MS, 1, true},
        {NAN, 199 * MS, 50, false},
        {NAN, 200 * MS, 50, true},
        {300, 399 * MS, 50, false}, // the first report takes a round trip
        {300, 400 * MS, 50, true},
    };
    for (const auto &row : table) {
        INFO(row.rtt_ms << " " << row.unheard << " " << row.packets);
        // It was asked 100 ms before, and has responded at once.
        path_loss p;
        path_loss_init(&p);
        path_loss_begin(&p);
        transport_info before = info_of(row.rtt_ms, PATH_LOSS_ASK, row.packets);
        (void)path_loss_check(&p, &before, T0);
        path_loss_responded(&p, p.asked, T0);
        usec_t now = T0 + 100 * MS;
        lateness_set_due(&p.own, now);
        transport_info info = info_of(row.rtt_ms, row.unheard, row.packets);
        bool lost = path_loss_check(&p, &info, now) == PATH_LOSS_LOST;
        CHECK(lost == row.lost);
        if (row.rtt_ms == 50)
            CHECK(path_loss_since(&info, now) == now - row.unheard - 75 * MS);
    }
}

TEST_CASE("path loss: a viewer that does not run is asked, and not left")
{
    // The last report came at 0, three packets and more left at once; frames each 33 ms. Of the
    // times in ms: when responses come to which request, and when this machine does not run.
    struct {
        const char *what;
        std::vector<std::pair<usec_t, int>> responses; // and the request's number
        usec_t away_from, away_until;
        usec_t report; // 0: none
        usec_t lost;   // 0: never
        int requests;
    } table[] = {
        {"a viewer that runs", {{110, 8}}, 0, 0, 0, 200, 1},
        {"one that runs, over a long path", {{200, 8}}, 0, 0, 0, 250, 1},
        {"one that does not run", {}, 0, 0, 0, 0, 1},
        {"one that runs again, and reports", {{1500, 8}}, 0, 0, 1520, 0, 1},
        {"one that runs again, and its datagrams do not pass", {{1500, 8}}, 0, 0, 0, 1550, 1},
        {"a response to an earlier request", {{110, 7}}, 0, 0, 0, 0, 1},
        {"one to a request that was not sent", {{110, 9}}, 0, 0, 0, 0, 1},
        {"this machine did not run: it asks again", {{110, 8}, {720, 9}}, 120, 700, 0, 775, 2},
        {"this machine did not run, and finds the reports", {{110, 8}}, 120, 700, 705, 0, 2},
    };
    for (const auto &row : table) {
        INFO(row.what);
        path_loss p;
        path_loss_init(&p);
        p.asked = 7;
        path_loss_begin(&p);
        int requests = 0;
        usec_t lost = 0;
        size_t next = 0;
        for (usec_t t = 0; t < 3000 && !lost; t += 5) {
            if (t > row.away_from && t < row.away_until)
                continue;
            usec_t now = T0 + t * MS;
            for (; next < row.responses.size() && row.responses[next].first <= t; next++)
                path_loss_responded(&p, row.responses[next].second, now);
            if (path_loss_next_timeout(&p) > now && t % 100 != 0)
                continue;
            bool reported = row.report && t >= row.report;
            transport_info info = info_of(5, (reported ? 0 : t) * MS, reported ? 0 : 5);
            path_loss_step step = path_loss_check(&p, &info, now);
            requests += step == PATH_LOSS_REQUEST;
            lost = step == PATH_LOSS_LOST ? t : 0;
        }
        CHECK(requests == row.requests);
        CHECK(lost == row.lost);
    }
}

namespace
{

// Two machines that run for some time and then do not, as seeded; a frame each 33 ms over
// datagrams, a report for each, and a connection. Whoever runs handles in each ms what has arrived.
struct simulation {
    struct machine {
        double stops, max; // per second; ms
        usec_t runs_from = 0;
        bool runs(rng *random, usec_t t)
        {
            if (t < runs_from)
                return false;
            if (rng_unit(random) < stops / 1000)
                runs_from = t + 1 + (usec_t)(rng_unit(random) * max);
            return t >= runs_from;
        }
    };
    usec_t half_rtt; // ms
    double jitter;   // ms, of datagrams
    machine sender, viewer;
    usec_t dies; // when datagrams cease to pass; 0: never
    bool all;    // the connection, too

    usec_t lost = 0; // when it was taken for lost, in ms; 0: not
    usec_t last_at_viewer = 0;
    int requests = 0;

    void run(unsigned seed, usec_t length)
    {
        rng random = rng_seeded(seed);
        std::deque<usec_t> media, reports; // arrival times
        std::deque<std::pair<usec_t, int>> asked, responses;
        path_loss p;
        path_loss_init(&p);
        path_loss_begin(&p);
        usec_t heard = 0, next_frame = 0;
        uint64_t outstanding = 0;
        for (usec_t t = 0; t < length && !lost; t++) {
            bool passes = !dies || t < dies;
            if (viewer.runs(&random, t)) {
                for (; !asked.empty() && asked[0].first <= t; asked.pop_front())
                    if (passes || !all)
                        responses.emplace_back(t + half_rtt, asked[0].second);
                bool any = false;
                for (; !media.empty() && media[0] <= t; media.pop_front())
                    any = true;
                if (any)
                    last_at_viewer = t;
                if (any && passes) // its timer is due in the next ms
                    reports.push_back(t + 1 + half_rtt + (usec_t)(rng_unit(&random) * jitter));
            }
            if (!sender.runs(&random, t))
                continue;
            usec_t now = T0 + t * MS;
            for (; !responses.empty() && responses[0].first <= t; responses.pop_front())
                path_loss_responded(&p, responses[0].second, now);
            bool is_timer = path_loss_next_timeout(&p) <= now, is_frame = t >= next_frame;
            transport_info info =
                info_of((double)(2 * half_rtt), outstanding ? (t - heard) * MS : 0, outstanding);
            if (is_timer || is_frame) {
                switch (path_loss_check(&p, &info, now)) {
                case PATH_LOSS_NONE:
                    break;
                case PATH_LOSS_REQUEST:
                    requests++;
                    if (passes || !all)
                        asked.emplace_back(t + half_rtt, p.asked);
                    break;
                case PATH_LOSS_LOST:
                    lost = t;
                    break;
                }
            }
            if (is_frame) {
                next_frame = t + 33;
                if (!outstanding)
                    heard = t;
                outstanding += 4;
                if (passes)
                    media.push_back(t + half_rtt + (usec_t)(rng_unit(&random) * jitter));
            }
            // The socket is read after the timers.
            std::sort(reports.begin(), reports.end());
            for (; !reports.empty() && reports[0] <= t; reports.pop_front()) {
                heard = t;
                outstanding = 0;
            }
            std::sort(media.begin(), media.end());
        }
    }
};

} // namespace

TEST_CASE("path loss: simulated machines that are stopped leave no path that passes")
{
    const struct {
        const char *what;
        usec_t half_rtt;
        double jitter;
        simulation::machine sender, viewer;
    } table[] = {
        {"busy", 0, 2, {5, 60}, {5, 60}},
        {"a busy viewer", 5, 10, {0, 0}, {3, 600}},
        {"a busy sender", 5, 10, {3, 600}, {0, 0}},
        {"both very busy", 20, 20, {2, 400}, {2, 400}},
        {"a viewer that is stopped for seconds", 50, 20, {0, 0}, {.5, 4000}},
        {"a far, busy viewer", 100, 30, {2, 100}, {2, 400}},
    };
    for (const auto &row : table)
        for (unsigned seed = 1; seed <= 20; seed++) {
            INFO(row.what << ", seed " << seed);
            simulation s{row.half_rtt, row.jitter, row.sender, row.viewer, 0, false};
            s.run(seed, 60000);
            CHECK(s.lost == 0);
        }
}

TEST_CASE("path loss: a path that dies is left soon, if the connection passes")
{
    for (usec_t half_rtt : {0, 5, 20, 50})
        for (unsigned seed = 1; seed <= 20; seed++) {
            INFO(half_rtt << " ms each way, seed " << seed);
            usec_t dies = 5000 + (usec_t)seed * 7;
            simulation s{half_rtt, 5, {0, 0}, {0, 0}, dies, false};
            s.run(seed, 20000);
            REQUIRE(s.lost > 0);
            // Until the first frame over the connection: the next one, and its way.
            CHECK(s.lost + half_rtt + 33 - s.last_at_viewer < 400 + 33);
            CHECK(s.lost + half_rtt - s.last_at_viewer < 400);

            simulation busy{half_rtt, 5, {5, 60}, {5, 60}, dies, false};
            busy.run(seed, 20000);
            REQUIRE(busy.lost > 0);
            CHECK(busy.lost - dies < 1500);

            simulation both{half_rtt, 5, {0, 0}, {0, 0}, dies, true};
            both.run(seed, 20000);
            CHECK(both.lost == 0); // moving gains nothing
            CHECK(both.requests == 1);
        }
}
