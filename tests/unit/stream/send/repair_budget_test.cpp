// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/repair_budget.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

const usec_t ms = USEC_PER_MSEC;

// An encode at 100 frames per second, of which each may become a key frame.
struct encode {
    repair_budget b;
    int64_t number = 0;
    std::vector<int64_t> keys; // ms

    explicit encode(bool shared)
    {
        repair_budget_init(&b, 0);
        repair_budget_viewers(&b, shared ? 2 : 1, 0);
        repair_budget_begin(&b, 0, 0, -REPAIR_BEGINNING); // so long ago
    }
    usec_t now() const
    {
        return number * 10 * ms;
    }
    // `each` runs before each frame, until `end` (ms).
    template <typename F> void run(int64_t end, F each)
    {
        for (; now() < end * ms; number++) {
            each(number * 10);
            if (!repair_budget_key_is_due(&b, number, now()))
                continue;
            repair_budget_key_made(&b, number, now());
            keys.push_back(number * 10);
        }
    }
};

using times = std::vector<int64_t>;

} // namespace

TEST_CASE("repair_budget: one loss causes one key frame, at least 2 s after the last one")
{
    struct row {
        int64_t loss, key; // ms; the first frame is a key frame
    };
    for (row r : {row{10, 2000}, {1500, 2000}, {2500, 2500}, {9000, 9000}}) {
        encode e(true);
        e.run(12000, [&](int64_t t) {
            if (t == r.loss)
                CHECK(repair_budget_wait(&e.b, 1, e.now()));
            if (t == r.loss && t < r.key) // a second request changes nothing
                CHECK(!repair_budget_wait(&e.b, 1, e.now()));
        });
        CHECK(e.keys == times{0, r.key});
        CHECK(e.b.counts.keys == 1);
    }
}

TEST_CASE("repair_budget: viewers with permanent requests get a key frame every 2 s")
{
    for (int viewers : {1, 2, static_cast<int>(REPAIR_VIEWERS)}) {
        encode e(true);
        e.run(10000, [&](int64_t) {
            for (int i = 0; i < viewers; i++)
                repair_budget_wait(&e.b, i, e.now());
        });
        CHECK(e.keys == times{0, 2000, 4000, 6000, 8000});
        CHECK(e.b.counts.keys == 4);
    }
}

TEST_CASE("repair_budget: next to a viewer with permanent requests, a loss waits 2 s at most")
{
    for (int64_t loss = 100; loss < 16000; loss += 370) {
        encode e(true);
        int64_t healed = -1;
        e.run(20000, [&](int64_t t) {
            repair_budget_wait(&e.b, 1, e.now());
            if (t / 10 == loss / 10)
                repair_budget_wait(&e.b, 2, e.now());
        });
        for (int64_t key : e.keys)
            if (healed < 0 && key >= loss)
                healed = key;
        INFO("loss at " << loss << " ms");
        CHECK(healed >= 0);
        CHECK(healed - loss <= 2000);
    }
}

TEST_CASE("repair_budget: starting viewers get key frames at once, unless there are too many")
{
    encode one(true);
    one.run(5000, [&](int64_t t) {
        if (t == 700 || t == 4000)
            repair_budget_begin(&one.b, 1, 0, one.now());
    });
    CHECK(one.keys == times{0, 700, 4000});
    encode crowd(true);
    crowd.run(20000, [&](int64_t) { repair_budget_begin(&crowd.b, 1, 0, crowd.now()); });
    CHECK(crowd.keys[1] == 250);
    CHECK(crowd.keys[2] == 500);
    CHECK(crowd.keys.size() >= 20); // one a second
    CHECK(crowd.keys.size() <= 4 + 20);
    CHECK(crowd.b.counts.keys == 0);
    encode both(true); // and losses besides: not more
    both.run(20000, [&](int64_t) {
        repair_budget_begin(&both.b, 1, 0, both.now());
        repair_budget_wait(&both.b, 1, both.now());
    });
    CHECK(both.keys == crowd.keys);
}

TEST_CASE("repair_budget: a viewer that lost its first key frame starts again, once")
{
    struct row {
        int64_t first, every, end; // ms; losses, from `first` on
        times keys;
    };
    // The viewer starts at 3000.
    for (const row &r : {row{3050, 10000, 8000, {0, 3000, 3250}},
                         {3400, 10000, 8000, {0, 3000, 3400}},
                         {3050, 50, 8000, {0, 3000, 3250, 5250, 7250}},
                         {7900, 10000, 9000, {0, 3000, 7900}},
                         {8000, 10, 10400, {0, 3000, 8000, 10000}}}) {
        encode e(true);
        e.run(r.end, [&](int64_t t) {
            if (t == 3000)
                repair_budget_begin(&e.b, 1, 0, e.now());
            if (t >= r.first && (t - r.first) % r.every == 0)
                repair_budget_wait(&e.b, 1, e.now());
        });
        INFO("losses from " << r.first << " ms, every " << r.every);
        CHECK(e.keys == r.keys);
    }
    // A PLI of a starting viewer has a shorter limit.
    encode e(true);
    repair_budget_begin(&e.b, 1, 0, 0);
    e.run(300, [](int64_t) {});
    CHECK(repair_budget_pli(&e.b, 1, e.now()));
    CHECK(!repair_budget_pli(&e.b, 2, e.now()));
}

