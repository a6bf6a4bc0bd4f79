// SPDX-License-Identifier: GPL-2.0-or-later
// The policy with a model of server and path, for several seeds: a queue that drains at a rate with
// steps and noise, and occasionally loses a packet.
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <vector>

#include "common/base/rng.h"
#include "stream/goddard/goddard.h"
#include "stream/goddard/startup_rate.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const usec_t sec = USEC_PER_SEC;

struct level_row {
    int bytes, fps, bps;
};
const level_row figure_6[] = {{1000, 10, 80000},  {1000, 15, 120000}, {2000, 15, 240000},
                              {2000, 20, 320000}, {4000, 20, 640000}, {4000, 30, 960000},
                              {8000, 30, 1920000}};

struct step {
    usec_t from;
    double bps;
};

struct change {
    usec_t at;
    int level;
};

// Frames of the level's size at its times, in packets of 1000 bytes, enter a queue of
// `queue_bytes`. Lossy: packets that do not fit are lost; otherwise the server waits for room. The
// delay is 50 ms in each direction.
class world
{
  public:
    world(uint64_t seed, bool lossy, std::vector<step> steps)
        : random(rng_seeded(seed)), is_lossy(lossy), capacities(std::move(steps))
    {
        ladder l{};
        l.level_count = 7;
        for (int i = 0; i < 7; i++)
            l.levels[i].bitrate_bps = figure_6[i].bps;
        goddard_params params;
        goddard_params_init(&params);
        const goddard_config c = {&l, &params, lossy ? GODDARD_BY_PAIR : GODDARD_BY_MEDIA,
                                  6,  lossy,   false};
        goddard_init(&g, &c, 0);
    }
    void run(usec_t until, double pair_bps)
    {
        poll(0);
        if (is_lossy) {
            const goddard_pair p = {{0, static_cast<usec_t>(8e9 / pair_bps)}, {1000, 1000}};
            goddard_on_pair(&g, &p, 0);
            poll(0);
        }
        for (usec_t now = ms; now <= until; now += ms)
            tick(now);
    }
    // Returns the seconds in [from, to) at levels with a bitrate above the path's rate.
    double above(usec_t from, usec_t to) const
    {
        double total = 0;
        for (usec_t t = from; t < to; t += 100 * ms)
            total += figure_6[level_at(t)].bps > bps_at(t) ? 0.1 : 0;
        return total;
    }
    int level_at(usec_t t) const
    {
        int level = 0;
        for (const change &c : changes)
            level = c.at <= t ? c.level : level;
        return level;
    }
    double longest_above() const
    {
        double longest = 0, run = 0;
        for (usec_t t = 0; t < 1200 * sec; t += 100 * ms) {
            run = figure_6[level_at(t)].bps > bps_at(t) ? run + 0.1 : 0;
            longest = std::max(longest, run);
        }
        return longest;
    }

    std::vector<change> changes;
    int rebufferings = 0;
    usec_t played_at = 0;

  private:
    struct arrival {
        usec_t at, media_end;
        bool whole;
        int lost; // this one, and those before it of which nothing came
        int64_t bytes;
    };
    static constexpr usec_t one_way = 50 * ms;
    static constexpr double queue_bytes = 20000;
    static constexpr double packet_loss = 0.0005;

    goddard g;
    rng random;
    bool is_lossy;
    std::vector<step> capacities;
    std::deque<goddard_action> asked; // on their way, with their times
    std::deque<usec_t> asked_at;
    std::deque<arrival> on_path;
    goddard_action served{};
    bool serving = false;
    double tremble = 1; // times the rate, anew each 100 ms
    double backlog = 0;
    usec_t next_send = 0, media_sent = 0, media_held = 0, position = 0, first_arrival = 0;
    int unseen = 0;
    int64_t later_bytes = 0;

