// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "common/base/rng.h"
#include "stream/outcome/frame_outcomes.h"
#include "stream/playout/film_clock.h"
#include "stream/playout/immediate_clock.h"
#include "stream/playout/playout.h"

namespace
{

const usec_t ms = USEC_PER_MSEC;
using ledger_pointer = std::unique_ptr<frame_outcomes, void (*)(frame_outcomes *)>;

received_frame *new_frame(int64_t number, int64_t depends_on)
{
    auto *f = static_cast<received_frame *>(calloc(1, sizeof(received_frame)));
    f->number = number;
    f->temporal_id = static_cast<int>(number & 1);
    f->level = 1;
    f->key = depends_on < 0;
    f->depends_on = depends_on;
    f->bytes = 100;
    return f;
}

// One packet per frame; a frame that the sender skips takes no sequence number.
struct account {
    std::unique_ptr<frame_history, void (*)(frame_history *)> history{frame_history_new(),
                                                                      frame_history_free};
    ledger_pointer l{frame_outcomes_new(history.get()), frame_outcomes_free};
    int64_t seq = 1000;

    void lost()
    {
        seq++;
    }
    void arrived(int64_t number, int64_t depends_on)
    {
        adu_ext adu{};
        adu.frame = static_cast<uint32_t>(number);
        adu.first = adu.last = true;
        frame_outcomes_packet(l.get(), &adu, seq++);
        received_frame *f = new_frame(number, depends_on);
        frame_outcomes_arrived(frame_history_make(history.get(), f->number), f);
        received_frame_free(f);
    }
    void shown(int64_t number)
    {
        frame_outcomes_handed(l.get(), number);
        frame_outcomes_shown(l.get(), number);
    }
    bool was_late = false; // this machine
    void check(int64_t number, frame_end end, frame_cause cause, frame_cause root, int64_t needs)
    {
        INFO(number);
        not_shown why = frame_outcomes_ended(l.get(), number, end, was_late);
        CHECK(why.number == number);
        CHECK(why.cause == cause);
        CHECK(why.root == root);
        CHECK(why.needs == needs);
    }
    void check(int64_t number, frame_end end, frame_cause cause)
    {
        check(number, end, cause, cause, -1);
    }
};

} // namespace

TEST_CASE("frame_outcomes: of a machine that was late, whatever else happened")
{
    account a;
    a.arrived(0, -1);
    a.shown(0);
    a.lost();        // 1
    a.arrived(3, 0); // the sender left 2 out
    a.arrived(5, 4);
    a.was_late = true;
    for (int64_t n = 1; n <= 5; n++) { // before they are decided
        INFO(n);
        frame_cause root;
        REQUIRE(frame_outcomes_root(a.l.get(), n, true, &root));
        CHECK(root == CAUSE_DISPLAY);
    }
    a.check(1, FRAME_END_LOST, CAUSE_DISPLAY);
    a.check(2, FRAME_END_LOST, CAUSE_DISPLAY);
    a.check(3, FRAME_END_LATE, CAUSE_DISPLAY);
    a.check(4, FRAME_END_LOST, CAUSE_DISPLAY);
    a.was_late = false; // when 5 was due
    a.check(5, FRAME_END_LOST, CAUSE_DEPENDENCY, CAUSE_DISPLAY, 4);
    a.arrived(6, 0);
    frame_outcomes_handed(a.l.get(), 6);
    a.was_late = true;
    a.check(6, FRAME_END_FAILED, CAUSE_DECODER); // a damaged frame
    frame_cause root;
    CHECK_FALSE(frame_outcomes_root(a.l.get(), 0, true, &root)); // it was released
}

