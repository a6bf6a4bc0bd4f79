// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "common/base/rng.h"
#include "common/repair/loss_detector.h"

namespace
{
const usec_t ms = USEC_PER_MSEC;
const int UNKNOWN = LOSS_DETECTOR_TAIL_UNKNOWN;

struct detector {
    std::unique_ptr<loss_detector, decltype(&loss_detector_free)> d{loss_detector_new(),
                                                                    loss_detector_free};
    explicit detector(int rtt_ms = 0)
    {
        loss_detector_path path{rtt_ms * ms, 0, rtt_ms * ms};
        loss_detector_set_path(d.get(), &path);
    }
    void packet(int64_t seq, usec_t now, int left = UNKNOWN)
    {
        loss_detector_packet(d.get(), seq, left, now);
    }
    std::vector<int> requests(usec_t now)
    {
        std::vector<int> out;
        rtcp_nack nacks[4];
        int count;
        do {
            count = loss_detector_requests(d.get(), nacks, 4, now);
            for (int i = 0; i < count; i++) {
                out.push_back(nacks[i].pid);
                for (int bit = 0; bit < 16; bit++)
                    if (nacks[i].blp >> bit & 1)
                        out.push_back((uint16_t)(nacks[i].pid + bit + 1));
            }
        } while (count == 4);
        return out;
    }
    usec_t next() const
    {
        return loss_detector_next_timeout(d.get());
    }
    loss_detector_stats stats() const
    {
        return loss_detector_read(d.get());
    }
};

using list = std::vector<int>;
} // namespace

TEST_CASE("loss detector: a hole is requested at once, and again after a round trip")
{
    detector t(100);
    CHECK(t.next() == USEC_NEVER);
    t.packet(10, 0);
    t.packet(11, 5 * ms);
    CHECK(t.next() == USEC_NEVER);
    t.packet(14, 10 * ms); // 12 and 13 are missing
    CHECK(t.next() <= 10 * ms);
    CHECK(t.requests(10 * ms) == list{12, 13});
    CHECK(t.next() == 125 * ms); // with 15 ms to spare
    CHECK(t.requests(50 * ms) == list{});
    CHECK_FALSE(loss_detector_is_resent(t.d.get(), 12, 80 * ms));
    t.packet(12, 80 * ms, UNKNOWN); // before 3/4 of a round trip: it was late
    t.packet(15, 124 * ms);
    CHECK(t.requests(124 * ms) == list{});
    CHECK(t.requests(125 * ms) == list{13});
    CHECK(loss_detector_is_resent(t.d.get(), 13, 230 * ms));
    CHECK_FALSE(loss_detector_is_resent(t.d.get(), 16, 230 * ms));
    t.packet(13, 230 * ms); // sent again
    CHECK(t.next() == USEC_NEVER);
    CHECK(t.stats().holes == 2);
    CHECK(t.stats().requests == 3);
    CHECK(t.stats().late == 1);
    CHECK(t.stats().filled == 1);
    CHECK(loss_detector_missing(t.d.get()) == 0);
}

TEST_CASE("loss detector: numbers wrap; a NACK names 17 packets")
{
    detector t(100);
    t.packet(65530, 0);
    t.packet(65560, 1 * ms); // 29 are missing: two entries
    rtcp_nack nacks[4];
    REQUIRE(loss_detector_requests(t.d.get(), nacks, 4, 1 * ms) == 2);
    CHECK(nacks[0].pid == 65531);
    CHECK(nacks[0].blp == 0xffff);
    CHECK(nacks[1].pid == (uint16_t)65548);
    CHECK(nacks[1].blp == 0x07ff);
}

TEST_CASE("loss detector: what does not fit waits for the next call")
{
    detector t(100);
    t.packet(0, 0);
    for (int i = 1; i < 10; i++)
        t.packet(i * 40, i * ms); // 39 missing each: three entries
    rtcp_nack nacks[2];
    int calls = 0;
    while (loss_detector_requests(t.d.get(), nacks, 2, 10 * ms) > 0)
        calls++;
    CHECK(calls == 8); // 256 and the six between them, 17 an entry, two entries a call
    CHECK(t.stats().requests == LOSS_DETECTOR_MISSING); // older ones were given up
    CHECK(t.stats().given_up == 9 * 39 - LOSS_DETECTOR_MISSING);
    CHECK(t.next() == 125 * ms);
}

