// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/adapt/rate_estimator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <vector>

#include "common/base/rng.h"

namespace
{

const usec_t MS = USEC_PER_MSEC;
const double FPS = 30;

// A link with a queue, behind a window or none: milliseconds pass, frames are made as asked for.
struct network {
    rate_estimator f;
    rng r = rng_seeded(5);
    double capacity_bps = 2e6;
    usec_t rtt = 50 * MS;
    double window = 1e12; // bytes under way at most: the rest waits at the sender
    usec_t now = 100 * USEC_PER_SEC;
    double made = 0, sent = 0, served = 0, delivered = 0;
    double queue = 0; // bytes in the link's
    double due = 0;
    usec_t key_every = 0; // a frame with 0.15 s of the rate more
    usec_t key_at = 0;
    usec_t others = 0;       // a queue of other people's, a sawtooth of 2 s up to this
    std::deque<double> acks; // delivered as of each millisecond of the last round trip
    std::deque<std::pair<double, usec_t>> frames; // made up to here, when
    std::vector<usec_t> lateness;                 // of each frame, when it is served
    double asked = 0;
    double allowed_bps = NAN; // by a rate controller
    double scale = 1;         // of the frames, which need not use the rate

    network()
    {
        rate_estimator_init(&f, 500e3, 100e3, 8e6);
    }

    // As a session does, when a frame comes.
    void update()
    {
        rate_estimator_sample s{};
        s.delivered = delivered;
        s.made = made;
        s.allowed_bps = allowed_bps;
        s.flight = sent - delivered;
        s.rtt = rtt + static_cast<usec_t>(queue * 8e6 / capacity_bps);
        s.rtt += others * (now % (2 * USEC_PER_SEC)) / (2 * USEC_PER_SEC);
        for (const auto &[end, at] : frames)
            if (end > sent) {
                s.waiting = now - at;
                break;
            }
        rate_estimator_update(&f, &s, now);
    }

    void frame()
    {
        update();
        asked = rate_estimator_bps(&f);
        double bytes = scale * asked / 8 / FPS * (0.7 + 0.6 * rng_unit(&r));
        if (key_every && now >= key_at) {
            bytes += 0.15 * asked / 8;
            key_at = now + key_every;
        }
        made += bytes;
        frames.emplace_back(made, now);
    }

    void millisecond()
    {
        now += MS;
        due += 1e-3 * FPS;
        if (due >= 1) {
            due -= 1;
            frame();
        }
        double room = std::max(0.0, window - (sent - delivered));
        double out = std::min(room, made - sent);
        sent += out;
        queue += out;
        double step = std::min(queue, capacity_bps / 8e3);
        queue -= step;
        served += step;
        while (!frames.empty() && frames.front().first <= served + 1e-6) {
            lateness.push_back(now - frames.front().second);
            frames.pop_front();
        }
        acks.push_back(served);
        if (acks.size() > static_cast<size_t>(rtt / MS)) {
            delivered = acks.front();
            acks.pop_front();
        }
    }

    void run(double seconds)
    {
        for (int i = 0; i < seconds * 1000; i++)
            millisecond();
    }

    // The share of the link that is used in so many seconds.
    double use(double seconds)
    {
        double before = made;
        run(seconds);
        return (made - before) * 8 / seconds / capacity_bps;
    }

    // Seconds until `what` holds; at most `most`.
    template <class F> double until(double most, F what)
    {
        for (int i = 0; i < most * 1000; i++) {
            if (what())
                return i / 1e3;
            millisecond();
        }
        return INFINITY;
    }

    double late_ms(double quantile)
    {
        std::sort(lateness.begin(), lateness.end());
        return lateness[static_cast<size_t>(quantile * static_cast<double>(lateness.size() - 1))] /
               1e3;
    }
};

} // namespace

TEST_CASE("rate_estimator: a link that halves and doubles")
{
    for (double window : {1e12, 25e3, 60e3})
        for (usec_t rtt : {10 * MS, 50 * MS, 200 * MS}) {
            if (window < 2e6 / 8 * usec_to_sec(rtt) * 1.2)
                continue;
            INFO("window " << window << ", rtt " << rtt / MS);
            network n;
            n.window = window;
            n.rtt = rtt;
            n.run(20);
            n.lateness.clear();
            CHECK(n.use(20) > 0.8);
            CHECK(n.late_ms(0.95) < 200);

            n.capacity_bps = 1e6;
            double limit = 0.5 + 2 * usec_to_sec(rtt);
            CHECK(n.until(5, [&] { return rate_estimator_bps(&n.f) < n.capacity_bps; }) < limit);
            n.run(2);
            n.lateness.clear();
            n.run(10);
            CHECK(n.late_ms(0.95) < 200 + usec_to_msec(rtt));

            n.capacity_bps = 2e6;
            CHECK(n.until(30, [&] { return rate_estimator_bps(&n.f) > 0.8 * n.capacity_bps; }) <
                  10);
        }
}