    double bps_at(usec_t t) const
    {
        double bps = 0;
        for (const step &s : capacities)
            bps = s.from <= t ? s.bps : bps;
        return bps;
    }
    void poll(usec_t now)
    {
        goddard_action a;
        while (goddard_poll(&g, &a)) {
            if (a.level >= 0 && (changes.empty() || changes.back().level != a.level))
                changes.push_back({now, a.level});
            rebufferings += a.reason == GODDARD_WHY_REBUFFER;
            if (a.state == GODDARD_STREAMING && played_at == 0)
                played_at = now;
            asked.push_back(a);
            asked_at.push_back(now + one_way);
        }
    }
    void send_frame(usec_t now)
    {
        const level_row &l = figure_6[served.level];
        int64_t kept_bytes = 0;
        for (int i = 0; i < l.bytes / 1000; i++) {
            const bool kept =
                !is_lossy || (backlog + 1000 <= queue_bytes && rng_unit(&random) >= packet_loss);
            backlog += kept ? 1000 : 0;
            kept_bytes += kept ? 1000 : 0;
        }
        const usec_t interval = sec / l.fps;
        media_sent += interval;
        next_send = std::max(now - 100 * ms, next_send) +
                    static_cast<usec_t>(static_cast<double>(interval) / served.speed);
        if (kept_bytes == 0) {
            unseen++;
            return;
        }
        const usec_t queued = static_cast<usec_t>(8e6 * backlog / (tremble * bps_at(now)));
        const bool whole = kept_bytes == l.bytes;
        on_path.push_back(
            {now + queued + one_way, media_sent, whole, unseen + (whole ? 0 : 1), kept_bytes});
        unseen = 0;
    }
    void arrive(const arrival &a, usec_t now)
    {
        const goddard_frames f = {a.whole ? 1 : 0, a.lost, 0, a.bytes};
        goddard_on_frames(&g, &f, now);
        poll(now);
        if (a.whole)
            media_held = a.media_end;
        if (first_arrival == 0) {
            first_arrival = now;
        } else if (!is_lossy) {
            later_bytes += a.bytes;
            const usec_t took = now - first_arrival;
            if (took >= STARTUP_RATE_LEAST)
                goddard_on_media_rate(
                    &g, 8.0 * static_cast<double>(later_bytes) / usec_to_sec(took), now);
            poll(now);
        }
        goddard_on_buffer(&g, media_held - position, now);
        poll(now);
    }
    void tick(usec_t now)
    {
        for (; !asked.empty() && asked_at.front() <= now; asked_at.pop_front()) {
            served = asked.front();
            asked.pop_front();
            if (!serving && served.level >= 0)
                next_send = now;
            serving = served.level >= 0;
        }
        if (now % (100 * ms) == 0)
            tremble = 0.8 + 0.4 * rng_unit(&random);
        backlog = std::max(0.0, backlog - tremble * bps_at(now) * 1e-3 / 8);
        while (serving && next_send <= now && (is_lossy || backlog < queue_bytes))
            send_frame(now);
        while (!on_path.empty() && on_path.front().at <= now) {
            arrive(on_path.front(), now);
            on_path.pop_front();
        }
        if (g.state == GODDARD_STREAMING && (position += ms) >= media_held) {
            position = media_held;
            goddard_on_empty(&g, now);
            poll(now);
        }
    }
};
} // namespace

TEST_CASE("goddard channel: levels follow a changing lossy path, at the policy's intervals")
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        CAPTURE(seed);
        // The pair measures an empty 2 Mbit/s link; others leave 700, then 300, then 1500 kbit/s.
        world w(seed, true, {{0, 700e3}, {300 * sec, 300e3}, {600 * sec, 1500e3}});
        w.run(1200 * sec, 2e6);
        REQUIRE(w.changes.front().level == 6);
        for (size_t i = 1; i < w.changes.size(); i++) {
            const usec_t gap = w.changes[i].at - w.changes[i - 1].at;
            const int by = w.changes[i].level - w.changes[i - 1].level;
            CAPTURE(i, gap);
            CHECK((by == 1 ? gap >= 60 * sec : by == -1 && gap >= 5 * sec));
        }
        // 640 kbit/s are below the first rate and 960 above it; 240 and 320; 960 and 1920.
        for (usec_t t = 25 * sec; t < 300 * sec; t += sec)
            CHECK((w.level_at(t) >= 2 && w.level_at(t) <= 5));
        for (usec_t t = 325 * sec; t < 600 * sec; t += sec)
            CHECK((w.level_at(t) >= 1 && w.level_at(t) <= 3));
        for (usec_t t = 900 * sec; t < 1200 * sec; t += sec)
            CHECK((w.level_at(t) >= 4 && w.level_at(t) <= 6));
        // A level far too high is left after one interval. One that exceeds the path by about the
        // tolerated loss (320 kbit/s) is left after three. As each is tried every upscale_interval,
        // the former takes a thirteenth of the time (5 s of 65), the latter a fifth.
        CHECK(w.longest_above() <= 16.5);
        CHECK(w.above(25 * sec, 300 * sec) <= 275 / 13.0);
        CHECK(w.above(325 * sec, 600 * sec) <= 275 / 5.0);
        CHECK(w.above(900 * sec, 1200 * sec) <= 300 / 11.0);
        CHECK(w.rebufferings == 0);
        // Whole frames come when the level is near the rate: 10 s, then 5 s of media.
        CHECK(w.played_at < 17 * sec);
    }
}

TEST_CASE("goddard channel: the capacity limits the level even if the path seems better")
{
    world w(1, true, {{0, 10e6}});
    w.run(600 * sec, 500e3);
    CHECK(w.changes.size() == 1);
    CHECK(w.level_at(600 * sec) == 3);
    CHECK(w.rebufferings == 0);
}

TEST_CASE("goddard channel: without losses, rebuffering lowers the level, which then stays")
{
    world w(1, false, {{0, 300e3}, {60 * sec, 150e3}});
    w.run(600 * sec, 0);
    CHECK(w.changes.front().level == 6); // measured with the highest
    CHECK(w.level_at(1 * sec) == 2);
    CHECK(w.level_at(59 * sec) == 2);
    CHECK(w.level_at(600 * sec) == 1);
    CHECK(w.rebufferings == 1);
    CHECK(w.above(70 * sec, 600 * sec) < 10);
}