TEST_CASE("frame_outcomes: each end of a frame has its cause")
{
    account a;
    a.arrived(0, -1);
    a.shown(0);
    a.lost(); // 1
    a.arrived(2, 0);
    a.shown(2);
    a.arrived(4, 2); // the sender left 3 out
    a.check(1, FRAME_END_LOST, CAUSE_NETWORK);
    a.check(3, FRAME_END_LOST, CAUSE_SENDER);
    frame_outcomes_handed(a.l.get(), 4);
    a.check(4, FRAME_END_FAILED, CAUSE_DECODER);
    a.arrived(5, 2);
    a.check(5, FRAME_END_LATE, CAUSE_LATE);
    a.arrived(6, 2);
    frame_outcomes_handed(a.l.get(), 6);
    a.check(6, FRAME_END_SLOW, CAUSE_DISPLAY);
    a.arrived(7, 2);
    frame_outcomes_handed(a.l.get(), 7);
    a.check(7, FRAME_END_UNSEEN, CAUSE_DISPLAY);
    a.arrived(8, 7);
    frame_outcomes_refused(a.l.get(), 8);
    a.check(8, FRAME_END_LOST, CAUSE_SKIPPED);
    a.arrived(9, 7); // held, then dropped by a full buffer: 7 was decoded
    a.check(9, FRAME_END_LOST, CAUSE_SKIPPED);
    a.check(10, FRAME_END_LOST, CAUSE_LATE); // nothing later came
    frame_outcomes_skipped(a.l.get(), 30);

    const frame_totals *t = frame_outcomes_totals(a.l.get());
    CHECK(t->expected == 41);
    CHECK(t->shown == 2);
    const uint64_t by_cause[FRAME_CAUSES] = {1, 2, 1, 0, 1, 2, 32};
    for (int c = 0; c < FRAME_CAUSES; c++)
        CHECK(t->by_cause[c] == by_cause[c]);
}

TEST_CASE(
    "frame_outcomes: behind a proxy, what it drops leaves no gap, what the backbone lost does")
{
    account a;
    frame_outcomes_set_relayed(a.l.get());
    a.arrived(0, -1);
    a.shown(0);
    a.arrived(2, 0); // the proxy dropped 1
    a.shown(2);
    a.lost(); // 3, which the proxy left a gap for
    a.arrived(4, 2);
    a.check(1, FRAME_END_LOST, CAUSE_PROXY);
    a.check(3, FRAME_END_LOST, CAUSE_NETWORK);
    CHECK(std::string(frame_cause_text(CAUSE_PROXY)) == "proxy");
    CHECK(std::string(freeze_cause_text(freeze_cause_of_frame(CAUSE_PROXY))) == "proxy");
}

TEST_CASE("frame_outcomes: the root follows the chain of references")
{
    account a;
    a.arrived(0, -1);
    a.shown(0);
    a.lost(); // 2
    a.arrived(3, 2);
    a.arrived(4, 2);
    a.arrived(6, 4);
    SECTION("decided or not")
    {
        frame_outcomes_handed(a.l.get(), 3);
        a.check(3, FRAME_END_UNDECODABLE, CAUSE_DEPENDENCY, CAUSE_NETWORK, 2);
        frame_outcomes_handed(a.l.get(), 4);
        a.check(4, FRAME_END_UNDECODABLE, CAUSE_DEPENDENCY, CAUSE_NETWORK, 2);
        frame_outcomes_handed(a.l.get(), 6);
        a.check(6, FRAME_END_UNDECODABLE, CAUSE_DEPENDENCY, CAUSE_NETWORK, 4);
        a.check(2, FRAME_END_LOST, CAUSE_NETWORK);
    }
    SECTION("through frames that arrived and were not released")
    {
        a.check(6, FRAME_END_LOST, CAUSE_DEPENDENCY, CAUSE_NETWORK, 4);
    }
    SECTION("to a frame that arrived late")
    {
        a.check(2, FRAME_END_LATE, CAUSE_LATE);
        frame_outcomes_handed(a.l.get(), 4);
        a.check(4, FRAME_END_UNDECODABLE, CAUSE_DEPENDENCY, CAUSE_LATE, 2);
    }
    SECTION("to a failure of the decoder, reported before or after")
    {
        a.arrived(8, -1);
        a.arrived(10, 8);
        a.arrived(12, 10);
        for (int64_t n : {8, 10, 12})
            frame_outcomes_handed(a.l.get(), n);
        a.check(8, FRAME_END_FAILED, CAUSE_DECODER);
        a.check(10, FRAME_END_FAILED, CAUSE_DEPENDENCY, CAUSE_DECODER, 8);
        a.check(12, FRAME_END_UNDECODABLE, CAUSE_DEPENDENCY, CAUSE_DECODER, 10);
    }
    const frame_totals *t = frame_outcomes_totals(a.l.get());
    CHECK(t->by_root[CAUSE_DEPENDENCY] == 0);
    uint64_t causes = 0, roots = 0;
    for (int c = 0; c < FRAME_CAUSES; c++) {
        causes += t->by_cause[c];
        roots += t->by_root[c];
    }
    CHECK(causes == t->expected - t->shown);
    CHECK(roots == causes);
}

