// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <string>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "tests/support/mtp_rig.h"
#include "tests/support/sanitized.hpp"

namespace
{

mtp_sender_config config_of(mtp_mode mode, int64_t window = 4096, int cwnd = 0, int ssthresh = 0,
                            bool newreno = false)
{
    mtp_sender_config c{};
    c.mode = mode;
    c.slot_bytes = 8;
    c.window = window;
    c.cwnd = cwnd;
    c.ssthresh = ssthresh;
    c.newreno = newreno;
    return c;
}

// The papers' figures count packets from 1 and acknowledge the last one in order: packet n is slot
// n - 1, "ack n" is cum n.
struct figure {
    mtp_sender s;

    figure(mtp_mode mode, int cwnd, int ssthresh, bool newreno = false)
        : figure(config_of(mode, 4096, cwnd, ssthresh, newreno))
    {
    }
    explicit figure(const mtp_sender_config &c)
    {
        REQUIRE(mtp_sender_init(&s, &c, 0) == 0);
        for (uint8_t i = 0; i < 60; i++)
            REQUIRE(mtp_sender_push(&s, &i, 1, i, false, 0) == 0);
    }
    figure(const figure &) = delete;
    figure &operator=(const figure &) = delete;
    ~figure()
    {
        mtp_sender_destroy(&s);
    }

    // Returns the packets sent, as "15* 16".
    std::string pull(usec_t now)
    {
        std::string all;
        mtp_out out;
        while (mtp_sender_pull(&s, &out, now))
            all += (all.empty() ? "" : " ") + std::to_string(out.slot + 1) +
                   (out.flags & MTP_R ? "*" : "");
        return all;
    }
    // All packets up to 10 are acknowledged, cwnd did not grow, and `last` is the last packet sent.
    void start(int64_t last)
    {
        pull(1);
        int cwnd = s.cwnd;
        for (int64_t n = 1; n <= 10; n++) {
            ack(n, 1);
            s.acks = 0;
        }
        REQUIRE(s.cwnd == cwnd);
        REQUIRE(s.next == last);
    }
    std::string ack(int64_t n, usec_t now)
    {
        mtp_ack a{};
        a.cum = n;
        a.window = 4096;
        mtp_sender_ack(&s, &a, now);
        return pull(now);
    }
};

struct row {
    int64_t ack;
    const char *sends;
    int cwnd;
    int dups;      // the second term of Wnd
    int inflation; // the third
};

void check_rows(figure &f, const std::vector<row> &rows)
{
    usec_t now = 5 * USEC_PER_SEC;
    for (const row &r : rows) {
        INFO("ack " << r.ack << ", should send " << r.sends);
        CHECK(f.ack(r.ack, ++now) == r.sends);
        CHECK(f.s.cwnd == r.cwnd);
        CHECK(f.s.dups == r.dups);
        CHECK(f.s.inflation == r.inflation);
    }
}

} // namespace

TEST_CASE("mtp_sender: Figure 1, duplicate acknowledgements, TCP and MTP")
{
    const std::vector<row> tcp = {
        {10, "17", 6, 1, 0}, {10, "18", 6, 2, 0}, {10, "11", 3, 3, 0}, {10, "", 3, 4, 0},
        {10, "", 3, 5, 0},   {10, "19", 3, 6, 0}, {10, "20", 3, 7, 0}, {18, "21", 3, 0, 0},
    };
    const std::vector<row> mtp = {
        {10, "17", 6, 1, 0}, {10, "18", 6, 2, 0}, {10, "19*", 3, 3, 1}, {10, "", 3, 4, 1},
        {10, "", 3, 5, 1},   {10, "20", 3, 6, 1}, {10, "21", 3, 7, 1},  {19, "22", 3, 0, 0},
    };
    for (mtp_mode mode : {MTP_RESEND, MTP_FILL_HOLES, MTP_STRICT}) {
        figure f(mode, 6, 6);
        f.start(16);
        check_rows(f, mode == MTP_STRICT ? mtp : tcp);
        CHECK(f.s.ssthresh == 3);
        CHECK(f.s.state == MTP_OPEN);
    }
}

TEST_CASE("mtp_sender: NewReno, packets 11 and 13 of 16 lost: cwnd is halved once")
{
    // 12, 14 and 15 give duplicates, the third of which halves, and so do 16, 17 and 18. 19* marks
    // 11: the ACK stops at 12, has 13 replaced, at the same cwnd, and takes one duplicate back, as
    // 12 is acknowledged now. 20 gives a duplicate of that. 21* marks 13, and nothing is missing.
    const std::vector<row> rows = {
        {10, "17", 6, 1, 0},     {10, "18", 6, 2, 0}, {10, "19*", 3, 3, 1},
        {10, "", 3, 4, 1},       {10, "", 3, 5, 1},   {10, "20", 3, 6, 1},
        {12, "21* 22", 3, 5, 2}, {12, "23", 3, 6, 2}, {21, "24", 3, 0, 0},
    };
    figure f(MTP_STRICT, 6, 6, true);
    f.start(16);
    check_rows(f, rows);
    CHECK(f.s.counts.fast_recoveries == 1);
    CHECK(f.s.ssthresh == 3);
    CHECK(f.s.state == MTP_OPEN);
}

namespace
{

// Figures 3 and 4: packets 11 to 14 were out with cwnd 4 when the timer expired.
void time_out(figure &f, const char *first)
{
    f.start(14);
    usec_t at = mtp_sender_next_timeout(&f.s);
    mtp_sender_timeout(&f.s, at);
    CHECK(f.pull(at) == first);
    CHECK(f.s.cwnd == 1);
    CHECK(f.s.ssthresh == 2);
}

} // namespace

TEST_CASE("mtp_sender: Figure 3, a timeout, packets 11 and 14 lost")
{
    figure tcp(MTP_RESEND, 4, 4);
    time_out(tcp, "11");
    check_rows(tcp, {{13, "14 15", 2, 0, 0}, {14, "16", 2, 0, 0}, {15, "17 18", 3, 0, 0}});
    figure mtp(MTP_STRICT, 4, 4);
    time_out(mtp, "15*");
    CHECK(mtp.s.base == 14); // wnd_base = 14
    check_rows(mtp, {{13, "16* 17*", 2, 0, 1}});
    CHECK(mtp.s.base == 14);
    check_rows(mtp, {{16, "18", 2, 0, 0}, {17, "19 20", 3, 0, 0}});
    CHECK(mtp.s.base == 17);
}

TEST_CASE(
    "mtp_sender: hi_ack = wnd_base is still timeout recovery; duplicates within start nothing")
{
    figure f(MTP_STRICT, 4, 4);
    time_out(f, "15*");
    check_rows(f, {{14, "16* 17*", 2, 0, 1},
                   {14, "18*", 2, 1, 1},
                   {14, "19*", 2, 2, 1},
                   {14, "", 2, 3, 1},
                   {14, "", 2, 4, 1},
                   {19, "20 21", 2, 0, 0}});
    CHECK(f.s.counts.fast_recoveries == 0);
}