TEST_CASE("loss detector: disorder raises the tolerance, which falls back")
{
    detector t(100);
    usec_t now = 0;
    int64_t seq = 0;
    // Every tenth packet comes after the two that follow it, 2 ms late.
    auto disorder = [&] {
        uint64_t before = t.stats().holes;
        for (int i = 0; i < 10; i++) {
            t.packet(seq, now);
            t.packet(seq + 2, now + 1 * ms);
            (void)t.requests(now + 1 * ms);
            t.packet(seq + 3, now + 2 * ms);
            (void)t.requests(now + 2 * ms);
            t.packet(seq + 1, now + 3 * ms);
            for (int k = 4; k < 10; k++)
                t.packet(seq + k, now + k * ms);
            CHECK(t.requests(now + 9 * ms) == list{});
            seq += 10;
            now += 10 * ms;
        }
        return t.stats().holes - before;
    };
    CHECK(disorder() == 1);       // only the first is taken for a loss
    for (int i = 0; i < 300; i++) // for 30 s: packets that were waited for keep it up
        if (disorder() != 0)
            FAIL("round " << i);
    CHECK(t.stats().late == 1);
    // A true loss then waits for a third packet or 2.5 ms.
    t.packet(seq + 1, now);
    CHECK(t.requests(now) == list{});
    CHECK(t.next() == now + 2500);
    t.packet(seq + 2, now + 1 * ms);
    CHECK(t.requests(now + 1 * ms) == list{});
    t.packet(seq + 3, now + 2 * ms);
    CHECK(t.requests(now + 2 * ms) == list{(int)seq});
    t.packet(seq, now + 200 * ms);
    // In order for more than 20 s.
    seq += 4;
    for (int i = 0; i < 2100; i++)
        t.packet(seq++, now += 10 * ms);
    t.packet(seq + 1, now);
    CHECK(t.requests(now) == list{(int)seq});
}

TEST_CASE("loss detector: at most half a round trip is waited for")
{
    detector t(40);
    t.packet(0, 0);
    t.packet(2, 1 * ms);
    CHECK(t.requests(1 * ms) == list{1});
    t.packet(1, 30 * ms); // 29 ms late, before 3/4 of a round trip after its request
    t.packet(4, 50 * ms);
    CHECK(t.next() == 70 * ms);
    CHECK(t.requests(69 * ms) == list{});
    CHECK(t.requests(70 * ms) == list{3});
}

TEST_CASE("loss detector: a lost tail is found by the silence after a frame's packets")
{
    detector t(100);
    // Frames of four packets, 2 ms apart, each 33 ms.
    usec_t now = 0;
    for (int frame = 0; frame < 20; frame++)
        for (int i = 0; i < 4; i++)
            t.packet(frame * 4 + i, now = frame * 33 * ms + i * 2 * ms, 3 - i);
    CHECK(t.next() == USEC_NEVER); // nothing follows in the frame
    now = 20 * 33 * ms;
    t.packet(80, now, 3);
    t.packet(81, now + 2 * ms, 2);
    // The gaps do not vary: two of them are waited for, and a little.
    CHECK(t.next() >= now + 6 * ms);
    CHECK(t.next() < now + 6 * ms + 100);
    CHECK(t.requests(now + 6 * ms - 1) == list{});
    CHECK(t.requests(now + 7 * ms) == list{82, 83});
    CHECK(t.next() == now + 122 * ms);
    // The next frame shows no other hole.
    t.packet(84, now + 33 * ms, 0);
    CHECK(t.requests(now + 33 * ms) == list{});
    t.packet(83, now + 107 * ms, 0);
    CHECK(t.requests(now + 122 * ms) == list{82});
    t.packet(82, now + 225 * ms, 1);
    CHECK(t.stats().holes == 2);
    CHECK(t.stats().filled == 2);
    CHECK(t.next() == USEC_NEVER);
}

TEST_CASE("loss detector: the last packet of a tail fills it")
{
    detector t(100);
    t.packet(0, 0, 3);
    CHECK(t.requests(20 * ms) == list{1, 2}); // the path may only be slow: the rest waits
    CHECK(t.requests(39 * ms) == list{});
    CHECK(t.requests(40 * ms) == list{3});
    t.packet(3, 50 * ms, 0); // it was only late
    CHECK(loss_detector_missing(t.d.get()) == 2);
    CHECK(t.requests(50 * ms) == list{1, 2}); // the sender ignored that they were requested
    CHECK(t.requests(164 * ms) == list{});
    CHECK(t.requests(165 * ms) == list{1, 2});
    CHECK(t.stats().late == 1);
    CHECK(t.stats().holes == 3);
}