TEST_CASE("rate_estimator: a queue that a dip has shown to be this stream's stays short")
{
    for (usec_t rtt : {20 * MS, 50 * MS, 100 * MS})
        for (int phase = 0; phase < 10; phase++) {
            INFO("rtt " << rtt / MS << ", phase " << phase);
            network n;
            n.rtt = rtt;
            n.allowed_bps = 20e6;
            n.f.ceiling_bps = 2e6;
            n.capacity_bps = 4e6;
            n.run(10 + 0.0033 * phase);
            n.capacity_bps = 1e6;
            CHECK(n.until(1, [&] { return n.f.dips; }) < 0.2 + 2 * usec_to_sec(rtt));
            CHECK(n.until(2, [&] { return !n.f.dips; }) < 1);
            n.run(1);
            n.lateness.clear();
            CHECK(n.use(10) > 0.8);
            CHECK(n.late_ms(0.95) < 80);
        }
}

TEST_CASE("rate_estimator: what a dip left to arrive is not what the path carries")
{
    network n;
    n.allowed_bps = 20e6;
    n.f.ceiling_bps = 2e6;
    n.capacity_bps = 4e6;
    n.run(10);
    n.capacity_bps = 1e6;
    CHECK(n.until(1, [&] { return n.f.dips; }) < 1);
    CHECK(n.until(2, [&] { return !n.f.dips; }) < 2);
    n.scale = 0.2;
    n.run(0.2);
    n.scale = 1;
    CHECK(n.f.took_bps < 0.7e6);
    n.rtt += 45 * MS; // a large frame is on the path
    double least = INFINITY;
    for (int i = 0; i < 100; i++) {
        n.millisecond();
        least = std::min(least, rate_estimator_bps(&n.f));
    }
    CHECK(least > 0.7e6);
}

TEST_CASE("rate_estimator: key frames, and other people's queues, are no lack of room")
{
    network keys;
    keys.key_every = 2 * USEC_PER_SEC;
    keys.run(20);
    CHECK(keys.use(30) > 0.65);

    for (usec_t others : {80 * MS, 160 * MS, 300 * MS}) {
        INFO(others / MS);
        network sawtooth;
        sawtooth.others = others;
        sawtooth.run(20);
        CHECK(sawtooth.use(30) > 0.75);
    }
}

TEST_CASE("rate_estimator: what a rate controller's start holds up is no lack of room")
{
    // 100 kbit/s are allowed at first, twice as much each 0.3 s; 500 kbit/s are made from the
    // start.
    rate_estimator f;
    rate_estimator_init(&f, 500e3, 100e3, 8e6);
    rate_estimator_sample s{};
    s.allowed_bps = 40e3;
    s.rtt = 50 * MS;
    double most = 0;
    for (int i = 1; i <= 180; i++) {
        usec_t now = USEC_PER_SEC + i * 33 * MS;
        s.made += rate_estimator_bps(&f) / 8 * 0.033;
        s.delivered = std::min(s.made, s.delivered + s.allowed_bps / 8 * 0.033);
        s.waiting = static_cast<usec_t>((s.made - s.delivered) * 8 / s.allowed_bps * 1e6);
        most = std::max(most, static_cast<double>(s.waiting));
        CHECK_FALSE(rate_estimator_update(&f, &s, now));
        s.allowed_bps *= std::pow(2, 0.033 / 0.5);
    }
    CHECK(most > 200 * MS); // there was a queue
    CHECK(f.capacity_bps == 0);
    CHECK(rate_estimator_bps(&f) > 2e6);
}

TEST_CASE("rate_estimator: a rate controller that stays below what is wanted starts no more")
{
    // It allows 1 Mbit/s, of which 800 kbit/s come through: the rest waits, and is made up for.
    rate_estimator f;
    rate_estimator_init(&f, 2e6, 100e3, 8e6);
    rate_estimator_sample s{};
    s.rtt = 20 * MS;
    for (int i = 1; i <= 120; i++) {
        s.allowed_bps = i % 2 ? 1e6 : 0.95e6;
        s.made += rate_estimator_bps(&f) / 8 * 0.033;
        s.delivered = std::min(s.made, s.delivered + 0.8e6 / 8 * 0.033);
        s.queued = s.made - s.delivered;
        s.waiting = static_cast<usec_t>(s.queued * 8 / 0.8);
        rate_estimator_update(&f, &s, USEC_PER_SEC + i * 33 * MS);
    }
    CHECK(rate_estimator_bps(&f) == Approx(0.8e6).epsilon(0.1));
    CHECK(s.waiting < 100 * MS);
}

