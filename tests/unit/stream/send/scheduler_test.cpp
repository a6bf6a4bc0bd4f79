// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/base/rng.h"
#include "stream/send/scheduler.h"
#include "tests/support/holds.hpp"

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

struct destroy {
    void operator()(scheduler *s) const
    {
        scheduler_destroy(s);
        delete s;
    }
};
using scheduler_ptr = std::unique_ptr<scheduler, destroy>;

scheduler_ptr make_as(const scheduler_config &config)
{
    scheduler_ptr s(new scheduler());
    REQUIRE(scheduler_init(s.get(), &config) == 0);
    return s;
}

scheduler_ptr make(usec_t bound, int layers = 2, bool reliable = true)
{
    scheduler_config config{};
    config.bound = bound;
    config.layers = layers;
    config.reliable = reliable;
    return make_as(config);
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

TEST_CASE("scheduler: frames that are not due yet stay, however long the first one has waited")
{
    auto s = make(400 * ms);
    for (int64_t n = 0; n < 12; n++) // stored media, which comes early
        push(*s, n, 0);
    CHECK(scheduler_next(s.get(), 0)->number == 0);
    scheduler_done(s.get());
    CHECK(scheduler_next(s.get(), 230 * ms)->number == 1); // it has waited 197 ms
    scheduler_done(s.get());
    // Frame 2 has waited 204 ms, and the frames up to 8 are due.
    CHECK(scheduler_next(s.get(), 270 * ms)->number == 2);
    CHECK(drops(*s) == std::vector<drop>{{3, DROP_LAYER}, {5, DROP_LAYER}, {7, DROP_LAYER}});
    CHECK(s->count == 7); // 9 and 11 are early
}

TEST_CASE("scheduler: what the first stored frames wait is the viewer's start")
{
    auto s = make(400 * ms, 2, false);
    scheduler_begin(s.get());
    for (int64_t n = 0; n < 20; n++)
        push(*s, n, 0);
    const auto leaves = [&](int64_t n, usec_t at) {
        const scheduler_frame *f = scheduler_next(s.get(), at);
        REQUIRE(f);
        CHECK(f->number == n);
        scheduler_done(s.get());
    };
    leaves(0, 300 * ms);
    CHECK(scheduler_waiting(s.get(), 320 * ms) == 0); // frame 1 is due at 333 ms now
    leaves(1, 433 * ms);                              // and frame 2 at 466 ms
    CHECK(scheduler_waiting(s.get(), 466 * ms) == 0);
    for (int64_t n = 2; n <= 7; n++) // up to a capture time of 200 ms
        leaves(n, (n * 33 + 400) * ms);
    // From then on the law holds: frame 8 is due at 664 ms and waits 201 ms. Up to 14 are due.
    leaves(8, 865 * ms);
    CHECK(drops(*s) == std::vector<drop>{{9, DROP_LAYER}, {11, DROP_LAYER}, {13, DROP_LAYER}});
    scheduler_clear(s.get());
    drops(*s);

    // The start is put off by two bounds at most: this path carries nothing.
    scheduler_begin(s.get());
    scheduler_frame first = frame(0);
    first.captured = 10000 * ms;
    scheduler_push(s.get(), &first, 10000 * ms);
    CHECK(scheduler_next(s.get(), 11200 * ms)->number == 0);
    CHECK(scheduler_next(s.get(), 11201 * ms) == nullptr);
    CHECK(drops(*s) == std::vector<drop>{{0, DROP_DEADLINE}});
}

TEST_CASE("scheduler: a frame that began before a seek does not put off the start after it")
{
    for (bool reliable : {true, false}) {
        INFO(reliable);
        scheduler_config config{};
        config.bound = 400 * ms;
        config.layers = 2;
        config.reliable = reliable;
        auto s = make_as(config);
        push(*s, 0, 0);
        REQUIRE(scheduler_next(s.get(), 0)); // it begins to leave, and the transport gets stuck
        scheduler_begin(s.get());
        const auto came = [&](int64_t n, usec_t at) {
            scheduler_frame f = frame(n);
            f.depends_on = -1;
            f.temporal_id = 0;
            f.captured = at;
            scheduler_push(s.get(), &f, at);
        };
        came(100, 10000 * ms);
        if (reliable)
            scheduler_done(s.get());
        drops(*s);
        // The start: up to a capture time of 10.2 s.
        for (int n = 1; n < 8; n++) {
            REQUIRE(scheduler_next(s.get(), (9950 + 50 * n) * ms)->number == 99 + n);
            scheduler_done(s.get());
            came(100 + n, (10000 + 50 * n) * ms);
        }
        // Nothing had to wait, so the bound is as without a start.
        CHECK(scheduler_next(s.get(), 10751 * ms) == nullptr);
        drops(*s);
        // The start is not over before its time, either.
        scheduler_begin(s.get());
        came(200, 20000 * ms);
        CHECK(scheduler_next(s.get(), 20600 * ms)->number == 200);
        scheduler_done(s.get());
    }
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

TEST_CASE("scheduler: an encoder that falls behind sends late frames, not none")
{
    // A frame every 33 ms, 20 ms after its capture; from frame 60 on the encoder takes 900 ms for
    // a frame without a reference, 600 to 1200 ms for the others, and leaves five of six pictures
    // out. What is dropped is followed by a frame without a reference, which is later still.
    auto s = make(400 * ms);
    usec_t begun = 0, longest = 0;
    int64_t sent = -1;
    int late = 0;
    bool anew = false;
    for (int64_t n = 0; n < 360; n += n < 60 ? 2 : 6) {
        scheduler_frame f = frame(n);
        f.temporal_id = 0;
        f.depends_on = n == 0 || anew ? -1 : n - (n <= 60 ? 2 : 6);
        usec_t delay = n < 60 ? 20 * ms : anew ? 1700 * ms : (600 + n * 7 % 600) * ms;
        usec_t now = usec_max(f.captured + delay, begun);
        scheduler_push(s.get(), &f, now);
        const scheduler_frame *next = scheduler_next(s.get(), now);
        anew = !drops(*s).empty();
        if (!next)
            continue;
        CHECK(next->number > sent);
        sent = next->number;
        longest = usec_max(longest, now - begun);
        begun = now;
        late += n >= 60;
        scheduler_done(s.get());
    }
    CHECK(late >= 6); // of 10 s
    CHECK(longest < 2500 * ms);
}

TEST_CASE("scheduler: a source that is late for a moment changes nothing")
{
    // One frame is 600 ms late, 300 ms after one that left in time: it is dropped. Nor do frames
    // that wait for a network become timely by it.
    auto s = make(400 * ms);
    push(*s, 0, 20 * ms);
    REQUIRE(scheduler_next(s.get(), 20 * ms));
    scheduler_done(s.get());
    push(*s, 2, 66 * ms + 620 * ms);
    CHECK(drops(*s) == std::vector<drop>{{2, DROP_DEADLINE}});
    for (int64_t n = 90; n < 96; n += 2) { // 3 s later, 20 ms after their captures
        scheduler_frame f = frame(n);
        f.depends_on = n == 90 ? -1 : n - 2;
        scheduler_push(s.get(), &f, f.captured + 20 * ms);
    }
    CHECK(drops(*s).empty());
    CHECK(scheduler_next(s.get(), 90 * 33 * ms + 421 * ms) == nullptr);
    CHECK(drops(*s) ==
          std::vector<drop>{{90, DROP_DEADLINE}, {92, DROP_BROKEN}, {94, DROP_BROKEN}});
}

TEST_CASE("scheduler: what a source that stood still delivers late at once is dropped")
{
    auto s = make(400 * ms);
    push(*s, 0, 20 * ms);
    REQUIRE(scheduler_next(s.get(), 20 * ms));
    scheduler_done(s.get());
    for (int64_t n : {2, 4}) { // neither depends on the other
        scheduler_frame f = frame(n);
        f.depends_on = 0;
        scheduler_push(s.get(), &f, 1600 * ms + n * ms);
    }
    CHECK(drops(*s) == std::vector<drop>{{2, DROP_DEADLINE}, {4, DROP_DEADLINE}});
    scheduler_frame f = frame(48);
    f.depends_on = -1;
    scheduler_push(s.get(), &f, f.captured + 20 * ms);
    CHECK(drops(*s).empty());
    REQUIRE(scheduler_first(s.get()));
    CHECK(scheduler_first(s.get())->due == f.captured + 20 * ms);
}

TEST_CASE("scheduler: three layers are dropped one by one, at a third and two thirds")
{
    auto s = make(300 * ms, 3);
    auto push3 = [&](int64_t n, int tid, int64_t depends, usec_t now) {
        scheduler_frame f{n, depends, tid, n * 10 * ms, 100, nullptr, 0, 0, 0, false, 0, false, 0};
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
        scheduler_frame f{n, -1, 0, 0, 10, nullptr, 0, 0, 0, false, 0, false, 0};
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
        scheduler_frame f{n, -1, 0, 0, 10, nullptr, 0, 0, 0, false, 0, false, 0};
        scheduler_push(s.get(), &f, 0);
    }
    scheduler_frame late{100000, -1, 0, 1001 * ms, 10, nullptr, 0, 0, 0, false, 0, false, 0};
    scheduler_push(s.get(), &late, 1001 * ms);
    CHECK(drops(*s).size() == SCHEDULER_MAX_FRAMES);
    CHECK(s->counters.dropped[DROP_FULL][0] == 0);
    CHECK(s->counters.dropped[DROP_DEADLINE][0] == SCHEDULER_MAX_FRAMES);
    const scheduler_frame *f = scheduler_next(s.get(), 1001 * ms);
    REQUIRE(f);
    CHECK(f->number == 100000);
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
            HOLDS(f->number > last);
            HOLDS(now - f->captured <= bound);
            HOLDS((f->depends_on < 0 || left.count(f->depends_on)));
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

namespace
{

// A layer of a picture: size `size` of picture n, which depends on the smaller size, and on the
// same size of the picture before if `chained`. 40 ms a picture.
scheduler_frame layer(int64_t n, int size, bool chained = false, size_t bytes = 1000)
{
    scheduler_frame f{};
    f.number = n;
    f.size_id = size;
    f.on_lower = size > 0;
    f.depends_on = chained && n > 0 ? n - 1 : -1;
    f.captured = n * 40 * ms;
    f.bytes = bytes;
    return f;
}

struct layer_drop {
    int64_t number;
    int size;
    drop_cause cause;
    bool operator==(const layer_drop &o) const
    {
        return number == o.number && size == o.size && cause == o.cause;
    }
};

std::vector<layer_drop> layer_drops(scheduler &s)
{
    std::vector<layer_drop> all;
    scheduler_frame f;
    drop_cause cause;
    while (scheduler_dropped(&s, &f, &cause))
        all.push_back({f.number, f.size_id, cause});
    return all;
}

std::ostream &operator<<(std::ostream &out, const layer_drop &d)
{
    return out << d.number << "/" << d.size << ":" << d.cause;
}

scheduler_config layered(scheduler_mode mode)
{
    scheduler_config c{};
    c.mode = mode;
    c.bound = 400 * ms;
    c.layers = 1;
    c.cumulative = true;
    c.reliable = true;
    return c;
}

void push_picture(scheduler &s, int64_t n, int sizes, usec_t now, bool chained = false)
{
    for (int size = 0; size < sizes; size++) {
        scheduler_frame f = layer(n, size, chained);
        scheduler_push(&s, &f, now);
    }
}

} // namespace

TEST_CASE("scheduler: of a picture the largest size is dropped first, from half of the bound on")
{
    // Three sizes: size 2 goes when the oldest has waited for 200 ms, size 1 at 300 ms, size 0 at
    // its deadline of 400 ms. Frame 0 has begun, so pictures 1 (due at 40 ms) and 2 (at 80 ms)
    // wait.
    struct {
        usec_t at;
        std::vector<layer_drop> priority, deadline;
    } const rows[] = {
        {240 * ms, {}, {}},
        {241 * ms, {{1, 2, DROP_LAYER}, {2, 2, DROP_LAYER}}, {}},
        {340 * ms, {}, {}},
        {341 * ms, {{1, 1, DROP_LAYER}, {2, 1, DROP_LAYER}}, {}},
        {440 * ms, {}, {}},
        {441 * ms,
         {{1, 0, DROP_DEADLINE}},
         {{1, 0, DROP_DEADLINE}, {1, 1, DROP_DEADLINE}, {1, 2, DROP_DEADLINE}}},
        {480 * ms, {}, {}},
        {481 * ms,
         {{2, 0, DROP_DEADLINE}},
         {{2, 0, DROP_DEADLINE}, {2, 1, DROP_DEADLINE}, {2, 2, DROP_DEADLINE}}},
        {10000 * ms, {}, {}},
    };
    for (scheduler_mode mode : {SCHEDULER_PRIORITY, SCHEDULER_DEADLINE, SCHEDULER_FIFO}) {
        auto s = make_as(layered(mode));
        scheduler_set_sizes(s.get(), 3);
        push_picture(*s, 0, 1, 0);
        REQUIRE(scheduler_next(s.get(), 0));
        push_picture(*s, 1, 3, 40 * ms);
        push_picture(*s, 2, 3, 80 * ms);
        for (const auto &row : rows) {
            INFO(scheduler_mode_name(mode) << " at " << row.at / ms);
            scheduler_next(s.get(), row.at);
            CHECK(layer_drops(*s) == (mode == SCHEDULER_PRIORITY   ? row.priority
                                      : mode == SCHEDULER_DEADLINE ? row.deadline
                                                                   : std::vector<layer_drop>{}));
        }
        CHECK(s->count == (mode == SCHEDULER_FIFO ? 7 : 1));
    }
}

TEST_CASE(
    "scheduler: all temporal layers of a larger size are dropped before those of a smaller one")
{
    // Two sizes of two layers, bound 400 ms: from 200 ms on, evenly. Frame 0 has begun.
    scheduler_config config = layered(SCHEDULER_PRIORITY);
    config.layers = 2;
    auto s = make_as(config);
    scheduler_set_sizes(s.get(), 2);
    push_picture(*s, 0, 1, 0);
    REQUIRE(scheduler_next(s.get(), 0));
    for (int64_t n : {1, 2}) {
        for (int size : {0, 1}) {
            scheduler_frame f = layer(n, size);
            f.captured = 0;
            f.temporal_id = n == 1 ? 0 : 1;
            scheduler_push(s.get(), &f, 0);
        }
    }
    struct {
        usec_t at;
        std::vector<layer_drop> gone;
    } const rows[] = {
        {200 * ms, {}},
        {201 * ms, {{2, 1, DROP_LAYER}}},
        {266 * ms, {}},
        {267 * ms, {{1, 1, DROP_LAYER}}},
        {333 * ms, {}},
        {334 * ms, {{2, 0, DROP_LAYER}}},
        {401 * ms, {{1, 0, DROP_DEADLINE}}},
    };
    for (const auto &row : rows) {
        INFO(row.at / ms);
        scheduler_next(s.get(), row.at);
        CHECK(layer_drops(*s) == row.gone);
    }
}

TEST_CASE("scheduler: what depends on a dropped layer is dropped, in its picture and in its size")
{
    for (bool chained : {false, true}) {
        auto s = make_as(layered(SCHEDULER_DEADLINE));
        scheduler_set_sizes(s.get(), 3);
        push_picture(*s, 0, 1, 0, chained);
        scheduler_frame late = layer(0, 1);
        late.captured = -401 * ms; // comes 401 ms later than it is due
        scheduler_push(s.get(), &late, 0);
        scheduler_frame above = layer(0, 2);
        scheduler_push(s.get(), &above, 0);
        CHECK(layer_drops(*s) ==
              std::vector<layer_drop>{{0, 1, DROP_DEADLINE}, {0, 2, DROP_BROKEN}});
        push_picture(*s, 1, 3, 40 * ms, chained);
        CHECK(layer_drops(*s) ==
              (chained ? std::vector<layer_drop>{{1, 1, DROP_BROKEN}, {1, 2, DROP_BROKEN}}
                       : std::vector<layer_drop>{}));
    }
}

TEST_CASE("scheduler: a full queue drops the newest frame of the highest layer for a lower one")
{
    struct {
        const char *what;
        scheduler_frame arriving;
        std::vector<layer_drop> priority; // the other modes drop the arriving one
    } const rows[] = {
        {"a base layer", layer(2, 0), {{1, 2, DROP_FULL}}},
        {"a large base layer",
         layer(2, 0, false, 2500),
         {{1, 2, DROP_FULL}, {0, 2, DROP_FULL}, {1, 1, DROP_FULL}}},
        {"a middle layer", layer(2, 1), {{1, 2, DROP_FULL}}},
        {"a top layer", layer(2, 2), {{2, 2, DROP_FULL}}},
        {"too large ever", layer(2, 2, false, 7000), {{2, 2, DROP_FULL}}},
    };
    for (scheduler_mode mode : {SCHEDULER_PRIORITY, SCHEDULER_DEADLINE, SCHEDULER_FIFO}) {
        for (const auto &row : rows) {
            INFO(scheduler_mode_name(mode) << ": " << row.what);
            scheduler_config config = layered(mode);
            config.limit_bytes = 6000;
            auto s = make_as(config);
            scheduler_set_sizes(s.get(), 3);
            push_picture(*s, 0, 3, 0);
            push_picture(*s, 1, 3, 40 * ms);
            CHECK(layer_drops(*s).empty());
            CHECK(s->bytes == 6000);
            scheduler_push(s.get(), &row.arriving, 80 * ms);
            std::vector<layer_drop> refused{{2, row.arriving.size_id, DROP_FULL}};
            CHECK(layer_drops(*s) == (mode == SCHEDULER_PRIORITY ? row.priority : refused));
            CHECK(s->bytes <= 6000);
        }
    }
}

TEST_CASE("scheduler: a begun frame makes no room")
{
    scheduler_config config = layered(SCHEDULER_PRIORITY);
    config.limit_bytes = 1000;
    auto s = make_as(config);
    scheduler_frame top = layer(0, 2);
    top.on_lower = false;
    scheduler_push(s.get(), &top, 0);
    REQUIRE(scheduler_next(s.get(), 0));
    push_picture(*s, 1, 1, 40 * ms);
    CHECK(layer_drops(*s) == std::vector<layer_drop>{{1, 0, DROP_FULL}});
}

TEST_CASE("scheduler: a smaller level drops the larger sizes that wait")
{
    auto s = make_as(layered(SCHEDULER_PRIORITY));
    scheduler_set_sizes(s.get(), 3);
    push_picture(*s, 0, 3, 0);
    scheduler_set_sizes(s.get(), 2);
    REQUIRE(scheduler_next(s.get(), 0));
    CHECK(layer_drops(*s) == std::vector<layer_drop>{{0, 2, DROP_LAYER}});
}

TEST_CASE(
    "scheduler: layers over any link leave in order, in time, with what they depend on, and the "
    "base layer most often")
{
    const int sizes = 4;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        INFO("seed " << seed);
        rng r = rng_seeded(seed);
        scheduler_config config =
            layered(rng_below(&r, 2) ? SCHEDULER_PRIORITY : SCHEDULER_DEADLINE);
        config.bound = 100 * ms + static_cast<usec_t>(rng_below(&r, 800)) * ms;
        config.limit_bytes = 5000 + rng_below(&r, 100000);
        bool chained = rng_below(&r, 2);
        auto s = make_as(config);
        scheduler_set_sizes(s.get(), sizes);
        std::set<std::pair<int64_t, int>> left;
        std::map<int, int> sent;
        uint64_t pushed = 0, back = 0;
        usec_t room_at = 0;
        for (int64_t now = 0, n = 0; now < 30 * USEC_PER_SEC; now += ms) {
            if (now >= n * 40 * ms) {
                push_picture(*s, n, sizes, now, chained && n % 25 != 0);
                pushed += sizes;
                n++;
            }
            HOLDS(s->bytes <= config.limit_bytes);
            const scheduler_frame *f = now >= room_at ? scheduler_next(s.get(), now) : nullptr;
            back += layer_drops(*s).size();
            if (!f)
                continue;
            HOLDS(now - f->captured <= config.bound);
            HOLDS((f->depends_on < 0 || left.count({f->depends_on, f->size_id})));
            HOLDS((!f->on_lower || left.count({f->number, f->size_id - 1})));
            REQUIRE(left.insert({f->number, f->size_id}).second);
            sent[f->size_id]++;
            back++;
            scheduler_done(s.get());
            room_at = now + static_cast<usec_t>(rng_below(&r, 30)) * ms; // half more than offered
        }
        back += layer_drops(*s).size();
        CHECK(back + static_cast<uint64_t>(s->count) == pushed);
        for (int size = 1; size < sizes; size++)
            CHECK(sent[size] <= sent[size - 1]);
        if (config.mode == SCHEDULER_PRIORITY && !chained)
            CHECK(sent[0] > 700); // of 750
    }
}

TEST_CASE("scheduler: the frames that a viewer of live media begins with are not late")
{
    scheduler_ptr s = make(100 * ms);
    push(*s, 20, 660 * ms); // no delay
    REQUIRE(scheduler_next(s.get(), 660 * ms));
    scheduler_done(s.get());
    for (int64_t n = 0; n < 10; n++) { // the viewer has paused, and begins again
        scheduler_frame f = frame(n);
        f.past = true;
        scheduler_push(s.get(), &f, 700 * ms);
    }
    CHECK(drops(*s).empty());
    CHECK(s->count == 10);
    CHECK(scheduler_waiting(s.get(), 710 * ms) == 10 * ms);
    for (int n = 0; n < 10; n++) {
        const scheduler_frame *f = scheduler_next(s.get(), 710 * ms);
        REQUIRE(f);
        CHECK(f->number == n);
        scheduler_done(s.get());
    }
    push(*s, 22, 730 * ms); // captured at 726 ms; it is judged as before the pause
    REQUIRE(scheduler_first(s.get()));
    CHECK(scheduler_first(s.get())->due == 726 * ms);
}

TEST_CASE("scheduler: a frame of the past has its deadline, too")
{
    scheduler_ptr s = make(100 * ms);
    scheduler_frame f = frame(0);
    f.past = true;
    scheduler_push(s.get(), &f, 700 * ms);
    CHECK(scheduler_next(s.get(), 801 * ms) == nullptr);
    CHECK(drops(*s) == std::vector<drop>{{0, DROP_DEADLINE}});
}
