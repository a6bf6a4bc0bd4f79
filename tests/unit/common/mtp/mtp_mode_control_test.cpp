// SPDX-License-Identifier: GPL-2.0-or-later
// An adaptive flow, its viewer and a middlebox between them, in virtual time.
#include "common/mtp/mtp_mode_control.h"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/rng.h"
#include "common/mtp/mtp_flow.h"
#include "common/mtp/mtp_receive_flow.h"
#include "tests/support/sanitized.hpp"

namespace
{

const uint64_t TOKEN = 77;
const uint16_t PACKET = 100;
const usec_t MS = USEC_PER_MSEC, S = USEC_PER_SEC;

enum box {
    FREE,
    HOLDS_DATA, // drops data after a hole
    HOLDS_ACKS, // drops acknowledgements of data that it has not seen
    PROXY,      // terminates the connection, like a kernel's TCP
    COMPARES,   // HOLDS_ACKS, and drops new data in an old slot
    AWAY,       // drops all
};

using record = std::vector<uint8_t>;

struct told {
    int second;
    mtp_mode mode;
    mtp_reason reason;

    bool operator==(const told &) const = default;
    friend std::ostream &operator<<(std::ostream &out, const told &t)
    {
        return out << t.second << " s " << mtp_mode_name(t.mode) << " ("
                   << mtp_reason_text(t.reason) << ")";
    }
};

struct world : mtp_flow {
    mtp_receive_flow viewer;
    usec_t now = 0;
    usec_t delay;
    std::function<box(usec_t)> kind;
    int lose_each = 0; // delay on the server's side of the box; 0: none
    bool at_random = false;
    rng random = rng_seeded(3);
    usec_t packet_gap = 20 * MS;

    std::multimap<usec_t, std::pair<int64_t, record>> records; // at the viewer
    std::multimap<usec_t, mtp_ack> acks;
    std::map<int64_t, record> seen;  // slots received by the box; the proxy forwards and forgets
                                     // its own
    int64_t highest = -1, whole = 0; // `whole`: the first slot that the box has not seen
    uint32_t recent = 0;             // RFC 7323: the time of the last data that arrived in order
    box before = FREE;
    int sent = 0;
    uint16_t seq = 0;
    usec_t next_packet = 0;
    std::vector<usec_t> came; // RTP packets, at the viewer
    std::vector<told> steps_told;

    world(const char *params, usec_t delay_, std::function<box(usec_t)> kind_)
        : delay(delay_), kind(std::move(kind_))
    {
        mtp_options o;
        REQUIRE(mtp_options_parse(params, &o) == 0);
        REQUIRE(mtp_flow_init(this, &o, TOKEN, PACKET, 0) == 0);
        mtp_flow_adapt(this);
        mtp_receive_flow_init(&viewer, TOKEN);
    }
    ~world()
    {
        mtp_flow_destroy(this);
    }
    world(const world &) = delete;
    world &operator=(const world &) = delete;

