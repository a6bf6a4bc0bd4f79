// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/base/rng.h"
#include "stream/send/scheduler.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;

// Frame n of a stream with two temporal layers at 30 frames/s: T0 frames are even and depend on n -
// 2, T1 frames are odd and depend on n - 1.
scheduler_frame frame(int64_t n)
{
    scheduler_frame f{};
    f.number = n;
    f.temporal_id = static_cast<int>(n % 2);
    f.depends_on = n == 0 ? -1 : n % 2 ? n - 1 : n - 2;
    f.captured = n * 33 * ms;
    f.bytes = 1000;
    return f;
}

struct drop {
    int64_t number;
    drop_cause cause;
    bool operator==(const drop &o) const
    {
        return number == o.number && cause == o.cause;
    }
};

std::vector<drop> drops(scheduler &s)
{
    std::vector<drop> all;
    scheduler_frame f;
    drop_cause cause;
    while (scheduler_dropped(&s, &f, &cause))
        all.push_back({f.number, cause});
    return all;
}

std::unique_ptr<scheduler> make(usec_t bound, int layers = 2, bool reliable = true)
{
    auto s = std::make_unique<scheduler>();
    scheduler_init(s.get(), bound, layers, reliable);
    return s;
}

void push(scheduler &s, int64_t n, usec_t now)
{
    scheduler_frame f = frame(n);
    scheduler_push(&s, &f, now);
}

} // namespace

TEST_CASE("scheduler: with room, every frame leaves in order")
{
    auto s = make(400 * ms);
    for (int64_t n = 0; n < 10; n++) {
        usec_t now = n * 33 * ms;
        push(*s, n, now);
        const scheduler_frame *f = scheduler_next(s.get(), now);
        REQUIRE(f);
        CHECK(f->number == n);
        CHECK(scheduler_next(s.get(), now) == f); // begun: stays
        scheduler_done(s.get());
        CHECK(scheduler_next(s.get(), now) == nullptr);
    }
    CHECK(drops(*s).empty());
    CHECK(s->counters.sent[0] == 5);
    CHECK(s->counters.sent[1] == 5);
}

TEST_CASE("scheduler: the top layer is dropped at half of the bound, the base layer at the bound")
{
    auto s = make(400 * ms);
    for (int64_t n = 0; n < 7; n++)
        push(*s, n, n * 33 * ms); // up to 198 ms: frame 0 is 198 ms old
    CHECK(drops(*s).empty());
    push(*s, 7, 231 * ms); // 231 > 200
    CHECK(drops(*s) ==
          std::vector<drop>{{1, DROP_LAYER}, {3, DROP_LAYER}, {5, DROP_LAYER}, {7, DROP_LAYER}});
    push(*s, 8, 264 * ms);
    // At 401 ms frame 0 is past its deadline; the frames that depend on it are dropped with it,
    // directly or not.
    CHECK(scheduler_next(s.get(), 401 * ms) == nullptr);
    CHECK(drops(*s) == std::vector<drop>{{0, DROP_DEADLINE},
                                         {2, DROP_BROKEN},
                                         {4, DROP_BROKEN},
                                         {6, DROP_BROKEN},
                                         {8, DROP_BROKEN}});
}

TEST_CASE("scheduler: a frame waits from the time it was due here")
{
    auto s = make(100 * ms);
    auto leaves = [&](int64_t n, usec_t came, usec_t at) {
        scheduler_frame f = frame(n);
        f.depends_on = -1;
        scheduler_push(s.get(), &f, came);
        bool left = scheduler_next(s.get(), at) != nullptr;
        if (left)
            scheduler_done(s.get());
        else
            CHECK(drops(*s) == std::vector<drop>{{n, DROP_DEADLINE}});
        return left;
    };
    // A camera that delivers 800 ms late.
    CHECK(leaves(0, 800 * ms, 900 * ms));
    CHECK(leaves(2, 866 * ms, 966 * ms));
    // Captured at 132 ms, it comes 50 ms later than that; the next one 101 ms, which is too late.
    CHECK(leaves(4, 982 * ms, 1032 * ms));
    CHECK(!leaves(6, 1099 * ms, 1099 * ms));
    // Stored media is early: this one is to be sent at 1980 ms.
    scheduler_frame f = frame(60);
    f.depends_on = -1;
    scheduler_push(s.get(), &f, 1100 * ms);
    CHECK(scheduler_waiting(s.get(), 1900 * ms) == 0);
    CHECK(scheduler_next(s.get(), 2080 * ms));
}