namespace
{

// The true outcome of a frame.
struct truth {
    bool sent = false;
    bool lost = false; // a packet of it
    int64_t depends_on = -1;
};

struct arrival {
    int64_t seq;
    adu_ext adu;
    int64_t number;
};

// 20 frames/s in two temporal layers, from a sender that skips frames, over a path that loses,
// delays and reorders, to a decoder and a display that fail occasionally.
class simulation
{
  public:
    explicit simulation(uint64_t seed, bool low_latency)
    {
        random = rng_seeded(seed);
        levels.source_fps = {20, 1};
        levels.size_count = 1;
        levels.sizes[0] = {320, 180, {20, 1}, 2};
        levels.level_count = 2;
        levels.levels[0] = {0, 0, 100000};
        levels.levels[1] = {0, 1, 200000};
        tracker = reference_tracker_new(&levels);
        playout_config c{};
        c.ladder = &levels;
        c.tracker = tracker;
        c.level = 1;
        c.start_threshold = 200 * ms;
        c.resume_threshold = 200 * ms;
        c.decode_lead = PLAYOUT_DECODE_LEAD;
        c.clock = low_latency ? &immediate_clock : &film_clock;
        p = playout_new(&c);
    }
    simulation(const simulation &) = delete;
    simulation &operator=(const simulation &) = delete;
    ~simulation()
    {
        playout_free(p);
        reference_tracker_free(tracker);
    }

    void run(int count)
    {
        send(count);
        for (const auto &[when, a] : path) {
            until(when);
            frame_outcomes_packet(l.get(), &a.adu, a.seq);
            if (--missing[a.number] == 0)
                whole(a.number);
            drain();
        }
        until(now + 5 * USEC_PER_SEC);
        playout_end(p, now);
        until(now + 5 * USEC_PER_SEC);
    }

    std::unique_ptr<frame_history, void (*)(frame_history *)> history{frame_history_new(),
                                                                      frame_history_free};
    ledger_pointer l{frame_outcomes_new(history.get()), frame_outcomes_free};
    std::map<int64_t, truth> frames;
    std::map<int64_t, not_shown> causes;
    std::set<int64_t> shown, twice;
    int64_t first = -1, last = -1;
    int64_t newest_sent = -1;

  private:
    bool chance(double probability)
    {
        return rng_unit(&random) < probability;
    }

    void send(int count)
    {
        int64_t seq = 5000;
        usec_t behind = 0;
        for (int64_t n = 0; n < count; n++) {
            truth &t = frames[n];
            t.depends_on = n % 16 == 0 ? -1 : n - (n % 2 ? 1 : 2);
            t.sent = n == 0 || !chance(0.05);
            if (chance(0.02))
                behind = 400 * ms; // the path stands still, then catches up
            behind = usec_max(0, behind - 20 * ms);
            int packets = t.sent ? 1 + static_cast<int>(3 * rng_unit(&random)) : 0;
            for (int k = 0; k < packets; k++, seq++) {
                arrival a{seq, {}, n};
                a.adu.frame = static_cast<uint32_t>(n);
                a.adu.first = k == 0;
                a.adu.last = k == packets - 1;
                usec_t when = n * 50 * ms + k * ms + 20 * ms + behind;
                if (n > 0 && chance(0.03)) {
                    t.lost = true;
                    missing[n]++; // for good
                    continue;
                }
                if (chance(0.03))
                    when += static_cast<usec_t>(300 * rng_unit(&random)) * ms;
                missing[n]++;
                path.emplace(when, a);
                newest_sent = n;
            }
        }
    }