    // Converts times as TCP carries them.
    static uint32_t in_ms(usec_t t)
    {
        return (uint32_t)(t - t % MS);
    }
    void follow(int64_t slot, const record &r, box b)
    {
        if (b != before) // the box knows nothing of earlier packets
            whole = highest + 1;
        before = b;
        highest = std::max(highest, slot);
        if (slot == whole)
            recent = in_ms(now);
        seen.emplace(slot, r);
    }
    void proxy(int64_t slot)
    {
        mtp_ack a = {};
        for (; seen.count(whole); whole++)
            records.emplace(now + delay, std::make_pair(whole, seen[whole]));
        a.cum = whole;
        a.window = 1000;
        a.has_echo = true;
        a.echo_us = recent;
        if (slot > whole)
            a.ranges[a.count++] = {slot, slot + 1};
        acks.emplace(now + delay, a);
    }
    void transmit(int64_t slot, const record &r)
    {
        box b = kind(now);
        bool lost = lose_each && (at_random ? rng_below(&random, (uint32_t)lose_each) == 0
                                            : ++sent % lose_each == 0);
        if (b == AWAY || lost)
            return;
        if (b == COMPARES && seen.count(slot) && seen[slot] != r)
            return;
        follow(slot, r, b);
        if (b == PROXY) {
            proxy(slot);
            return;
        }
        if (b == HOLDS_DATA && slot > whole) {
            seen.erase(slot);
            return;
        }
        while (seen.count(whole))
            whole++;
        records.emplace(now + delay, std::make_pair(slot, r));
    }
    void pull()
    {
        uint8_t bytes[MTP_RECORD_HEAD + PACKET];
        int64_t slot;
        while (size_t len = mtp_flow_pull(this, bytes, &slot, now))
            transmit(slot, {bytes, bytes + len});
        mtp_step s;
        if (mtp_flow_stepped(this, &s)) {
            CHECK(s.to == sender.mode);
            steps_told.push_back({(int)(now / S), s.to, s.reason});
        }
    }
    void arrive(const record &r)
    {
        const uint8_t *payload;
        size_t len;
        mtp_receive_flow_result got =
            mtp_receive_flow_record(&viewer, r.data(), r.size(), 0, &payload, &len, now);
        REQUIRE(got != MTP_RECEIVE_FLOW_NOTHING);
        if (got == MTP_RECEIVE_FLOW_RTP)
            came.push_back(now);
        acknowledge();
    }
    void acknowledge()
    {
        if (now < viewer.ack_at)
            return;
        mtp_ack a;
        mtp_receive_flow_ack(&viewer, &a);
        a.echo_us = in_ms(a.echo_us);
        box b = kind(now);
        bool over = (b == HOLDS_ACKS || b == COMPARES) && a.cum > whole;
        if (b != PROXY && b != AWAY && !over)
            acks.emplace(now + delay, a);
    }
    void tick()
    {
        for (; !records.empty() && records.begin()->first <= now; records.erase(records.begin()))
            arrive(records.begin()->second.second);
        acknowledge();
        for (; !acks.empty() && acks.begin()->first <= now; acks.erase(acks.begin())) {
            mtp_flow_ack(this, &acks.begin()->second, now);
            pull();
        }
        if (mtp_flow_next_timeout(this) <= now)
            mtp_flow_timeout(this, now);
        for (; now >= next_packet && mtp_flow_room(this, now); next_packet = now + packet_gap) {
            uint8_t rtp[PACKET] = {2 << 6};
            store_be16(rtp + 2, seq++);
            REQUIRE(mtp_flow_push(this, rtp, sizeof(rtp), now) == 0);
            pull();
        }
        pull();
    }
    void run(usec_t until)
    {
        for (; now < until; now += MS)
            tick();
    }
    usec_t longest_gap(usec_t from) const
    {
        usec_t most = 0, last = from;
        for (usec_t t : came) {
            if (t > from)
                most = std::max(most, t - last);
            last = std::max(last, t);
        }
        return std::max(most, now - last);
    }
};

box free_path(usec_t)
{
    return FREE;
}

} // namespace

TEST_CASE("mtp_mode_control: the probe selects the mode in which media then flows")
{
    const struct {
        const char *what;
        usec_t delay;
        box kind;
        usec_t away; // at first
        std::vector<told> steps;
        usec_t first; // latest time at which an RTP packet arrived at the viewer
    } table[] = {
        {"free", 20 * MS, FREE, 0, {{0, MTP_STRICT, MTP_REASON_PROBE_OVER}}, 65 * MS},
        {"drops what follows a hole",
         20 * MS,
         HOLDS_DATA,
         0,
         {{0, MTP_RESEND, MTP_REASON_PROBE_UP_TO}},
         180 * MS},
        {"drops acknowledgements over a hole",
         20 * MS,
         HOLDS_ACKS,
         0,
         {{0, MTP_FILL_HOLES, MTP_REASON_PROBE_BEYOND}},
         140 * MS},
        {"terminates", 20 * MS, PROXY, 0, {{0, MTP_FILL_HOLES, MTP_REASON_PROBE_BEYOND}}, 140 * MS},
        {"600 ms",
         300 * MS,
         FREE,
         0,
         {{0, MTP_RESEND, MTP_REASON_PROBE_NOTHING}, {0, MTP_STRICT, MTP_REASON_LATE}},
         1300 * MS},
        {"away for 2 s",
         20 * MS,
         FREE,
         2 * S,
         {{0, MTP_RESEND, MTP_REASON_PROBE_NOTHING}, {3, MTP_STRICT, MTP_REASON_OUTAGE}},
         4 * S},
    };
    for (const auto &r : table) {
        INFO(r.what);
        world w("", r.delay, [&](usec_t now) { return now < r.away ? AWAY : r.kind; });
        w.lose_each = r.away ? 0 : 50;
        w.run(20 * S);
        CHECK(w.steps_told == r.steps);
        REQUIRE_FALSE(w.came.empty());
        CHECK(w.came.front() <= r.first);
        CHECK(w.longest_gap(5 * S) < S);
        CHECK(w.whole >= MTP_PROBE_SLOTS); // the box saw the skipped slot
    }
}