TEST_CASE("scheduler: three layers are dropped one by one, at a third and two thirds")
{
    auto s = make(300 * ms, 3);
    auto push3 = [&](int64_t n, int tid, int64_t depends, usec_t now) {
        scheduler_frame f{n, depends, tid, n * 10 * ms, 100, nullptr, 0, 0, 0};
        scheduler_push(s.get(), &f, now);
    };
    push3(0, 0, -1, 0);
    push3(1, 2, 0, 10 * ms);
    push3(2, 1, 0, 20 * ms);
    push3(3, 2, 2, 30 * ms);
    scheduler_next(s.get(), 30 * ms); // frame 0 begins, the oldest that waits is frame 1
    CHECK(drops(*s).empty());
    scheduler_next(s.get(), 111 * ms); // frame 1 is 101 ms old
    CHECK(drops(*s) == std::vector<drop>{{1, DROP_LAYER}, {3, DROP_LAYER}});
    scheduler_next(s.get(), 220 * ms); // frame 2 is 200 ms old: not more than two thirds
    CHECK(drops(*s).empty());
    scheduler_next(s.get(), 221 * ms);
    CHECK(drops(*s) == std::vector<drop>{{2, DROP_LAYER}});
}

TEST_CASE("scheduler: what began on a reliable transport stays, on a datagram transport it goes at "
          "its deadline")
{
    for (bool reliable : {true, false}) {
        auto s = make(400 * ms, 2, reliable);
        push(*s, 0, 0);
        REQUIRE(scheduler_next(s.get(), 0));
        const scheduler_frame *f = scheduler_next(s.get(), 1000 * ms);
        CHECK((f != nullptr) == reliable);
        CHECK(drops(*s).size() == (reliable ? 0 : 1));
    }
}

TEST_CASE("scheduler: a repaired frame leans on an older one and leaves; what leans on the dropped "
          "one does not")
{
    auto s = make(100 * ms);
    push(*s, 0, 0);
    scheduler_next(s.get(), 0);
    scheduler_done(s.get());
    push(*s, 2, 66 * ms);
    CHECK(scheduler_next(s.get(), 200 * ms) == nullptr); // frame 2 is too late
    CHECK(drops(*s) == std::vector<drop>{{2, DROP_DEADLINE}});
    scheduler_frame four = frame(4); // leans on 2
    four.captured = 200 * ms;
    scheduler_push(s.get(), &four, 200 * ms);
    CHECK(drops(*s) == std::vector<drop>{{4, DROP_BROKEN}});
    scheduler_frame six = frame(6);
    six.depends_on = 0; // repaired
    six.captured = 210 * ms;
    scheduler_push(s.get(), &six, 210 * ms);
    const scheduler_frame *f = scheduler_next(s.get(), 210 * ms);
    REQUIRE(f);
    CHECK(f->number == 6);
}

TEST_CASE("scheduler: a frame that depends on a dropped one leaves if that is queued again")
{
    auto s = make(100 * ms);
    push(*s, 0, 0);
    push(*s, 2, 66 * ms);
    CHECK(scheduler_next(s.get(), 101 * ms) == nullptr);
    CHECK(drops(*s) == std::vector<drop>{{0, DROP_DEADLINE}, {2, DROP_BROKEN}});
    for (int64_t n : {0, 2, 4}) {
        scheduler_frame f = frame(n);
        f.captured = 110 * ms;
        scheduler_push(s.get(), &f, 110 * ms);
    }
    CHECK(drops(*s).empty());
    for (int64_t n : {0, 2, 4}) {
        const scheduler_frame *f = scheduler_next(s.get(), 120 * ms);
        REQUIRE(f);
        CHECK(f->number == n);
        scheduler_done(s.get());
    }
}

TEST_CASE("scheduler: a flush keeps a begun frame and does not remember what it dropped")
{
    auto s = make(1000 * ms);
    for (int64_t n = 0; n < 4; n++)
        push(*s, n, n);
    scheduler_next(s.get(), 4);
    scheduler_flush(s.get(), 2);
    CHECK(drops(*s) == std::vector<drop>{{3, DROP_FLUSHED}, {2, DROP_FLUSHED}});
    scheduler_set_layers(s.get(), 2);
    scheduler_frame key = frame(2); // the same number, of another size
    key.depends_on = -1;
    scheduler_push(s.get(), &key, 70 * ms);
    push(*s, 3, 70 * ms);
    CHECK(drops(*s).empty());
    CHECK(s->count == 4);
}