TEST_CASE("repair_budget: repairs of one viewer, and of many")
{
    struct row {
        int viewers, at_once, in_20_s;
    };
    // 3 and 1.5 a second each; together 4 and two a second.
    for (row r : {row{1, 3, 33}, {2, 4, 44}, {10, 4, 44}}) {
        repair_budget b;
        repair_budget_init(&b, 0);
        repair_budget_viewers(&b, 2, 0);
        int given = 0;
        for (int t = 0; t <= 20000; t += 10) {
            for (int i = 0; i < 10 * r.viewers; i++)
                given += repair_budget_take(&b, 1 + i % r.viewers, t * ms);
            if (t == 0)
                CHECK(given == r.at_once);
        }
        INFO(r.viewers << " viewers");
        CHECK(given >= r.in_20_s - 2); // rounding
        CHECK(given <= r.in_20_s);
    }
    // Next to a viewer with permanent requests, a quiet one still gets a repair.
    repair_budget b;
    repair_budget_init(&b, 0);
    repair_budget_viewers(&b, 2, 0);
    for (int t = 0; t <= 10000; t += 10)
        repair_budget_take(&b, 1, t * ms);
    CHECK(repair_budget_take(&b, 2, 10000 * ms));
    // A viewer that waits for a key frame gets no repair.
    repair_budget_wait(&b, 3, 10000 * ms);
    CHECK(!repair_budget_take(&b, 3, 20000 * ms));
    repair_budget_key_made(&b, 1, 20000 * ms);
    CHECK(repair_budget_take(&b, 3, 20000 * ms));
}

TEST_CASE("repair_budget: a single viewer gets every repair and key frame; PLIs 4 a second")
{
    encode e(false);
    e.run(2000, [&](int64_t t) {
        CHECK(repair_budget_take(&e.b, 1, e.now()));
        repair_budget_pli(&e.b, 1, e.now());
        if (t == 1100)
            repair_budget_wait(&e.b, 1, e.now()); // a NACK: another one was lost
    });
    CHECK(e.keys == times{0, 250, 500, 750, 1000, 1100, 1350, 1600, 1850});
    // A viewer that seeks does not wait, and an earlier key frame does not serve it.
    e.b.accounts[1].waits = false;
    repair_budget_begin(&e.b, 1, e.number + 3, e.now());
    e.run(2100, [](int64_t) {});
    CHECK(e.keys.back() == 2030);
    // The key frame is there already.
    repair_budget_begin(&e.b, 1, 203, e.now());
    e.run(2500, [](int64_t) {});
    CHECK(e.keys.back() == 2030);
    // When another viewer joins, the former single viewer has no disadvantage.
    repair_budget_viewers(&e.b, 2, e.now());
    repair_budget_wait(&e.b, 2, e.now());
    e.run(6000, [](int64_t) {});
    CHECK(e.keys.back() == 4030);
}

TEST_CASE("repair_budget: a PLI just after a key frame or a repair is ignored")
{
    struct row {
        int account, at; // ms
        bool shared, waits;
    };
    // `shared`: by two viewers. A key frame at 0, a repair of viewer 1 at 5000 ms.
    for (row r : {row{1, 900, true, false},
                  {1, 1000, true, true},
                  {1, 5900, true, false},
                  {2, 5900, true, true},
                  {1, 6000, true, true},
                  {1, 900, false, true}}) {
        repair_budget b;
        repair_budget_init(&b, 0);
        repair_budget_viewers(&b, r.shared ? 2 : 1, 0);
        repair_budget_key_made(&b, 0, 0);
        if (r.at > 5000)
            REQUIRE(repair_budget_take(&b, 1, 5000 * ms));
        INFO("viewer " << r.account << " at " << r.at << " ms");
        CHECK(repair_budget_pli(&b, r.account, r.at * ms) == r.waits);
        CHECK(b.accounts[r.account].waits == r.waits);
    }
}

TEST_CASE("repair_budget: a viewer that leaves and returns does not make the other one single")
{
    encode e(true);
    e.run(20000, [&](int64_t t) {
        repair_budget_viewers(&e.b, t % 20 ? 2 : 1, e.now());
        repair_budget_begin(&e.b, 1, 0, e.now());
        repair_budget_wait(&e.b, 1, e.now());
    });
    CHECK(e.keys.size() <= 4 + 20);
    repair_budget_viewers(&e.b, 1, e.now());
    size_t before = e.keys.size();
    e.run(30000, [&](int64_t) { repair_budget_wait(&e.b, 1, e.now()); });
    CHECK(e.keys.size() >= before + 8 * 3); // alone after 2 s
}

TEST_CASE("repair_budget: a planned key frame is no start of the viewers without an account")
{
    encode e(true);
    for (int account : {0, 1}) {
        repair_account &a = e.b.accounts[account];
        a.begun_at = 0;
        a.again = 0;
        repair_budget_begin(&e.b, account, 500, 3000 * ms);
        CHECK(a.again == (account == 0 ? 0 : REPAIR_BEGIN_AGAIN));
        CHECK(a.begun_at == (account == 0 ? 0 : 3000 * ms));
        CHECK(e.b.from == 500);
    }
    repair_budget_begin(&e.b, 0, 0, 4000 * ms);
    CHECK(e.b.accounts[0].again == REPAIR_BEGIN_AGAIN);
}