    void whole(int64_t number)
    {
        received_frame *f = new_frame(number, frames[number].depends_on);
        frame_outcomes_arrived(frame_history_make(history.get(), f->number), f);
        (void)playout_push(p, f, now);
    }

    void ended(int64_t number, frame_end end)
    {
        if (shown.count(number) ||
            !causes.emplace(number, frame_outcomes_ended(l.get(), number, end, false)).second)
            twice.insert(number);
        last = std::max(last, number);
    }

    void show(const received_frame *f, bool sound)
    {
        int64_t number = f->number;
        if (first < 0)
            first = number;
        frame_outcomes_handed(l.get(), number);
        if (!sound) {
            ended(number, FRAME_END_UNDECODABLE);
        } else if (chance(0.01)) {
            reference_tracker_failed(tracker, f->size_id, number);
            ended(number, FRAME_END_FAILED);
        } else if (chance(0.01)) {
            ended(number, FRAME_END_UNSEEN);
        } else {
            frame_outcomes_shown(l.get(), number);
            if (causes.count(number) || !shown.insert(number).second)
                twice.insert(number);
            last = std::max(last, number);
        }
    }

    void drain()
    {
        playout_action a;
        while (playout_poll(p, &a, now)) {
            if (a.kind == PLAYOUT_DECODE_AND_SHOW)
                show(a.frame, a.sound);
            else if (a.kind == PLAYOUT_LOST)
                ended(a.number, FRAME_END_LOST);
            else if (a.kind == PLAYOUT_LATE)
                ended(a.number, FRAME_END_LATE);
            received_frame_free(a.frame);
        }
    }

    void until(usec_t t)
    {
        drain();
        while (playout_next_timeout(p) <= t) {
            now = playout_next_timeout(p);
            drain();
        }
        now = std::max(now, t);
    }

    rng random;
    ladder levels{};
    reference_tracker *tracker = nullptr;
    playout *p = nullptr;
    usec_t now = 0;
    std::map<int64_t, int> missing; // packets
    std::multimap<usec_t, arrival> path;
};

} // namespace

TEST_CASE("frame_outcomes: over a bad path every frame is shown or has one cause, the correct one")
{
    uint64_t seen[FRAME_CAUSES] = {};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        INFO("seed " << seed);
        simulation s(seed, seed % 2 == 0);
        s.run(600);
        REQUIRE(s.first >= 0);
        CHECK(s.twice.empty());

        // The level has every number.
        const frame_totals *t = frame_outcomes_totals(s.l.get());
        uint64_t sum = 0, roots = 0;
        for (int c = 0; c < FRAME_CAUSES; c++) {
            sum += t->by_cause[c];
            roots += t->by_root[c];
            seen[c] += t->by_cause[c];
        }
        CHECK(t->expected == static_cast<uint64_t>(s.last - s.first + 1));
        CHECK(t->shown == s.shown.size());
        CHECK(sum == t->expected - t->shown);
        CHECK(roots == sum);

        for (const auto &[number, why] : s.causes) {
            const truth &f = s.frames.at(number);
            INFO("frame " << number << ": " << frame_cause_text(why.cause));
            CHECK((why.cause != CAUSE_SENDER || !f.sent));
            CHECK((why.cause != CAUSE_LATE || (f.sent && !f.lost) || number > s.newest_sent));
            // All frames missing in a gap are assumed to be lost in it.
            CHECK((why.cause != CAUSE_NETWORK || f.lost || !f.sent));
            if (number < s.newest_sent && f.lost)
                CHECK(why.cause == CAUSE_NETWORK);
            if (why.cause == CAUSE_DEPENDENCY) {
                CHECK(why.needs == f.depends_on);
                CHECK(s.shown.count(why.needs) == 0);
            }
        }
    }
    for (int c = 0; c < CAUSE_SKIPPED; c++) {
        INFO(frame_cause_text(static_cast<frame_cause>(c)));
        CHECK(seen[c] > 0);
    }
}