TEST_CASE("mtp_mode_control: a named mode is not probed, and is the highest mode used")
{
    for (const char *name : {"strict", "fill", "resend"}) {
        INFO(name);
        world w(name, 20 * MS, free_path);
        w.run(60 * S);
        CHECK(w.steps_told.empty());
        CHECK(w.sender.counts.empties == 0);
    }
    world w("fill", 20 * MS,
            [](usec_t now) { return now > 5 * S && now < 7 * S ? COMPARES : FREE; });
    w.lose_each = 20;
    w.run(120 * S);
    for (const told &s : w.steps_told)
        CHECK(s.mode >= MTP_FILL_HOLES);
}

TEST_CASE("mtp_mode_control: losses, also of replacements, are not taken for a middlebox")
{
    world w("", 20 * MS, free_path);
    w.lose_each = 50;
    w.at_random = true;
    w.run(600 * S);
    CHECK(w.sender.counts.timeouts > 0);
    CHECK(w.steps_told == std::vector<told>{{0, MTP_STRICT, MTP_REASON_PROBE_OVER}});
}

TEST_CASE("mtp_mode_control: an outage of the whole path is not taken for a middlebox")
{
    for (int seconds : {2, 5, 9}) {
        INFO(seconds << " s");
        world w("", 20 * MS, [&](usec_t now) {
            return now >= 10 * S && now < (10 + seconds) * S ? AWAY : FREE;
        });
        w.lose_each = 50;
        w.run(60 * S);
        REQUIRE(w.steps_told.size() >= 3);
        CHECK(w.steps_told[1] == told{11, MTP_FILL_HOLES, MTP_REASON_STUCK});
        CHECK(w.steps_told.back().mode == MTP_STRICT);
        CHECK(w.steps_told.back().reason == MTP_REASON_OUTAGE);
        CHECK(w.steps_told.back().second < 10 + 2 * seconds + 1);
        CHECK(w.longest_gap(30 * S) < S);
    }
}

TEST_CASE("mtp_mode_control: a middlebox that appears and disappears during the stream")
{
    for (box b : {HOLDS_DATA, HOLDS_ACKS, PROXY}) {
        INFO("box " << b);
        world w("", 20 * MS, [&](usec_t now) { return now >= 10 * S && now < 80 * S ? b : FREE; });
        w.lose_each = 50;
        w.run(200 * S);
        std::vector<std::pair<mtp_mode, mtp_reason>> what;
        for (const told &s : w.steps_told)
            what.emplace_back(s.mode, s.reason);
        // The try after 30 s fails; the next one, after 60 s, succeeds.
        CHECK(what ==
              std::vector<std::pair<mtp_mode, mtp_reason>>{{MTP_STRICT, MTP_REASON_PROBE_OVER},
                                                           {MTP_FILL_HOLES, MTP_REASON_STUCK},
                                                           {MTP_STRICT, MTP_REASON_RETRY},
                                                           {MTP_FILL_HOLES, MTP_REASON_STUCK},
                                                           {MTP_STRICT, MTP_REASON_RETRY}});
        CHECK(w.longest_gap(0) < 2 * S);
    }
}

TEST_CASE("mtp_mode_control: failed tries become rarer")
{
    world w("", 20 * MS, [](usec_t) { return PROXY; });
    w.lose_each = 50;
    w.run((SANITIZED ? 300 : 2000) * S);
    std::vector<int> tries;
    int down = 0;
    for (const told &s : w.steps_told) {
        if (s.reason == MTP_REASON_RETRY)
            tries.push_back(s.second - down);
        else
            down = s.second;
    }
    REQUIRE(tries.size() == (SANITIZED ? 3 : 7));
    const int waits[] = {30, 60, 120, 240, 480, 480, 480};
    for (size_t i = 0; i < tries.size(); i++)
        CHECK(std::abs(tries[i] - waits[i]) <= 2);
}

TEST_CASE("mtp_mode_control: if only retransmitted data passes, the mode is resend")
{
    world w("", 20 * MS, [](usec_t now) { return now < 10 * S ? FREE : COMPARES; });
    w.lose_each = 50;
    w.run(39 * S);
    CHECK(w.sender.mode != MTP_STRICT);
    CHECK(w.longest_gap(0) < 8 * S);
}

TEST_CASE("mtp_mode_control: each reason has a text")
{
    for (int i = 0; i < MTP_REASONS; i++)
        for (int k = 0; k < i; k++)
            CHECK(std::string(mtp_reason_text((mtp_reason)i)) != mtp_reason_text((mtp_reason)k));
}