TEST_CASE("loss detector: no tail is missing while packets of any kind arrive")
{
    detector t(100);
    t.packet(0, 0, 3);
    for (int i = 1; i < 5; i++) {
        loss_detector_heard(t.d.get(), i * 19 * ms); // copies of other packets
        CHECK(t.requests(i * 19 * ms + 19 * ms) == list{});
    }
    CHECK(t.next() == 96 * ms);
    CHECK(t.requests(96 * ms) == list{1, 2});
}

TEST_CASE("loss detector: of a large hole the last packets are requested")
{
    for (int hole :
         {LOSS_DETECTOR_MISSING - 1, LOSS_DETECTOR_MISSING + 0, LOSS_DETECTOR_MISSING + 1, 10000}) {
        detector t(100);
        t.packet(0, 0);
        t.packet(hole + 1, 0);
        list asked = t.requests(0);
        CHECK(asked.size() == (size_t)std::min<int>(hole, LOSS_DETECTOR_MISSING));
        CHECK(asked.back() == hole);
    }
}

TEST_CASE("loss detector: what parity recovers is not requested, and is no disorder")
{
    detector t(100);
    t.packet(0, 0);
    t.packet(4, 1 * ms);
    CHECK(t.requests(1 * ms) == list{1, 2, 3});
    loss_detector_recovered(t.d.get(), 2, 40 * ms);
    loss_detector_recovered(t.d.get(), 2, 40 * ms);
    loss_detector_recovered(t.d.get(), 4, 40 * ms); // it did arrive
    CHECK(t.requests(116 * ms) == list{1, 3});
    CHECK(t.stats().late == 0);
    t.packet(6, 120 * ms); // still requested at once
    CHECK(t.requests(120 * ms) == list{5});
    // The end of a frame that was lost whole.
    loss_detector_recovered(t.d.get(), 8, 121 * ms);
    CHECK(t.requests(121 * ms) == list{7});
    t.packet(9, 122 * ms);
    CHECK(t.requests(122 * ms) == list{});
}

TEST_CASE("loss detector: a sender that pauses within a frame is waited for longer")
{
    detector t(100);
    usec_t now = 0;
    uint64_t early = 0, late = 0;
    for (int frame = 0; frame < 40; frame++) {
        for (int i = 0; i < 4; i++) {
            for (usec_t until = now + (i == 2 ? 20 * ms : 1 * ms); now < until; now += ms)
                (void)t.requests(now);
            t.packet(frame * 4 + i, now, 3 - i);
        }
        (frame < 20 ? early : late) = t.stats().holes;
    }
    CHECK(early > 0);
    CHECK(late == early);
}

TEST_CASE("loss detector: the longest silence within a frame is remembered for 10 s")
{
    // A pause a second: the mean and the deviation forget it between two.
    detector t(100);
    usec_t now = 0;
    std::vector<uint64_t> holes;
    for (int frame = 0; frame < 300; frame++) {
        now = frame * 33 * ms;
        for (int i = 0; i < 4; i++) {
            for (usec_t until = now + (frame % 30 == 29 && i == 2 ? 20 * ms : 1 * ms); now < until;
                 now += ms)
                (void)t.requests(now);
            t.packet(frame * 4 + i, now, 3 - i);
        }
        holes.push_back(t.stats().holes);
    }
    CHECK(holes[29] > 0);
    CHECK(holes.back() == holes[29]);
    // Without pauses it is forgotten: a tail is requested as soon as before.
    for (int frame = 300; frame < 1000; frame++)
        for (int i = 0; i < 4; i++)
            t.packet(frame * 4 + i, now = frame * 33 * ms + i * ms, 3 - i);
    t.packet(4000, now += 30 * ms, 3);
    CHECK(t.next() - now < 5 * ms);
}

TEST_CASE("loss detector: time in which other packets arrive is no silence")
{
    detector t(100);
    usec_t now = 0;
    for (int frame = 0; frame < 40; frame++) {
        now = frame * 33 * ms;
        for (int i = 0; i < 4; i++, now += ms) {
            if (frame == 10 && i == 2) // copies, 1 ms apart
                for (usec_t until = now + 20 * ms; now < until; now += ms)
                    loss_detector_heard(t.d.get(), now);
            t.packet(frame * 4 + i, now, 3 - i);
        }
    }
    t.packet(160, now = 40 * 33 * ms, 3);
    CHECK(t.next() - now < 5 * ms);
}