TEST_CASE("mtp_sender: a second timeout of the same slot leaves ssthresh")
{
    figure f(MTP_STRICT, 10, 10);
    f.pull(1);
    for (int i = 0; i < 2; i++) {
        usec_t at = mtp_sender_next_timeout(&f.s);
        mtp_sender_timeout(&f.s, at);
        CHECK(f.pull(at) == (i == 0 ? "11*" : "12*"));
        CHECK(f.s.ssthresh == 5);
    }
    CHECK(f.s.stuck == 2);
    CHECK(mtp_sender_info(&f.s).rto == 4 * USEC_PER_SEC);
}

namespace
{

// The slots [0, 4) were sent at once with cwnd 4; the test sets the time of each ACK.
struct timed : figure {
    timed() : figure(config())
    {
        CHECK(pull(0) == "1 2 3 4");
    }
    static mtp_sender_config config()
    {
        mtp_sender_config c = config_of(MTP_STRICT, 4096, 4, 4);
        c.karn = c.once_a_window = true;
        return c;
    }
    usec_t rto() const
    {
        return mtp_sender_info(&s).rto;
    }
};

constexpr usec_t MS = USEC_PER_MSEC;

} // namespace

TEST_CASE("mtp_sender: Karn: one packet per round trip is timed, never a replacement")
{
    timed f;
    f.ack(1, 100 * MS); // packet 1 was timed; then 5
    CHECK(mtp_sender_info(&f.s).srtt == 100 * MS);
    f.ack(2, 150 * MS);
    f.ack(4, 190 * MS);
    CHECK(mtp_sender_info(&f.s).srtt == 100 * MS);
    f.ack(5, 180 * MS + 100 * MS); // 180 since it left: 7/8 of 100 and 1/8 of it
    CHECK(mtp_sender_info(&f.s).srtt == 110 * MS);

    // 6 is lost. 9 was timed until then; the replacement is not.
    int64_t next = f.s.next;
    f.ack(5, 300 * MS);
    f.ack(5, 310 * MS);
    f.ack(5, 320 * MS);
    CHECK(f.s.state == MTP_FAST);
    CHECK(f.s.timed == -1);
    CHECK(f.s.next == next + 3);
    f.ack(next + 3, 900 * MS);
    CHECK(mtp_sender_info(&f.s).srtt == 110 * MS);
}

TEST_CASE("mtp_sender: Karn: a timeout stays backed off until a new packet is acknowledged")
{
    for (bool karn : {true, false}) {
        INFO("karn " << karn);
        timed f;
        f.s.config.karn = karn;
        usec_t at = mtp_sender_next_timeout(&f.s);
        REQUIRE(at == USEC_PER_SEC);
        mtp_sender_timeout(&f.s, at);
        CHECK(f.pull(at) == "5*");
        mtp_ack a{};
        a.cum = 5; // 2 to 4 had arrived: the end of the recovery
        a.window = 4096;
        a.has_echo = true;
        a.echo_us = static_cast<uint32_t>(at);
        mtp_sender_ack(&f.s, &a, at + 100 * MS);
        CHECK(f.s.state == MTP_OPEN);
        CHECK(f.pull(at + 100 * MS) == "6 7");
        CHECK(f.rto() == (karn ? 2 : 1) * USEC_PER_SEC);
        CHECK(mtp_sender_next_timeout(&f.s) == at + 100 * MS + f.rto());
        f.ack(6, at + 200 * MS);
        CHECK(f.rto() == USEC_PER_SEC);
    }
}

TEST_CASE("mtp_sender: a replacement in fast recovery gets a full RTO")
{
    timed f;
    CHECK(mtp_sender_next_timeout(&f.s) == USEC_PER_SEC);
    f.ack(0, 100 * MS);
    f.ack(0, 200 * MS);
    CHECK(mtp_sender_next_timeout(&f.s) == USEC_PER_SEC);
    f.ack(0, 300 * MS);
    CHECK(f.s.counts.replacements == 1);
    CHECK(mtp_sender_next_timeout(&f.s) == 300 * MS + USEC_PER_SEC);
    f.ack(0, 400 * MS); // the others do not move it
    CHECK(mtp_sender_next_timeout(&f.s) == 300 * MS + USEC_PER_SEC);
}

TEST_CASE(
    "mtp_sender: once a window: no fast recovery before new data after a timeout is acknowledged")
{
    for (bool once : {true, false}) {
        INFO("once a window " << once);
        timed f;
        f.s.config.once_a_window = once;
        usec_t at = mtp_sender_next_timeout(&f.s);
        mtp_sender_timeout(&f.s, at);
        CHECK(f.pull(at) == "5*");
        // The replacement arrived: TCP's first packet sent again. 6, the first new one, is lost.
        CHECK(f.ack(5, at + 1) == "6 7");
        for (int i = 0; i < 3; i++)
            f.ack(5, at + 2);
        CHECK(f.s.counts.fast_recoveries == (once ? 0 : 1));
    }
}

TEST_CASE("mtp_sender: Figure 4, a timeout, packets 11 and 13 lost")
{
    figure tcp(MTP_RESEND, 4, 4);
    time_out(tcp, "11");
    check_rows(
        tcp,
        {{12, "13 14", 2, 0, 0}, {14, "15 16", 2, 0, 0}, {14, "17", 2, 1, 0}, {15, "18", 3, 0, 0}});
    figure mtp(MTP_STRICT, 4, 4);
    time_out(mtp, "15*");
    check_rows(mtp, {{12, "16* 17*", 2, 0, 1},
                     {16, "18", 2, 0, 0},
                     {17, "19 20", 3, 0, 0},
                     {18, "21", 3, 0, 0}});
}

namespace
{

// Reno by RFC 5681 and RFC 3042, with a receiver, for comparison with MTP. It has no timer: the
// comparison ends where one would be needed.
struct reno {
    struct mail {
        bool is_ack;
        int64_t n;
    };
    int64_t una = 0, nxt = 0;
    int cwnd, ssthresh, acks = 0, dups = 0;
    bool fast = false, once_a_window, newreno;
    int64_t flight_before = 0, recover = -1;
    std::set<int64_t> have;
    int64_t expected = 0;
    std::multimap<usec_t, mail> under_way;
    int transmissions = 0, acks_sent = 0;
    usec_t now = 0;
    mtp_rig::fate path;
    std::vector<std::pair<usec_t, int>> log; // when, cwnd