TEST_CASE("scheduler: a full queue refuses the newest")
{
    auto s = make(1000000 * ms, 1);
    for (int64_t n = 0; n < SCHEDULER_MAX_FRAMES + 2; n++) {
        scheduler_frame f{n, -1, 0, 0, 10, nullptr, 0, 0, 0};
        scheduler_push(s.get(), &f, 0);
        std::vector<drop> gone = drops(*s);
        CHECK(gone.size() == (n < SCHEDULER_MAX_FRAMES ? 0 : 1));
    }
    CHECK(s->bytes == 10 * SCHEDULER_MAX_FRAMES);
}

TEST_CASE("scheduler: late frames do not keep a new one out of a full queue")
{
    auto s = make(1000 * ms, 1);
    for (int64_t n = 0; n < SCHEDULER_MAX_FRAMES; n++) {
        scheduler_frame f{n, -1, 0, 0, 10, nullptr, 0, 0, 0};
        scheduler_push(s.get(), &f, 0);
    }
    scheduler_frame late{1000, -1, 0, 1001 * ms, 10, nullptr, 0, 0, 0};
    scheduler_push(s.get(), &late, 1001 * ms);
    CHECK(drops(*s).size() == SCHEDULER_MAX_FRAMES);
    CHECK(s->counters.dropped[DROP_FULL][0] == 0);
    CHECK(s->counters.dropped[DROP_DEADLINE][0] == SCHEDULER_MAX_FRAMES);
    const scheduler_frame *f = scheduler_next(s.get(), 1001 * ms);
    REQUIRE(f);
    CHECK(f->number == 1000);
}

TEST_CASE("scheduler: clearing also returns a begun frame")
{
    for (bool reliable : {true, false}) {
        auto s = make(1000 * ms, 2, reliable);
        for (int64_t n = 0; n < 3; n++)
            push(*s, n, n);
        scheduler_next(s.get(), 3);
        scheduler_clear(s.get());
        CHECK(drops(*s) ==
              std::vector<drop>{{2, DROP_FLUSHED}, {1, DROP_FLUSHED}, {0, DROP_FLUSHED}});
        CHECK(s->bytes == 0);
        push(*s, 3, 100 * ms); // nothing is taken for begun
        scheduler_flush(s.get(), 0);
        CHECK(drops(*s) == std::vector<drop>{{3, DROP_FLUSHED}});
    }
}

TEST_CASE("scheduler: over any link, each frame comes back once, in order, in time, and never "
          "without what it leans on")
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rng r = rng_seeded(seed);
        const usec_t bound = 200 * ms + static_cast<usec_t>(rng_below(&r, 800)) * ms;
        auto s = make(bound, 2, rng_below(&r, 2) == 0);
        std::set<int64_t> left, back;
        int64_t last = -1;
        usec_t room_at = 0;
        int64_t n = 0;
        auto fetch = [&] {
            for (const drop &d : drops(*s))
                REQUIRE(back.insert(d.number).second);
        };
        for (usec_t now = 0; now < 60 * USEC_PER_SEC; now += ms) {
            if (now >= n * 33 * ms) {
                push(*s, n++, now);
                fetch();
            }
            const scheduler_frame *f = now >= room_at ? scheduler_next(s.get(), now) : nullptr;
            fetch();
            if (!f)
                continue;
            REQUIRE(f->number > last);
            REQUIRE(now - f->captured <= bound);
            REQUIRE((f->depends_on < 0 || left.count(f->depends_on)));
            last = f->number;
            left.insert(last);
            REQUIRE(back.insert(last).second);
            scheduler_done(s.get());
            room_at = now + static_cast<usec_t>(rng_below(&r, 70)) *
                                ms; // about what is offered, in bursts
            if (back.size() == static_cast<size_t>(n) && rng_below(&r, 50) == 0)
                room_at = now + 150 * ms;
        }
        fetch();
        CHECK(back.size() + static_cast<size_t>(s->count) == static_cast<size_t>(n));
        CHECK(left.size() > static_cast<size_t>(n) / 4);
    }
}