TEST_CASE("rate_estimator: while the controller leads, no queue limits the media")
{
    // A queue of others grows by 80 ms each second and vanishes. The controller allows 3 Mbit/s.
    for (bool leads : {false, true}) {
        rate_estimator f;
        rate_estimator_init(&f, 2e6, 100e3, 8e6);
        rate_estimator_sample s{};
        s.allowed_bps = 3e6;
        s.leads = leads;
        double least = INFINITY;
        for (int i = 1; i <= 300; i++) {
            s.rtt = 50 * MS + i % 30 * 80 * MS / 30;
            s.made += rate_estimator_bps(&f) / 8 * 0.033;
            s.delivered += (s.made - s.delivered) / 4;
            s.flight = s.made - s.delivered;
            rate_estimator_update(&f, &s, USEC_PER_SEC + i * 33 * MS);
            if (i > 150)
                least = std::min(least, rate_estimator_bps(&f));
        }
        INFO((leads ? "leads" : "does not"));
        CHECK((least > 2.9e6) == leads);
    }
}

TEST_CASE("rate_estimator: the queue of a key frame that is expected is none, if it passes")
{
    // Once 0.16 s of the rate more is made; all of it comes through in 0.2 s, or it stays.
    struct {
        bool expected, passes, too_much;
    } const table[] = {{false, true, true}, {true, true, false}, {true, false, true}};
    for (const auto &row : table) {
        INFO(row.expected << row.passes);
        rate_estimator f;
        rate_estimator_init(&f, 1e6, 100e3, 2e6);
        rate_estimator_sample s{};
        s.allowed_bps = NAN;
        s.rtt = 20 * MS;
        double serves = 1e6;
        bool too_much = false;
        for (int i = 0; i < 300; i++) {
            usec_t now = USEC_PER_SEC + i * 20 * MS;
            s.made += 0.8e6 / 8 * 0.02;
            if (i == 100) {
                s.made += 0.16e6 / 8;
                serves = row.passes ? 1.6e6 : 0.7e6;
                if (row.expected)
                    rate_estimator_expect_key(&f, now);
            }
            s.delivered = std::min(s.made, s.delivered + serves / 8 * 0.02);
            s.waiting = static_cast<usec_t>((s.made - s.delivered) * 8 / serves * 1e6);
            too_much = rate_estimator_update(&f, &s, now) || too_much;
        }
        CHECK(too_much == row.too_much);
    }
}

TEST_CASE("rate_estimator: after a pause the capacity is not known")
{
    network n;
    n.run(20);
    n.capacity_bps = 1e6;
    n.run(20);
    REQUIRE(n.f.capacity_bps > 0);
    const double target = n.f.target_bps;
    rate_estimator_restart(&n.f);
    CHECK(n.f.capacity_bps == 0);
    CHECK(n.f.target_bps == target);
    n.capacity_bps = 2e6;
    CHECK(n.until(5, [&] { return rate_estimator_bps(&n.f) > 0.8 * n.capacity_bps; }) < 2);
}

TEST_CASE("rate_estimator: it begins fast")
{
    network n;
    n.run(3);
    CHECK(rate_estimator_bps(&n.f) > 1.5e6);
    CHECK(n.late_ms(0.95) < 250);
}

TEST_CASE("rate_estimator: floor, ceiling, and a rate controller's limit")
{
    network n;
    n.capacity_bps = 50e3; // less than the floor
    n.run(20);
    CHECK(rate_estimator_bps(&n.f) == 100e3);

    network fast;
    fast.capacity_bps = 100e6;
    fast.run(20);
    CHECK(rate_estimator_bps(&fast.f) == 8e6);
    rate_estimator_set_ceiling(&fast.f, 1e6);
    CHECK(rate_estimator_bps(&fast.f) == 1e6);

    rate_estimator f;
    rate_estimator_init(&f, 2e6, 100e3, 8e6);
    rate_estimator_sample s{};
    s.allowed_bps = 1e6;
    rate_estimator_update(&f, &s, USEC_PER_SEC);
    CHECK(rate_estimator_bps(&f) == 2e6); // no report yet
    s.delivered = 1000;
    rate_estimator_update(&f, &s, 2 * USEC_PER_SEC);
    CHECK(rate_estimator_bps(&f) == Approx(1e6));
    f.capacity_bps = 2e6;
    rate_estimator_update(&f, &s, 3 * USEC_PER_SEC);
    CHECK(rate_estimator_bps(&f) == Approx(1e6));
    s.allowed_bps = 8e6; // the target was not forgotten
    rate_estimator_update(&f, &s, 4 * USEC_PER_SEC);
    CHECK(rate_estimator_bps(&f) == 2e6);
}

