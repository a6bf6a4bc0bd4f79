// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include "tests/unit/lab/link/queue_fixture.hpp"

namespace
{

queue_config codel_config(bool ecn = false)
{
    queue_config c = config_of(QUEUE_CODEL, 10000);
    c.target = 5 * MS;
    c.interval = 100 * MS;
    c.ecn = ecn;
    return c;
}

// Dequeues every millisecond; returns at which times the queue dropped or marked.
std::vector<usec_t> signal_times(queue_fixture &f, usec_t from_ms, usec_t to_ms)
{
    std::vector<usec_t> times;
    for (usec_t t = from_ms; t <= to_ms; t++) {
        size_t before = f.signals();
        f.take(t * MS);
        for (size_t n = f.signals(); n > before; n--)
            times.push_back(t);
    }
    return times;
}

// The wait is over 5 ms since 5 ms, so the first drop is at 105. Then, from 105 + 100 on, the
// distances are 100 / sqrt(2), ... : 205, 275.71, 333.45, 383.45, 428.17, 468.99 ms.
const std::vector<usec_t> law = {105, 205, 276, 334, 384, 429};

} // namespace

TEST_CASE("codel: drops come interval / sqrt(count) apart")
{
    queue_fixture f(codel_config());
    f.put_many(1000, 0);
    CHECK(signal_times(f, 1, 430) == law);
    CHECK(f.dropped(LINK_DROP_AQM).size() == law.size());
}

TEST_CASE("codel: ECT packets are marked at the same times, and delivered")
{
    queue_fixture f(codel_config(true));
    f.put_many(1000, 0, ECN_ECT0);
    CHECK(signal_times(f, 1, 430) == law);
    CHECK(f.c.dropped.empty());
    CHECK(f.out.size() == 430);
    // The dequeue of millisecond n gives packet n - 1.
    CHECK(f.marked == std::vector<uint32_t>{104, 204, 275, 333, 383, 428});

    queue_fixture others(codel_config(true));
    others.put_many(1000, 0, ECN_NOT);
    CHECK(signal_times(others, 1, 430) == law);
    CHECK(others.marked.empty());
}

TEST_CASE("codel: the next dropping state begins at the last rate, if that is recent")
{
    struct row {
        usec_t again_ms;
        std::vector<usec_t> times;
    };
    const row rows[] = {
        // Six signals, of which the first began the state: count = 5, then 605 + 100 / sqrt(5) =
        // 649.72, + 100 / sqrt(6) = 690.55
        {500, {605, 650, 691}},
        // 468.99 + 16 * 100 = 2068.99 is the last time that counts as recent
        {1960, {2065, 2110, 2151}},
        {1965, {2070, 2170}}, // 2170 + 100 / sqrt(2) = 2240.7
    };
    for (const row &r : rows) {
        CAPTURE(r.again_ms);
        queue_fixture f(codel_config());
        f.put_many(1000, 0);
        signal_times(f, 1, 430);
        f.take_all(430 * MS);
        CHECK(f.signals() == law.size()); // none was due, and none at the end
        f.put_many(1000, r.again_ms * MS);
        CHECK(signal_times(f, r.again_ms + 1, r.again_ms + 220) == r.times);
    }
}

TEST_CASE("codel: below the target, or with at most an MTU left, nothing is dropped")
{
    queue_fixture f(codel_config());
    for (usec_t t = 0; t < 1000; t++) { // 4.999 ms each
        f.put_many(1, t * 10 * MS);
        f.put_many(1, t * 10 * MS);
        f.put_many(1, t * 10 * MS);
        f.take_all(t * 10 * MS + 4999);
    }
    CHECK(f.signals() == 0);

    queue_fixture slow(codel_config());
    slow.put_many(2, 0); // at each dequeue one more of 1500 bytes is left
    for (usec_t t = 1; t < 1000; t++) {
        slow.take(t * 200 * MS);
        slow.put(t * 200 * MS);
    }
    CHECK(slow.signals() == 0);
}

TEST_CASE("codel: one wait below the target ends the dropping state and restarts the interval")
{
    queue_fixture f(codel_config());
    f.put_many(150, 0);
    f.put(146 * MS); // number 150
    f.put_many(500, 146 * MS);
    // 105: a drop, so the dequeue of ms n gives packet n from then on: 150 comes at 150 and has
    // waited 4 ms. The wait is 5 ms at 151, the interval ends at 251.
    auto times = signal_times(f, 1, 252);
    CHECK(times == std::vector<usec_t>{105, 251});
}

TEST_CASE("codel: several due drops happen at once, marks once per dequeue")
{
    queue_fixture drops(codel_config());
    drops.put_many(1000, 0);
    signal_times(drops, 1, 105);
    drops.take(334 * MS); // 205, 275.71, 333.45
    CHECK(drops.signals() == 4);

    queue_fixture marks(codel_config(true));
    marks.put_many(1000, 0, ECN_ECT0);
    signal_times(marks, 1, 105);
    for (size_t n : {2u, 3u, 4u, 4u}) {
        marks.take(334 * MS);
        CHECK(marks.signals() == n);
    }
}

TEST_CASE("codel: the hard limit")
{
    queue_config c = codel_config(true);
    c.limit.packets = 3;
    queue_fixture f(c);
    f.put_many(5, 0, ECN_ECT0);
    CHECK(f.dropped(LINK_DROP_FULL) == std::vector<uint32_t>{3, 4});
}

TEST_CASE("codel: a responsive sender waits near the target and keeps the link busy")
{
    const bool ecn = GENERATE(false, true);
    queue_fixture f(codel_config(ecn));
    run_link(f, 60 * USEC_PER_SEC, ECN_ECT0, aimd{f, 0.3});
    CHECK(mean_of_second_half(f.waits) < 15 * MS);
    CHECK(f.out.size() > 0.9 * 60e6 / 1200);
}

TEST_CASE("codel: permanent overload of 10 %: bounded, with 10 % dropped")
{
    queue_fixture f(codel_config());
    rng r = rng_seeded(11);
    run_link(f, 60 * USEC_PER_SEC, ECN_NOT,
             [&](usec_t) { return static_cast<usec_t>(rng_below(&r, 2182)); }); // mean 1090.5 us
    CHECK(mean_of_second_half(f.waits) < 100 * MS);
    CHECK(*std::max_element(f.waits.begin(), f.waits.end()) < 300 * MS);
    CHECK(f.out.size() > 0.98 * 60e6 / 1200);
    CHECK(f.dropped(LINK_DROP_FULL).empty());
}