    reno(int window, int threshold, const mtp_sender_config &c, mtp_rig::fate p)
        : cwnd(window), ssthresh(threshold), once_a_window(c.once_a_window), newreno(c.newreno),
          path(std::move(p))
    {
    }
    void transmit(int64_t n)
    {
        log.emplace_back(now, cwnd);
        for (usec_t more : path(false, transmissions))
            under_way.emplace(now + mtp_rig::delay + more, mail{false, n});
        transmissions++;
    }
    void fill_window()
    {
        int extra = fast ? dups : std::min(dups, 2);
        while (nxt < una + cwnd + extra)
            transmit(nxt++);
    }
    void acknowledge(int64_t n)
    {
        if (n > una && fast && newreno && n < recover) { // RFC 6582, 3.2, step 3
            dups = (int)std::max<int64_t>(dups - (n - una) + 1, 0);
            una = n;
            transmit(una);
        } else if (n > una) {
            bool was_full = nxt - una >= cwnd;
            una = n;
            dups = 0;
            if (fast) {
                cwnd = ssthresh;
                acks = 0;
                fast = false;
            } else if (was_full && cwnd < ssthresh) {
                cwnd++;
            } else if (was_full && ++acks >= cwnd) {
                cwnd++;
                acks = 0;
            }
        } else if (n == una && nxt > una) {
            if (++dups == 1)
                flight_before = nxt - una;
            if (dups == 3 && !fast && (!once_a_window || una > recover)) {
                recover = nxt;
                ssthresh = (int)std::max<int64_t>(std::min<int64_t>(flight_before, cwnd) / 2, 2);
                cwnd = ssthresh;
                acks = 0;
                fast = true;
                transmit(una);
            }
        }
        fill_window();
    }
    void run(size_t count)
    {
        fill_window();
        while (!under_way.empty() && log.size() < count) {
            now = under_way.begin()->first;
            mail m = under_way.begin()->second;
            under_way.erase(under_way.begin());
            if (m.is_ack) {
                acknowledge(m.n);
                continue;
            }
            have.insert(m.n);
            while (have.count(expected))
                expected++;
            for (usec_t more : path(true, acks_sent))
                under_way.emplace(now + mtp_rig::delay + more, mail{true, expected});
            acks_sent++;
        }
    }
};

mtp_rig::fate lose(std::set<int> data, std::set<int> acks)
{
    return [=](bool is_ack, int index) {
        return (is_ack ? acks : data).count(index) ? std::vector<usec_t>{} : std::vector<usec_t>{0};
    };
}

// Runs both senders for `count` transmissions; they must agree on each one before the first
// timeout.
void compare_with_reno(mtp_mode mode, bool once_a_window, bool newreno, const mtp_rig::fate &path,
                       size_t count, size_t *compared)
{
    mtp_sender_config c = config_of(mode, 4096, 4, 64);
    c.newreno = newreno;
    c.queue.bytes = 1 << 20;
    c.min_rto = 60 * USEC_PER_SEC;
    c.once_a_window = once_a_window;
    mtp_rig rig(c);
    rig.path = path;
    rig.write((int64_t)count + 100);
    rig.pull();
    reno plain(4, 64, c, path);
    plain.run(count);
    size_t n = rig.log.size();
    while (n < count && rig.step() && rig.sender.counts.timeouts == 0)
        n = rig.log.size();
    n = std::min(n, count);
    if (n != std::min(plain.log.size(), count))
        FAIL("MTP stopped at " << n << ", Reno at " << plain.log.size());
    for (size_t i = 0; i < n; i++)
        if (rig.log[i].at != plain.log[i].first || rig.log[i].cwnd != plain.log[i].second)
            FAIL("transmission " << i << ": at " << rig.log[i].at << " with cwnd "
                                 << rig.log[i].cwnd << ", Reno at " << plain.log[i].first
                                 << " with " << plain.log[i].second);
    *compared += n;
}

} // namespace

TEST_CASE("mtp_sender: cwnd and send times equal Reno's for all patterns of 13 packets", "[long]")
{
    size_t compared = 0;
    // The last bit: once_a_window; the first: newreno.
    for (unsigned pattern = 0; pattern < 1u << 15; pattern += SANITIZED ? 17 : 1) {
        std::set<int> lost;
        for (int i = 1; i < 14; i++)
            if (pattern >> i & 1)
                lost.insert(i + 5);
        INFO("pattern " << pattern);
        compare_with_reno(MTP_STRICT, pattern % 2, pattern >> 14, lose(lost, {}), 60, &compared);
    }
    CHECK(compared > (SANITIZED ? 6000 : 100000));
}

TEST_CASE("mtp_sender: cwnd and send times equal Reno's with random losses both ways", "[long]")
{
    size_t compared = 0;
    for (unsigned seed = 0; seed < 600; seed += SANITIZED ? 13 : 1) {
        rng r = rng_seeded(seed);
        double p = 0.002 + 0.03 * rng_unit(&r);
        std::set<int> data, acks;
        for (int i = 0; i < 3000; i++) {
            if (rng_unit(&r) < p)
                data.insert(i);
            if (rng_unit(&r) < p)
                acks.insert(i);
        }
        INFO("seed " << seed);
        compare_with_reno(seed % 3 == 0   ? MTP_FILL_HOLES
                          : seed % 3 == 1 ? MTP_RESEND
                                          : MTP_STRICT,
                          seed % 2, seed >= 300, lose(data, acks), 1000, &compared);
    }
    CHECK(compared > (SANITIZED ? 15000 : 200000));
}

namespace
{

// The n-th event of either kind is lost if bit n is set.
struct pattern_path {
    unsigned pattern;
    bool data_only;
    int events = 0;

    std::vector<usec_t> operator()(bool is_ack, int)
    {
        int n = is_ack && data_only ? 32 : events++;
        if (n < 32 && pattern >> n & 1)
            return {};
        return {0};
    }
};

void no_deadlock(mtp_mode mode, int64_t window, int bits, bool data_only)
{
    for (unsigned k = 0; k < 2u << bits; k++) { // the last bit: newreno
        unsigned pattern = k / 2;
        mtp_sender_config c = config_of(mode, window, 4, 8);
        c.newreno = k % 2;
        mtp_rig rig(c);
        rig.path = pattern_path{pattern, data_only};
        rig.write(14);
        INFO("mode " << mode << " window " << window << " pattern " << pattern);
        if (!rig.finish(2000))
            FAIL("no end");
        CHECK(rig.sender.next == rig.sender.cum);
        CHECK(rig.sender.queue.packets == 0);
        if (mode == MTP_RESEND)
            CHECK((int64_t)rig.delivered.size() == rig.frames);
        // If all ACKs arrive, no received packet is reported lost, and outside timeout recovery
        // every missing packet is. (In timeout recovery a replacement may mark a slot that the
        // ranges never showed.)
        bool exact = mode == MTP_FILL_HOLES || rig.sender.counts.timeouts == 0;
        for (int64_t f = 0; f < rig.frames && data_only; f++)
            if (rig.delivered.count(f) ? rig.lost.count(f) : exact && !rig.lost.count(f))
                FAIL("frame " << f << " is not told right");
    }
}

} // namespace

TEST_CASE("mtp_sender: no loss pattern of the first 13 transmissions, data or ACKs, is a deadlock",
          "[long]")
{
    const int fewer = SANITIZED ? 4 : 0;
    no_deadlock(MTP_STRICT, 4096, 13 - fewer, false);
    no_deadlock(MTP_STRICT, 4096, 13 - fewer, true);
    no_deadlock(MTP_FILL_HOLES, 4096, 12 - fewer, false);
    no_deadlock(MTP_FILL_HOLES, 4096, 12 - fewer, true);
    no_deadlock(MTP_RESEND, 4096, 12 - fewer, false);
}