TEST_CASE("loss detector: packets that never come are given up")
{
    detector t(20);
    loss_detector_set_keep(t.d.get(), 65 * ms);
    t.packet(0, 0);
    t.packet(2, 0);
    // As long as the packet can come in time, the last time with an echo, and for 300 ms more; and
    // once for the encoder's sake.
    for (int when_ms : {0, 8, 35, 43, 70, 105, 140, 175, 210, 245, 280, 315})
        CHECK(t.requests(when_ms * ms) == list{1});
    CHECK(t.requests(350 * ms) == list{});
    CHECK(t.stats().given_up == 1);
    CHECK(t.next() == USEC_NEVER);
    t.packet(1, 360 * ms);
    CHECK(t.stats().filled == 0);
    loss_detector_set_keep(t.d.get(), 10 * USEC_PER_SEC);
    t.packet(4, 370 * ms);
    int tries = 0;
    for (usec_t now = 370 * ms; now < 1000 * ms; now += ms)
        tries += (int)t.requests(now).size();
    CHECK(tries == LOSS_DETECTOR_TRIES);
    CHECK(t.stats().given_up == 2);
}

TEST_CASE("loss detector: the last request that is of use is echoed once")
{
    struct {
        int keep_ms;
        list at_ms; // of each request
    } table[] = {
        {90, {0, 8, 65, 130, 195, 260, 325, 390}}, // one round of 50 ms fits
        {129,
         {0, 8, 65, 73, 130, 195, 260, 325, 390}}, // two do, the second one without 15 ms to spare
        {160, {0, 65, 73, 130, 195, 260, 325, 390, 455}},
        {49, {0, 8, 65, 130, 195, 260, 325}},
        {0, {0, 8}}, // requested once
    };
    for (const auto &row : table) {
        INFO(row.keep_ms << " ms");
        detector t(50);
        loss_detector_set_keep(t.d.get(), row.keep_ms * ms);
        t.packet(0, 0);
        t.packet(2, 0);
        list at;
        for (int now = 0; now < 600; now++)
            if (!t.requests(now * ms).empty())
                at.push_back(now);
        CHECK(at == row.at_ms);
        CHECK(t.stats().given_up == 1);
    }
}

TEST_CASE("loss detector: random loss and disorder end with nothing missing")
{
    // The sender answers each request after a round trip; a tenth of its answers is lost, too.
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rng random = rng_seeded(seed);
        detector t(50);
        std::multiset<std::pair<usec_t, int64_t>> under_way;
        const int64_t count = 3000;
        std::set<int64_t> came;
        for (int64_t seq = 0; seq < count; seq++)
            if (seq == 0 || seq == count - 1 || rng_unit(&random) >= 0.05)
                under_way.emplace(seq * 4 * ms + (usec_t)rng_below(&random, 100) / 95 * 9 * ms,
                                  seq);
        while (!under_way.empty() || loss_detector_missing(t.d.get())) {
            usec_t now = under_way.empty() ? USEC_NEVER : under_way.begin()->first;
            int64_t seq = under_way.empty() ? -1 : under_way.begin()->second;
            if (t.next() < now) {
                now = t.next();
            } else {
                under_way.erase(under_way.begin());
                if (came.insert(seq).second)
                    t.packet(seq, now);
            }
            for (int again : t.requests(now))
                if (rng_unit(&random) >= 0.1)
                    under_way.emplace(now + 50 * ms, again);
        }
        INFO("seed " << seed);
        CHECK(came.size() == (size_t)count);
        CHECK(loss_detector_missing(t.d.get()) == 0);
        CHECK(t.stats().given_up == 0);
        CHECK(t.stats().requests < 3000 * 0.05 * 1.6);
    }
}

TEST_CASE("loss detector: after a restart nothing of before is missing")
{
    detector t(100);
    t.packet(10, 0);
    t.packet(13, 5 * ms, 4);
    CHECK(loss_detector_missing(t.d.get()) == 2);
    loss_detector_restart(t.d.get());
    CHECK(loss_detector_missing(t.d.get()) == 0);
    CHECK(t.next() == USEC_NEVER);
    t.packet(90000, 10 * ms);
    CHECK(t.requests(2000 * ms) == list{});
    t.packet(90002, 2000 * ms);
    CHECK(t.requests(2000 * ms) == list{90001 - 65536});
    CHECK(t.stats().given_up == 2);
}