TEST_CASE("rate_estimator: media that does not use the rate does not raise it")
{
    rate_estimator f;
    rate_estimator_init(&f, 500e3, 100e3, 8e6);
    rate_estimator_sample s{};
    s.allowed_bps = NAN;
    s.rtt = 20 * MS;
    for (int i = 0; i < 1000; i++) {
        s.made += 100; // 80 kbit/s
        s.delivered += 100;
        rate_estimator_update(&f, &s, USEC_PER_SEC + i * 10 * MS);
    }
    CHECK(rate_estimator_bps(&f) == 500e3);
}

namespace
{

// 1 Mbit/s is made at 30 frames a second and passes in 50 ms; a window of 3 Mbit/s.
struct windowed {
    rate_estimator f;
    rate_estimator_sample s{};
    usec_t now = USEC_PER_SEC;

    windowed()
    {
        rate_estimator_init(&f, 1e6, 100e3, 1e6);
        s.allowed_bps = 3e6;
        s.is_window = true;
        s.rtt = 50 * MS;
        s.flight = 1e6 / 8 * 0.05;
        run(3, 1e6, 1e6);
    }
    void run(double seconds, double made_bps, double delivered_bps)
    {
        for (int i = 0; i < seconds * 30; i++) {
            now += 33 * MS;
            s.made += made_bps / 8 * 0.033;
            s.delivered += delivered_bps / 8 * 0.033;
            rate_estimator_update(&f, &s, now);
        }
    }
};

} // namespace

TEST_CASE("rate_estimator: a window halved by a loss is followed at once, and is no capacity")
{
    windowed w;
    REQUIRE(rate_estimator_bps(&w.f) == 1e6);
    w.s.allowed_bps = 0.5e6;
    w.s.waiting = 300 * MS;
    w.s.queued = 5000;
    w.run(0.3, 1e6, 0.5e6);
    CHECK(rate_estimator_bps(&w.f) < 0.5e6); // what waits is made up for
    CHECK(w.f.capacity_bps == 0);
    w.s.queued = w.s.waiting = 0;
    w.run(0.1, 0.5e6, 0.5e6);
    CHECK(rate_estimator_bps(&w.f) == Approx(1.05 * 0.5e6));
    w.s.allowed_bps = 3e6;
    w.run(0.1, 0.5e6, 0.5e6);
    CHECK(rate_estimator_bps(&w.f) == 1e6);
}

TEST_CASE("rate_estimator: a window that counts packets carries less where they are not full")
{
    windowed w;
    w.s.allowed_bps = 0.5e6;
    for (int i = 0; i < 60; i++) {
        w.s.padding += 600; // 145 kbit/s
        w.run(1. / 30, 0.4e6, 0.4e6);
    }
    CHECK(rate_estimator_bps(&w.f) == Approx(1.05 * 0.5e6 - 145.5e3).epsilon(0.02));
}

TEST_CASE("rate_estimator: a growing queue makes the rate dip, and come back below what arrived")
{
    struct {
        bool queue; // the round trip grows on; else it was an outlier
        double least, most;
    } const table[] = {{true, 0.4e6, 0.5e6}, {false, 0.99e6, 1e6}};
    for (const auto &row : table) {
        INFO(row.queue);
        windowed w;
        w.s.rtt = 70 * MS; // half of what is made arrives now
        w.s.flight += 4000;
        w.run(0.11, 1e6, 0.5e6);
        w.s.flight += 4000;
        w.run(0.04, 1e6, 0.5e6);
        CHECK(rate_estimator_bps(&w.f) < 0.4e6);
        CHECK(w.f.dips);
        w.s.rtt = row.queue ? 150 * MS : 50 * MS;
        w.run(0.3, 0.2e6, 0.5e6);
        w.s.flight = 1e6 / 8 * 0.05;
        w.s.rtt = 50 * MS;
        w.run(0.3, 0.4e6, 0.4e6);
        CHECK_FALSE(w.f.dips);
        CHECK(rate_estimator_target(&w.f) >= row.least);
        CHECK(rate_estimator_target(&w.f) <= row.most);
    }
}

TEST_CASE("rate_estimator: a window that stays empty while data waits is not the limit")
{
    struct {
        double flight; // of a window of 18,750 bytes
        bool follows;
    } const table[] = {{0, true}, {3000, true}, {9000, false}};
    for (const auto &row : table) {
        INFO(row.flight);
        windowed w;
        w.s.allowed_bps = 3e6;
        w.s.flight = row.flight;
        for (int i = 0; i < 90; i++) { // the viewer's end takes half of what is made
            w.s.waiting = std::min<usec_t>(500 * MS, w.s.waiting + 17 * MS);
            w.run(1. / 30, 1e6, 0.5e6);
        }
        CHECK((w.f.capacity_bps > 0) == row.follows);
        CHECK((rate_estimator_target(&w.f) < 0.6e6) == row.follows);
    }
}