TEST_CASE("mtp_sender: with a limiting window replacements fill holes, and nothing exceeds it")
{
    no_deadlock(MTP_STRICT, 1, 11, false);
    no_deadlock(MTP_STRICT, 4, 12, false);
    no_deadlock(MTP_STRICT, 6, 12, false);
    no_deadlock(MTP_STRICT, 6, 12, true);
    no_deadlock(MTP_RESEND, 3, 11, false);

    mtp_rig rig(config_of(MTP_STRICT, 8, 8, 8));
    rig.path = lose({0, 1, 2, 3, 4, 5, 6, 7}, {}); // all of the window
    rig.write(20);
    REQUIRE(rig.finish(1000));
    CHECK(rig.sender.counts.fills >= 1);
    CHECK(rig.log[8].slot == 0);
    CHECK(rig.log[8].number == 8);
    CHECK(rig.log[8].flags == MTP_FILL);
    CHECK(rig.lost == std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(rig.delivered.size() == 12);
}

TEST_CASE("mtp_sender: all losses, and only losses, are reported if the ranges show them")
{
    // A timeout, and a replacement that is lost itself.
    mtp_rig again(config_of(MTP_STRICT, 4096, 4, 8));
    again.path = lose({0, 1, 2, 3, 5}, {});
    again.write(14);
    REQUIRE(again.finish(1000));
    CHECK(again.lost == std::set<int64_t>{0, 1, 2, 3, 5});

    mtp_rig rig(config_of(MTP_STRICT, 4096, 10, 10));
    rig.path = lose({3, 20, 41, 60, 61}, {});
    rig.write(100);
    REQUIRE(rig.finish(10000));
    CHECK(rig.lost == std::set<int64_t>{3, 20, 41, 60, 61});
    CHECK(rig.delivered.size() == 95);
}

TEST_CASE("mtp_sender: random reordering, duplicates and losses")
{
    for (unsigned seed = 0; seed < 300; seed++) {
        rng r = rng_seeded(1000 + seed);
        mtp_mode mode = (mtp_mode)(seed % 3);
        mtp_rig rig(config_of(mode, 8 + (int64_t)rng_below(&r, 100)));
        rig.path = [&r](bool, int) {
            std::vector<usec_t> copies;
            if (rng_unit(&r) >= 0.05)
                copies.push_back(rng_unit(&r) < 0.1 ? (usec_t)rng_below(&r, 200000) : 0);
            if (rng_unit(&r) < 0.05)
                copies.push_back((usec_t)rng_below(&r, 3000000));
            return copies;
        };
        INFO("seed " << seed);
        for (int i = 0; i < 30; i++) {
            rig.write((int64_t)rng_below(&r, 20));
            rig.pull();
            for (int k = 0; k < 15 && rig.step(); k++)
                ;
            if (seed % 2 && rng_below(&r, 10) == 0)
                mtp_sender_set_mode(&rig.sender, (mtp_mode)rng_below(&r, 3), rig.now);
        }
        if (!rig.finish(100000))
            FAIL("no end");
        CHECK(rig.sender.next == rig.sender.cum);
        CHECK(rig.sender.counts.lies == 0);
        CHECK(rig.delivered.size() > (size_t)rig.frames / 2);
    }
}

TEST_CASE("mtp_sender: stuck in strict mode at a terminating proxy, it requests a step down")
{
    for (mtp_mode to : {MTP_FILL_HOLES, MTP_RESEND}) {
        mtp_rig rig(config_of(MTP_STRICT, 4096, 8, 8));
        rig.terminates = true;
        rig.path = lose({4, 30}, {});
        rig.write(200);
        rig.pull();
        while (!mtp_sender_info(&rig.sender).should_step_down)
            REQUIRE(rig.step());
        CHECK(rig.sender.counts.fast_recoveries + rig.sender.counts.timeouts == MTP_STUCK);
        CHECK(rig.now < 4 * USEC_PER_SEC);
        CHECK(rig.in_order == 4);
        mtp_sender_set_mode(&rig.sender, to, rig.now);
        CHECK_FALSE(mtp_sender_info(&rig.sender).should_step_down);
        REQUIRE(rig.finish(10000));
        CHECK(rig.sender.queue.packets == 0);
        CHECK(rig.in_order == rig.sender.next);
    }
}

TEST_CASE("mtp_sender: a flow without losses steps down without retransmission")
{
    mtp_rig rig(config_of(MTP_STRICT, 4096, 8, 8));
    rig.write(100);
    rig.pull();
    for (int i = 0; i < 20; i++)
        REQUIRE(rig.step());
    mtp_sender_set_mode(&rig.sender, MTP_FILL_HOLES, rig.now);
    CHECK(rig.sender.cwnd >= 8);
    REQUIRE(rig.finish(1000));
    CHECK(rig.transmissions == 100);
    CHECK(rig.delivered.size() == 100);
    CHECK(rig.lost.empty());
}

TEST_CASE("mtp_sender: without data a replacement is empty, and the flow comes to rest")
{
    mtp_rig rig(config_of(MTP_STRICT, 4096, 8, 8));
    rig.path = lose({2}, {});
    rig.write(6);
    REQUIRE(rig.finish(100));
    CHECK(rig.sender.counts.empties == 1);
    CHECK(rig.sender.counts.fast_recoveries == 1);
    CHECK(rig.log.back().slot == 6);
    CHECK(rig.log.back().flags == MTP_R);
    CHECK(rig.delivered == std::set<int64_t>{0, 1, 3, 4, 5});

    // The tail is lost: four empty packets, one a hole, in timeout recovery.
    mtp_rig tail(config_of(MTP_STRICT, 4096, 8, 8));
    tail.path = lose({2, 3, 4, 5}, {});
    tail.write(6);
    REQUIRE(tail.finish(100));
    CHECK(tail.sender.counts.timeouts == 1);
    CHECK(tail.sender.counts.empties == 4);
    CHECK(tail.lost == std::set<int64_t>{2, 3, 4, 5});
}

TEST_CASE("mtp_sender: a window of zero is probed with an old slot, then used")
{
    mtp_rig rig(config_of(MTP_STRICT, 0));
    mtp_receiver_init(&rig.receiver, 16);
    rig.write(5);
    rig.pull();
    CHECK(rig.log.empty());
    REQUIRE(rig.finish(100));
    CHECK(rig.log[0].slot == -1);
    CHECK(rig.log[0].at == USEC_PER_SEC);
    CHECK(rig.delivered.size() == 5);
}

TEST_CASE("mtp_sender: malformed acknowledgements do no harm")
{
    mtp_rig rig(config_of(MTP_STRICT, 64, 8, 8));
    rig.write(100);
    rig.pull();
    mtp_out out;
    auto give = [&](int64_t cum, int64_t window, std::vector<mtp_range> ranges) {
        mtp_ack a{};
        a.cum = cum;
        a.window = window;
        for (const mtp_range &m : ranges)
            a.ranges[a.count++] = m;
        mtp_sender_ack(&rig.sender, &a, rig.now);
    };
    struct lie {
        int64_t cum, window;
        std::vector<mtp_range> ranges;
    };
    const std::vector<lie> lies = {
        {9, 64, {}},                       // beyond max_seq: 8 slots were sent
        {INT64_MAX, INT64_MAX, {}},        //
        {-1, 64, {}},                      //
        {INT64_MIN, INT64_MIN, {}},        //
        {1, -1, {}},                       // a negative window
        {0, 64, {{INT64_MIN, INT64_MAX}}}, // ranges that are huge,
        {0, 64, {{1, 9}}},                 // beyond max_seq,
        {0, 64, {{0, 3}}},                 // below the hole,
        {0, 64, {{5, 5}}},                 // empty,
        {0, 64, {{6, 2}}},                 // the wrong way round
    };
    uint64_t told = 0;
    for (const lie &l : lies) {
        give(l.cum, l.window, l.ranges);
        CHECK(rig.sender.counts.lies == ++told);
        CHECK(rig.sender.cum == 0);
        CHECK(rig.sender.sacked.count == 0);
        rig.sender.dups = 0; // those with cum 0 count as duplicates
        rig.sender.state = MTP_OPEN;
        rig.sender.replacement_due = false;
        rig.sender.cwnd = 8;
    }
    give(2, 62, {});
    while (mtp_sender_pull(&rig.sender, &out, rig.now))
        ;
    give(1, 1000, {}); // going back: not even its window counts
    CHECK(rig.sender.cum == 2);
    CHECK(rig.sender.edge == 64);
    give(2, 1, {}); // the window's edge never moves back
    CHECK(rig.sender.edge == 64);
    give(2, 62, {{4, 7}, {5, 9}, {3, 6}}); // overlapping ones are one
    CHECK(rig.sender.sacked.count == 1);
    CHECK(mtp_ranges_within(&rig.sender.sacked, 0, 100) == 6);
    rig.sender.dups = 0;
    for (int64_t window = 63; window < 70; window++) // it opens: no duplicates
        give(2, window, {});
    CHECK(rig.sender.dups == 0);
    give(2, INT64_MAX, {});
    CHECK(rig.sender.edge == 2 + (int64_t)INT32_MAX);
}

TEST_CASE("mtp_sender: false acknowledgements do not stop the flow")
{
    mtp_rig rig(config_of(MTP_FILL_HOLES, 4096, 8, 8));
    rig.path = lose({0, 1, 2, 3, 4, 5, 6, 7}, {});
    rig.write(30);
    rig.pull();
    mtp_ack a{};
    a.window = 4096;
    a.count = 1;
    a.ranges[0] = {1, 8}; // all but the first: none of it arrived
    mtp_sender_ack(&rig.sender, &a, rig.now);
    REQUIRE(rig.finish(1000));
    CHECK(rig.sender.next == rig.sender.cum);
}

TEST_CASE("mtp_sender: RTT from echoes, without ambiguous and impossible ones")
{
    mtp_sender_config c = config_of(MTP_RESEND, 4096, 2, 2);
    mtp_sender s;
    REQUIRE(mtp_sender_init(&s, &c, 0) == 0);
    uint8_t byte = 0;
    for (int i = 0; i < 3; i++)
        REQUIRE(mtp_sender_push(&s, &byte, 1, i, false, 1000) == 0);
    mtp_out out;
    while (mtp_sender_pull(&s, &out, 1000))
        ;
    mtp_ack a{};
    a.cum = 1;
    a.window = 4096;
    a.has_echo = true;
    a.echo_us = 71000; // ahead of now: 71 minutes ago, modulo 2^32
    mtp_sender_ack(&s, &a, 61000);
    CHECK(s.counts.lies == 1);
    CHECK(mtp_sender_info(&s).srtt == 0);
    a.echo_us = 1000;
    mtp_sender_ack(&s, &a, 61000);
    CHECK(mtp_sender_info(&s).srtt == 60000);
    mtp_sender_ack(&s, &a, 90000); // the same echo is not news
    CHECK(mtp_sender_info(&s).srtt == 60000);
    REQUIRE(mtp_sender_pull(&s, &out, 61000));
    CHECK(out.number == 2);
    usec_t at = mtp_sender_next_timeout(&s);
    mtp_sender_timeout(&s, at);
    REQUIRE(mtp_sender_pull(&s, &out, at));
    CHECK(out.number == 1);
    a.cum = 2;
    mtp_sender_ack(&s, &a, at + 5);
    REQUIRE(mtp_sender_pull(&s, &out, at + 5));
    CHECK(out.number == 2);
    CHECK(out.time == 61000);
    a.cum = 3; // of which transmission? Karn's rule leaves it out
    a.echo_us = 61000;
    mtp_sender_ack(&s, &a, at + 10);
    CHECK(mtp_sender_info(&s).srtt == 60000);
    mtp_sender_destroy(&s);
}

namespace
{

// Returns the longest time without progress in five minutes of a flow configured as in the
// programs, with a loss probability p.
usec_t longest_silence(mtp_mode mode, double p, unsigned seed)
{
    mtp_sender_config c = config_of(mode, 16384, 0, 0, true);
    c.min_rto = 200 * USEC_PER_MSEC;
    c.max_rto = RTO_MAX_LIVE;
    c.counts_slots = c.stamps_resends = true;
    mtp_rig rig(c);
    rig.stamps = true;
    rng r = rng_seeded(seed);
    rig.path = [&](bool is_ack, int) {
        return is_ack || rng_unit(&r) >= p ? std::vector<usec_t>{0} : std::vector<usec_t>{};
    };
    usec_t longest = 0, heard = 0;
    while (rig.now < 300 * USEC_PER_SEC) {
        if (rig.sender.queue.packets < 20)
            rig.write(20);
        rig.pull();
        int64_t cum = rig.sender.cum;
        REQUIRE(rig.step());
        if (rig.sender.cum == cum)
            continue;
        longest = std::max(longest, rig.now - heard);
        heard = rig.now;
    }
    return longest;
}

} // namespace

TEST_CASE("mtp_sender: no flow of the programs is silent for 10 s at a loss of 20 %")
{
    // Of 3000 packets one is lost five times in a row. With Karn's rule and a timeout that doubles
    // without bound `resend` is silent for 26 s.
    for (mtp_mode mode : {MTP_STRICT, MTP_FILL_HOLES, MTP_RESEND})
        for (unsigned seed = 0; seed < 20; seed++) {
            INFO("mode " << mode << " seed " << seed);
            CHECK(longest_silence(mode, 0.2, seed) < 10 * USEC_PER_SEC);
        }
}

TEST_CASE("mtp_sender: with own timestamps, the echo of a retransmitted packet ends the back-off")
{
    for (bool stamps : {false, true}) {
        INFO(stamps);
        mtp_sender_config c = config_of(MTP_RESEND, 4096, 2, 2);
        c.min_rto = 200 * MS;
        c.max_rto = RTO_MAX_LIVE;
        c.stamps_resends = stamps;
        mtp_rig rig(c);
        rig.stamps = stamps;
        // Packets 0 to 5 arrive, 6 and 7 at their sixth transmission.
        rig.path = [](bool is_ack, int index) {
            return is_ack || index < 6 || index > 11 ? std::vector<usec_t>{0}
                                                     : std::vector<usec_t>{};
        };
        rig.write(8);
        REQUIRE(rig.finish(100));
        CHECK(rig.delivered.size() == 8);
        std::vector<usec_t> apart;
        for (size_t i = 7; i < 13; i++)
            apart.push_back((rig.log.at(i).at - rig.log.at(i - 1).at) / MS);
        // 5 is acknowledged 60 ms after 6 and 7 left; 200 ms from then on, doubled, 2 s at most.
        CHECK(apart == std::vector<usec_t>{0, 260, 400, 800, 1600, 2000});
        CHECK(rig.sender.rto.backoff == (stamps ? 0 : 5));
    }
}

TEST_CASE("mtp_sender: without echoes one packet per round trip is timed")
{
    timed f;
    f.s.config.karn = false;
    f.ack(1, 100 * MS);
    CHECK(mtp_sender_info(&f.s).srtt == 100 * MS);
}

TEST_CASE("mtp_sender: refused packets")
{
    mtp_sender_config c = config_of(MTP_STRICT, 16);
    c.queue.block = true;
    c.queue.bytes = 16;
    mtp_sender s;
    REQUIRE(mtp_sender_init(&s, &c, 0) == 0);
    uint8_t bytes[9] = {0};
    CHECK(mtp_sender_push(&s, bytes, 9, 0, false, 0) == ERR_TOO_BIG);
    CHECK(mtp_sender_push(&s, bytes, 0, 0, false, 0) == ERR_TOO_BIG);
    CHECK(mtp_sender_push(&s, bytes, 8, 0, true, 0) == 0);
    CHECK(mtp_sender_has_room(&s, 0));
    CHECK(mtp_sender_push(&s, bytes, 8, 1, false, 0) == 0);
    CHECK_FALSE(mtp_sender_has_room(&s, 0));
    CHECK(mtp_sender_push(&s, bytes, 8, 2, false, 0) == ERR_AGAIN);
    mtp_out out;
    REQUIRE(mtp_sender_pull(&s, &out, 0));
    CHECK(out.flags == MTP_CTRL);
    CHECK(mtp_sender_has_room(&s, 0));
    mtp_sender_destroy(&s);
}

TEST_CASE("mtp_sender: cwnd grows only while it is the limit, and is reset after an idle RTO")
{
    mtp_rig rig(config_of(MTP_STRICT, 4096, 10));
    auto frame = [&rig](usec_t at, int64_t packets) {
        rig.now = at;
        rig.write(packets);
        REQUIRE(rig.finish(1000));
    };
    for (int i = 0; i < 20; i++)
        frame(i * 100 * USEC_PER_MSEC, 5);
    CHECK(rig.sender.cwnd == 10);
    frame(2 * USEC_PER_SEC, 100);
    CHECK(rig.sender.cwnd > 40);
    size_t before = rig.log.size();
    rig.now = 10 * USEC_PER_SEC;
    rig.write(100);
    rig.pull();
    CHECK(rig.log.size() == before + 10);
}

TEST_CASE("mtp_sender: keeps_window: cwnd grows while half of it is used, and a loss halves it")
{
    // Three packets a round trip, in congestion avoidance from a window of 4 on, each acknowledged.
    // The first ACK of three finds all under way: enough for a window of 6, too little for one of 4
    // that has to be full. Then the first packet of five is lost: half of the window, or two.
    for (bool keeps : {false, true}) {
        INFO(keeps);
        mtp_sender_config c = config_of(MTP_STRICT, 4096, 4, 4);
        c.keeps_window = keeps;
        mtp_rig r(c);
        for (int i = 0; i < 60; i++) {
            r.write(3);
            REQUIRE(r.finish(100));
        }
        CHECK(r.sender.cwnd == (keeps ? 7 : 4));
        r.path = [](bool ack, int i) {
            return !ack && i == 180 ? std::vector<usec_t>{} : std::vector<usec_t>{0};
        };
        r.write(5);
        REQUIRE(r.finish(100));
        CHECK(r.lost == std::set<int64_t>{180});
        CHECK(r.sender.ssthresh == (keeps ? 3 : 2));
    }
}

TEST_CASE(
    "mtp_sender: in a window of two, a later slot and a quarter of a round trip indicate a loss")
{
    // A round trip is 60 ms. Packets 10 and 11 leave together, 10 is lost, 11's ACK comes 60 ms
    // later: 15 ms more, and 10 is replaced. Three duplicate ACKs take two round trips besides.
    for (bool rack : {false, true}) {
        INFO(rack);
        mtp_sender_config c = config_of(MTP_STRICT, 4096, 2, 2, true);
        c.rack = rack;
        mtp_rig r(c);
        for (int i = 0; i < 5; i++) {
            r.write(2);
            REQUIRE(r.finish(100));
        }
        r.sender.cwnd = 2;
        const usec_t begin = r.now;
        r.path = [](bool ack, int i) {
            return !ack && i == 10 ? std::vector<usec_t>{} : std::vector<usec_t>{0};
        };
        r.write(8);
        REQUIRE(r.finish(100));
        auto replaced = std::find_if(r.log.begin(), r.log.end(),
                                     [](const mtp_rig::sent &p) { return p.flags & MTP_R; });
        REQUIRE(replaced != r.log.end());
        CHECK(replaced->at - begin == (rack ? 75 : 180) * USEC_PER_MSEC);
        CHECK(r.lost == std::set<int64_t>{10});
        CHECK(r.sender.counts.timeouts == 0);
        CHECK(r.sender.counts.fast_recoveries == 1);
    }
}

TEST_CASE("mtp_sender: a packet that is reordered by less is not lost")
{
    for (usec_t late : {10, 20}) { // ms; a quarter of a round trip is 15
        mtp_sender_config c = config_of(MTP_STRICT, 4096, 2, 2, true);
        c.rack = true;
        mtp_rig r(c);
        r.write(2);
        REQUIRE(r.finish(100));
        r.path = [late](bool ack, int i) {
            return std::vector<usec_t>{!ack && i == 2 ? late * USEC_PER_MSEC : 0};
        };
        r.write(2);
        REQUIRE(r.finish(100));
        CHECK(r.sender.counts.fast_recoveries == (late > 15));
        CHECK(r.delivered.size() == 4);
    }
}

TEST_CASE("mtp_sender: a lost replacement is replaced at once, not after a timeout")
{
    for (bool again : {false, true}) {
        INFO(again);
        mtp_sender_config c = config_of(MTP_STRICT, 4096, 12, 6, true);
        c.rack = again;
        mtp_rig r(c);
        int64_t replacement = -1; // the first one, as the number of its frame
        r.path = [&](bool ack, int i) {
            if (!ack && replacement < 0 && (r.log.back().flags & MTP_R))
                replacement = r.log.back().number;
            bool lost = !ack && (i == 10 || r.log.back().number == replacement);
            return lost ? std::vector<usec_t>{} : std::vector<usec_t>{0};
        };
        r.write(60);
        REQUIRE(r.finish(1000));
        CHECK(replacement > 10);
        CHECK(r.delivered.size() == 58);
        CHECK(r.lost.count(10) == 1);
        CHECK(r.sender.counts.timeouts == (again ? 0 : 1));
        CHECK(r.sender.counts.fast_recoveries == 1);
    }
}

TEST_CASE(
    "mtp_sender: SACK: fast recovery takes a round trip or two, however many packets were lost")
{
    // Every other one of 40 packets is lost, as in a full queue: 20 holes.
    for (bool bytes : {false, true})
        for (mtp_mode mode : {MTP_STRICT, MTP_FILL_HOLES, MTP_RESEND})
            for (bool rack : {false, true}) {
                INFO("bytes " << bytes << ", mode " << mode << ", rack " << rack);
                mtp_sender_config c = config_of(mode, 4096, 40, 20, true);
                c.rack = rack;
                c.slot_bytes = 1000;
                c.counts_slots = c.counts_bytes = bytes;
                c.queue.bytes = 1 << 22;
                c.min_rto = USEC_PER_SEC * 60; // no timeout helps
                mtp_rig r(c);
                r.length = [](int64_t) { return 960; };
                r.path = [&](bool ack, int i) {
                    bool lost = !ack && i < 40 && i % 2 == 0;
                    return lost ? std::vector<usec_t>{} : std::vector<usec_t>{0};
                };
                r.write(200);
                r.pull();
                while (r.sender.state != MTP_FAST && r.step())
                    ;
                usec_t begun = r.now;
                while (r.sender.state == MTP_FAST && r.step())
                    ;
                usec_t trips = (r.now - begun) / (2 * mtp_rig::delay);
                if (rack)
                    CHECK(trips <= 3);
                else
                    CHECK(trips >= 19);
                CHECK(r.sender.counts.fast_recoveries == 1);
                CHECK(r.sender.cwnd == 20);
                REQUIRE(r.finish(10000));
                CHECK(r.sender.counts.timeouts == 0);
                CHECK(r.delivered.size() == (mode == MTP_RESEND ? 200 : 180));
                CHECK(r.sender.inflation == 0);
            }
}

TEST_CASE("mtp_sender: keeps_window: in a standing queue a loss halves what is in flight")
{
    // 10 packets in flight of a window of 16. First the RTT is the path's; then all round trips
    // take 40 ms more.
    for (usec_t queue : {0, 40}) {
        INFO(queue << " ms");
        mtp_sender_config c = config_of(MTP_STRICT, 4096, 16, 16, true);
        c.keeps_window = true;
        mtp_rig r(c);
        int lost = -1;
        usec_t more = 0;
        r.path = [&](bool ack, int i) {
            if (!ack && i == lost)
                return std::vector<usec_t>{};
            return std::vector<usec_t>{ack ? 0 : more};
        };
        for (int round = 0; round < 40; round++) {
            r.write(10);
            REQUIRE(r.finish(1000));
        }
        int before = r.sender.cwnd;
        CHECK(before > 18); // it grows while half of it is used
        more = queue * USEC_PER_MSEC;
        for (int round = 0; round < 40; round++) {
            r.write(10);
            REQUIRE(r.finish(1000));
        }
        if (queue)
            CHECK(r.sender.cwnd <= before + 1); // the first round of a queue is not known to stand
        else
            CHECK(r.sender.cwnd > before + 1);
        int cwnd = r.sender.cwnd;
        lost = r.transmissions;
        r.write(10);
        r.pull();
        while (r.sender.state != MTP_FAST && r.step())
            ;
        CHECK(r.sender.cwnd == (queue ? 5 : cwnd / 2));
    }
}

TEST_CASE("mtp_sender: first_bytes: small packets leave beyond cwnd until the first ACK")
{
    // Slots of 8 bytes, packets of one: 16 bytes allow those that begin at byte 8 or before.
    const struct {
        int cwnd, first_bytes, sent;
    } rows[] = {{4, 0, 4}, {4, 16, 9}, {4, 32, 25}, {4, 8, 4}, {12, 16, 12}};
    for (const auto &r : rows) {
        INFO("cwnd " << r.cwnd << ", first bytes " << r.first_bytes);
        mtp_sender_config c = config_of(MTP_STRICT, 4096, r.cwnd);
        c.first_bytes = r.first_bytes;
        figure f(c);
        f.pull(0);
        CHECK(f.s.next == r.sent);
        // The first ACK ends it: then cwnd counts.
        mtp_ack a{};
        a.cum = 1;
        a.window = 4096;
        mtp_sender_ack(&f.s, &a, 1);
        f.pull(1);
        CHECK(f.s.next - f.s.cum == std::max(r.sent - 1, f.s.cwnd));
    }
    // A report of a loss ends it, too.
    mtp_sender_config c = config_of(MTP_STRICT, 4096, 4);
    c.first_bytes = 1000;
    figure f(c);
    mtp_out out;
    for (int i = 0; i < 6; i++)
        REQUIRE(mtp_sender_pull(&f.s, &out, 0));
    mtp_ack a{};
    a.window = 4096;
    a.count = 1;
    a.ranges[0] = {1, 2};
    mtp_sender_ack(&f.s, &a, 1);
    CHECK(f.pull(1).empty());
}

TEST_CASE("mtp_sender: counts_slots: an ACK of two slots counts twice")
{
    // Slow start up to 8, two slots an ACK at most (RFC 3465, 2.2). Then a slot for as many as
    // cwnd.
    const struct {
        int64_t cum;
        int cwnd, acks;
    } rows[] = {{2, 6, 0}, {5, 8, 0}, {7, 8, 2}, {9, 8, 4}, {12, 8, 7}, {14, 9, 1}};
    mtp_sender_config c = config_of(MTP_STRICT, 4096, 4, 8);
    c.counts_slots = true;
    mtp_rig rig(c);
    rig.write(100);
    rig.pull();
    for (const auto &r : rows) {
        mtp_ack a{};
        a.cum = r.cum;
        a.window = 4096;
        mtp_sender_ack(&rig.sender, &a, 1);
        rig.pull();
        INFO("ack " << r.cum);
        CHECK(rig.sender.cwnd == r.cwnd);
        CHECK(rig.sender.acks == r.acks);
    }
}

namespace
{
mtp_sender_config bytes_config(int cwnd, int ssthresh = 0)
{
    mtp_sender_config c = config_of(MTP_STRICT, 4096, cwnd, ssthresh, true);
    c.slot_bytes = 1000;
    c.counts_slots = c.counts_bytes = c.keeps_window = true;
    return c;
}
} // namespace

TEST_CASE("mtp_sender: counts_bytes: small packets share the window's slots")
{
    // A packet of n bytes takes n + 40 of 1000. As many as fit, up to twice cwnd, or to one in 10
    // ms.
    const struct {
        size_t bytes;
        usec_t srtt; // ms
        int sent;    // of cwnd 4
    } rows[] = {
        {1000, 0, 4}, {960, 0, 4},  {959, 300, 4},  {710, 0, 5},    {460, 0, 8},
        {210, 0, 8},  {210, 60, 8}, {210, 100, 10}, {210, 300, 16}, {10, 300, 30},
    };
    for (const auto &r : rows) {
        INFO(r.bytes << " bytes, " << r.srtt << " ms");
        mtp_rig rig(bytes_config(4));
        rig.length = [&](int64_t) { return r.bytes; };
        if (r.srtt)
            rto_sample(&rig.sender.rto, r.srtt * USEC_PER_MSEC);
        rig.write(100);
        rig.pull();
        CHECK(rig.sender.next == r.sent);
        CHECK(mtp_sender_wants(&rig.sender) == false);
    }
}

TEST_CASE("mtp_sender: counts_bytes: cwnd grows with bytes, and a loss takes its bytes' share")
{
    mtp_rig rig(bytes_config(4, 4));
    rig.length = [](int64_t) { return 460; };
    rig.write(60);
    rig.pull();
    mtp_ack a{};
    a.window = 4096;
    for (int i = 1; i <= 10; i++) { // two packets count as a slot
        a.cum = i;
        mtp_sender_ack(&rig.sender, &a, i);
        rig.pull();
        CHECK(rig.sender.cwnd == (i < 8 ? 4 : 5));
        CHECK(rig.sender.pipe == 500 * (rig.sender.next - rig.sender.cum));
    }
    const struct {
        size_t bytes;
        int lost, cwnd, acks;
    } rows[] = {
        {1000, 1, 5, 0}, {960, 1, 5, 0}, {460, 1, 7, 4}, {460, 2, 5, 0},
        {460, 3, 5, 0},  {160, 1, 9, 1}, {160, 2, 8, 1}, {160, 3, 7, 0},
    };
    for (const auto &r : rows) {
        INFO(r.lost << " of " << r.bytes << " bytes lost");
        mtp_rig one(bytes_config(10, 10));
        one.length = [&](int64_t n) { return n == 2 || n == 4 || n == 6 ? r.bytes : 1000; };
        one.path = [&](bool is_ack, int i) {
            bool lost = !is_ack && i >= 2 && i <= 2 * r.lost && i % 2 == 0;
            return lost ? std::vector<usec_t>{} : std::vector<usec_t>{0};
        };
        one.write(30);
        one.pull();
        while (one.now < (2 * r.lost + 1) * mtp_rig::delay && one.step()) // a hole a round trip
            ;
        CHECK(one.sender.counts.fast_recoveries == 1);
        CHECK(one.sender.cwnd == r.cwnd);
        CHECK(one.sender.rest == r.acks);
    }
}

TEST_CASE("mtp_sender: counts_bytes: what small packets leave of the window is counted right")
{
    for (mtp_mode mode : {MTP_STRICT, MTP_FILL_HOLES, MTP_RESEND})
        for (uint64_t seed = 1; seed <= 20; seed++) {
            INFO("mode " << mode << ", seed " << seed);
            rng random = rng_seeded(seed);
            mtp_sender_config c = bytes_config(4);
            c.mode = mode;
            c.rack = seed % 2;
            c.max_rto = 2 * USEC_PER_SEC;
            c.queue.bytes = 1 << 22;
            mtp_rig rig(c);
            rig.length = [&](int64_t) { return 8 + rng_u64(&random) % 993; };
            rig.path = [&](bool, int) {
                if (rng_unit(&random) < 0.1)
                    return std::vector<usec_t>{};
                return std::vector<usec_t>{static_cast<usec_t>(rng_u64(&random) % 20000)};
            };
            rig.write(1500);
            rig.pull();
            while (rig.step())
                REQUIRE(rig.sender.pipe >= 0);
            CHECK(rig.sender.cum == rig.sender.next);
            CHECK(rig.sender.pipe == 0);
            CHECK(rig.sender.acked_bytes < 1000);
            CHECK(rig.delivered.size() > 1200);
        }
}

namespace
{
// A sender with `ecn` whose ACKs say what the test says.
struct marked {
    mtp_sender s;
    usec_t now = 0;

    explicit marked(bool ecn, mtp_mode mode = MTP_STRICT)
    {
        mtp_sender_config c = config_of(mode, 4096, 20, 10, true);
        c.ecn = ecn;
        c.keeps_window = true; // halves cwnd, not the flight
        REQUIRE(mtp_sender_init(&s, &c, 0) == 0);
        for (int i = 0; i < 400; i++) {
            uint8_t byte = 0;
            REQUIRE(mtp_sender_push(&s, &byte, 1, i, false, 0) == 0);
        }
    }
    ~marked()
    {
        mtp_sender_destroy(&s);
    }
    marked(const marked &) = delete;
    marked &operator=(const marked &) = delete;

    // Returns what leaves: "." for each packet that may be marked, "-" for others, "W" for one that
    // carries CWR.
    std::string pull()
    {
        std::string all;
        mtp_out out;
        while (mtp_sender_pull(&s, &out, now))
            all += out.flags & MTP_CWR ? "W" : out.ect ? "." : "-";
        return all;
    }
    void ack(int64_t cum, bool ece, std::vector<mtp_range> ranges = {})
    {
        now += 1000;
        mtp_ack a{};
        a.cum = cum;
        a.window = 4096;
        a.ece = ece;
        for (mtp_range r : ranges)
            a.ranges[a.count++] = r;
        mtp_sender_ack(&s, &a, now);
    }
};
} // namespace

TEST_CASE("mtp_sender: a mark halves the window once a window of data, and loses nothing")
{
    marked m(true);
    CHECK(m.pull() == std::string(20, '.'));
    m.ack(2, true);
    CHECK(m.s.cwnd == 10);
    CHECK(m.s.ssthresh == 10);
    CHECK(m.s.counts.marks == 1);
    CHECK(m.pull() == "");                      // 18 are outstanding
    for (int64_t cum = 4; cum < 20; cum += 2) { // the echo stays until CWR arrives
        m.ack(cum, true);
        CHECK(m.s.cwnd == 10);
    }
    CHECK(m.pull() == "W......."); // 18 are acknowledged: 8 leave
    m.ack(20, true);               // of packets that left before
    CHECK(m.s.counts.marks == 2);  // everything outstanding at the first mark is acknowledged
    CHECK(m.s.cwnd == 5);
    CHECK(m.s.counts.lost == 0);
    CHECK(m.s.counts.replacements == 0);
    CHECK(m.s.state == MTP_OPEN);
}

TEST_CASE("mtp_sender: marks do nothing unless ECN is in use")
{
    marked m(false);
    CHECK(m.pull() == std::string(20, '-'));
    m.ack(2, true);
    CHECK(m.s.cwnd == 20);
    CHECK(m.s.counts.marks == 0);
}

TEST_CASE("mtp_sender: a mark and a loss of one window halve it once")
{
    marked m(true);
    m.pull();
    m.ack(2, true);
    CHECK(m.s.cwnd == 10);
    for (int64_t end = 4; end < 7; end++) // slot 2 is lost
        m.ack(2, true, {{3, end}});
    CHECK(m.s.state == MTP_FAST);
    CHECK(m.s.ssthresh == 10);
    CHECK(m.s.counts.marks == 1);
    CHECK(m.pull()[0] == 'W');

    marked n(true); // both at once
    n.pull();
    for (int64_t end = 2; end < 5; end++)
        n.ack(0, true, {{1, end}});
    CHECK(n.s.state == MTP_FAST);
    int half = n.s.ssthresh;
    CHECK(n.pull()[0] == 'W');
    n.ack(21, false);
    CHECK(n.s.state == MTP_OPEN);
    CHECK(n.s.counts.marks == 1); // the first duplicate ACK's
    CHECK(n.s.cwnd == 10);
    CHECK(half == 10);
}

TEST_CASE("mtp_sender: what looks like a retransmission may not be marked")
{
    for (mtp_mode mode : {MTP_FILL_HOLES, MTP_RESEND}) {
        marked m(true, mode);
        m.pull();
        for (int64_t end = 2; end < 5; end++)
            m.ack(0, false, {{1, end}});
        mtp_out out;
        REQUIRE(mtp_sender_pull(&m.s, &out, m.now));
        CHECK(out.slot == 0);
        CHECK_FALSE(out.ect);
        CHECK_FALSE(out.flags & MTP_CWR);
    }
}