TEST_CASE(
    "loss detector: a film's packet is requested until it comes, or its sender has it no more")
{
    detector t(50);
    REQUIRE(loss_detector_wait(t.d.get(), 15 * USEC_PER_SEC) == 0);
    t.packet(0, 0);
    t.packet(2, 0);
    CHECK(loss_detector_oldest(t.d.get()) == 1);
    CHECK_FALSE(loss_detector_is_complete(t.d.get()));
    std::vector<usec_t> at;
    usec_t now = 0;
    auto run = [&](usec_t until, bool heard) {
        for (; now < until && loss_detector_missing(t.d.get()); now += ms) {
            if (heard && now % (100 * ms) == 0)
                loss_detector_heard(t.d.get(), now);
            if (!t.requests(now).empty())
                at.push_back(now);
        }
    };
    SECTION("its sender has it no more")
    {
        run(60 * USEC_PER_SEC, true);
        // Four quick tries, then less and less often; no echo.
        CHECK(std::vector<usec_t>(at.begin(), at.begin() + 7) ==
              std::vector<usec_t>{0, 65 * ms, 130 * ms, 195 * ms, 260 * ms, 390 * ms, 650 * ms});
        CHECK(at.back() - at[at.size() - 2] == USEC_PER_SEC);
        CHECK(now >= 15 * USEC_PER_SEC);
        CHECK(now < 17 * USEC_PER_SEC);
        CHECK(t.stats().given_up == 1);
        CHECK(loss_detector_oldest(t.d.get()) == INT64_MAX);
        CHECK(loss_detector_is_complete(t.d.get()));
    }
    SECTION("a path that is dead for a minute gives up nothing")
    {
        run(60 * USEC_PER_SEC, false);
        CHECK(t.stats().given_up == 0);
        usec_t alive = now;
        run(alive + 14 * USEC_PER_SEC, true);
        CHECK(t.stats().given_up == 0);
        t.packet(1, now);
        CHECK(t.stats().filled == 1);
        CHECK(loss_detector_is_complete(t.d.get()));
    }
}

TEST_CASE("loss detector: of an outage a film's viewer misses all, and requests a part at a time")
{
    detector t(50);
    REQUIRE(loss_detector_wait(t.d.get(), 15 * USEC_PER_SEC) == 0);
    t.packet(0, 0);
    t.packet(3001, 0);
    list all;
    usec_t now = 0;
    while (loss_detector_missing(t.d.get())) {
        list part = t.requests(now);
        CHECK(part.size() <= LOSS_DETECTOR_REQUESTED);
        now += 50 * ms;
        for (int seq : part)
            t.packet(seq, now);
        all.insert(all.end(), part.begin(), part.end());
    }
    CHECK(all.size() == 3000);
    CHECK(t.stats().given_up == 0);
    t.packet(3003 + LOSS_DETECTOR_AWAITED, now); // one more than there is room for
    CHECK(loss_detector_missing(t.d.get()) == LOSS_DETECTOR_AWAITED);
    CHECK(loss_detector_oldest(t.d.get()) == 3003);
}

TEST_CASE("loss detector: the first packets, those of another place, and the last ones")
{
    detector t(50);
    loss_detector *d = t.d.get();
    REQUIRE(loss_detector_wait(d, 15 * USEC_PER_SEC) == 0);
    SECTION("the place is told before the first packet")
    {
        loss_detector_begin(d, 10, 0);
        CHECK(loss_detector_is_complete(d));
        t.packet(12, 1 * ms);
    }
    SECTION("the first packet overtakes what tells the place")
    {
        t.packet(12, 0);
        loss_detector_begin(d, 10, 1 * ms);
    }
    CHECK(t.requests(1 * ms) == list{10, 11});
    t.packet(10, 60 * ms);
    t.packet(11, 60 * ms);
    t.packet(15, 61 * ms);
    CHECK(t.requests(61 * ms) == list{13, 14});
    t.packet(20, 62 * ms);
    loss_detector_begin(d, 18, 63 * ms); // elsewhere: what was before is of no use
    CHECK(loss_detector_oldest(d) == 18);
    CHECK(t.requests(63 * ms) == list{18, 19});
    t.packet(18, 120 * ms);
    t.packet(19, 120 * ms);
    CHECK(loss_detector_is_complete(d));
    loss_detector_begin(d, 25, 121 * ms);
    CHECK(loss_detector_is_complete(d)); // 21 to 24 are of no use
    // A report that the last packet was number 26: no packet shows that 25 and 26 are missing.
    loss_detector_sent(d, 26);
    CHECK_FALSE(loss_detector_is_complete(d));
    REQUIRE(t.next() != USEC_NEVER);
    CHECK(t.requests(t.next()) == list{25, 26});
    t.packet(25, 300 * ms);
    t.packet(26, 300 * ms);
    CHECK(loss_detector_is_complete(d));
    CHECK(t.next() == USEC_NEVER);
}
