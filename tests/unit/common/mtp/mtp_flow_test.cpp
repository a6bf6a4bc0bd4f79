// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_flow.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/mtp/mtp_receive_flow.h"

namespace
{

const uint64_t TOKEN = 0xfeedfacecafebeef;
const uint16_t PACKET = 100;

using record = std::vector<uint8_t>;

struct flow : mtp_flow {
    explicit flow(const char *params)
    {
        mtp_options o;
        REQUIRE(mtp_options_parse(params, &o) == 0);
        REQUIRE(mtp_flow_init(this, &o, TOKEN, PACKET, 0) == 0);
    }
    ~flow()
    {
        mtp_flow_destroy(this);
    }
    flow(const flow &) = delete;
    flow &operator=(const flow &) = delete;

    // Makes an RTP packet with the fields that MTP reads: sequence number and timestamp.
    int push(uint16_t seq, uint32_t timestamp, usec_t now)
    {
        uint8_t rtp[PACKET] = {2 << 6};
        store_be16(rtp + 2, seq);
        store_be32(rtp + 4, timestamp);
        return mtp_flow_push(this, rtp, sizeof(rtp), now);
    }
    std::vector<record> pull(usec_t now)
    {
        std::vector<record> out;
        uint8_t bytes[MTP_RECORD_HEAD + PACKET];
        int64_t slot;
        while (size_t len = mtp_flow_pull(this, bytes, &slot, now))
            out.emplace_back(bytes, bytes + len);
        return out;
    }
};

struct sink : mtp_receive_flow {
    std::vector<int> came; // RTP sequence numbers

    sink()
    {
        mtp_receive_flow_init(this, TOKEN);
    }
    mtp_receive_flow_result take(const record &r)
    {
        const uint8_t *payload;
        size_t len;
        mtp_receive_flow_result got =
            mtp_receive_flow_record(this, r.data(), r.size(), 0, &payload, &len, 0);
        if (got == MTP_RECEIVE_FLOW_RTP) {
            REQUIRE(len == PACKET);
            came.push_back(load_be16(payload + 2));
        }
        return got;
    }
    mtp_ack ack() const
    {
        mtp_ack a;
        mtp_receiver_ack(&receiver, &a);
        return a;
    }
};

} // namespace

TEST_CASE("mtp_flow: parameters")
{
    struct row {
        const char *text;
        int err;
        mtp_mode mode;
        bool drops;
        size_t bytes;
        usec_t wait;
        int a, b;
        bool frames;
    };
    const row table[] = {
        {"", 0, MTP_STRICT, false, 0, 0, 1, 3, false},
        {"strict", 0, MTP_STRICT, false, 0, 0, 1, 3, false},
        {"fill,2,0", 0, MTP_FILL_HOLES, false, 0, 0, 2, 0, false},
        {"1,0,resend", 0, MTP_RESEND, false, 0, 0, 1, 0, false},
        {"queue=65536", 0, MTP_STRICT, true, 65536, 0, 1, 3, false},
        {"resend,queue=200ms,frames", 0, MTP_RESEND, true, 1 << 24, 200000, 1, 3, true},
        {"lazy", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {",", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"fill,", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"fill,strict", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"1", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"1,2,3", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"1,2,1,2", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"frames", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"queue=", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"queue=5s", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
        {"0,3", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"65,3", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"1,10001", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"queue=1999", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"queue=16777217", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"queue=0ms", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"queue=10001ms", ERR_RANGE, {}, {}, {}, {}, {}, {}, {}},
        {"queue=99999999999999999999", ERR_MALFORMED, {}, {}, {}, {}, {}, {}, {}},
    };
    for (const row &r : table) {
        INFO(r.text);
        mtp_options o;
        REQUIRE(mtp_options_parse(r.text, &o) == r.err);
        if (r.err)
            continue;
        CHECK(o.mode == r.mode);
        CHECK(o.drops == r.drops);
        CHECK(o.queue.block == !r.drops);
        CHECK(o.queue.dynamic == !r.drops);
        CHECK(o.queue.bytes == r.bytes);
        CHECK(o.queue.wait == r.wait);
        CHECK(o.queue.minbuf.a == r.a);
        CHECK(o.queue.minbuf.b == r.b);
        CHECK(o.queue.whole_frames == r.frames);
    }
}

TEST_CASE("mtp_flow: either mode of transmission has a queue of fixed or of dynamic length (II-D)")
{
    struct row {
        const char *text;
        int err;
        bool block, dynamic;
        int accepted, dropped; // of 60 packets of 100 bytes that are written at once
    };
    // cwnd is 10 (RFC 6928), so MIN_BUF(1,3) allows 10 + 3 packets, all of which wait here.
    const row table[] = {
        {"queue=2000", 0, false, false, 60, 40},
        {"queue=2000,block", 0, true, false, 20, 0},
        {"block,queue=2000", 0, true, false, 20, 0},
        {"1,3", 0, true, true, 13, 0},
        {"1,3,noiw10", 0, true, true, 7, 0},
        {"queue=2000,1,3", 0, false, true, 60, 47},
        {"1,3,queue=2000", 0, false, true, 60, 47},
        {"1,3,queue=2000,block", 0, true, true, 13, 0},
        {"1,3,queue=2000,frames", 0, false, true, 60, 47},
        {"queue=200ms,block", 0, true, false, 60, 0},
        {"block", ERR_MALFORMED, {}, {}, {}, {}},
        {"1,3,block", ERR_MALFORMED, {}, {}, {}, {}},
        {"queue=2000,block,block", ERR_MALFORMED, {}, {}, {}, {}},
        {"queue=2000,block,frames", ERR_MALFORMED, {}, {}, {}, {}},
        {"1,3,frames", ERR_MALFORMED, {}, {}, {}, {}},
    };
    for (const row &r : table) {
        INFO(r.text);
        mtp_options o;
        REQUIRE(mtp_options_parse(r.text, &o) == r.err);
        if (r.err)
            continue;
        CHECK(o.queue.block == r.block);
        CHECK(o.queue.dynamic == r.dynamic);
        flow f(r.text);
        int accepted = 0;
        for (uint16_t seq = 0; seq < 60 && mtp_flow_room(&f, 0); seq++)
            accepted += f.push(seq, seq, 0) == 0;
        CHECK(accepted == r.accepted);
        CHECK((int)mtp_sender_info(&f.sender).dropped == r.dropped);
    }
}

TEST_CASE("mtp_flow: words switch off what the paper's Reno lacks, one by one")
{
    struct row {
        const char *text;
        int err;
        bool newreno, rack, abc, cwv;
        usec_t rto_max;
        int cwnd;
        bool bytes = false;
    };
    const usec_t LIVE = 2 * USEC_PER_SEC, RFC = 60 * USEC_PER_SEC;
    const row table[] = {
        {"", 0, true, true, true, true, LIVE, 10, true},
        {"nonewreno", 0, false, true, true, true, LIVE, 10, true},
        {"norack", 0, true, false, true, true, LIVE, 10, true},
        {"noabc", 0, true, true, false, true, LIVE, 10}, // bytes are counted as slots are
        {"nocwv", 0, true, true, true, false, LIVE, 10, true},
        {"nortomax", 0, true, true, true, true, RFC, 10, true},
        {"nobytes", 0, true, true, true, true, LIVE, 10},
        {"noabc,norack", 0, true, false, false, true, LIVE, 10},
        {"noiw10", 0, true, true, true, true, LIVE, 4, true},
        {"nonewreno,norack,noabc,nocwv,nortomax,noiw10,nobytes", 0, false, false, false, false, RFC,
         4},
        {"paper", 0, false, false, false, false, RFC, 4},
        {"fill,paper,1,3", 0, false, false, false, false, RFC, 4},
        {"paper,queue=65536", 0, false, false, false, false, RFC, 4},
        {"paper,norack", 0, false, false, false, false, RFC, 4},
        {"paper,paper", ERR_MALFORMED, {}, {}, {}, {}, {}, {}},
        {"paper,noecn", 0, false, false, false, false, RFC, 4},
        {"norack,norack", ERR_MALFORMED, {}, {}, {}, {}, {}, {}},
        {"nora", ERR_MALFORMED, {}, {}, {}, {}, {}, {}},
        {"norackets", ERR_MALFORMED, {}, {}, {}, {}, {}, {}},
    };
    for (const row &r : table) {
        INFO(r.text);
        mtp_options o;
        REQUIRE(mtp_options_parse(r.text, &o) == r.err);
        if (r.err)
            continue;
        flow f(r.text);
        const mtp_sender_config &c = f.sender.config;
        CHECK(c.newreno == r.newreno);
        CHECK(c.once_a_window == !r.newreno); // ns-2's Reno
        CHECK(c.rack == r.rack);
        CHECK(c.counts_slots == r.abc);
        CHECK(c.counts_bytes == r.bytes);
        CHECK(c.keeps_window == r.cwv);
        CHECK(f.sender.rto.max == r.rto_max);
        CHECK(f.sender.cwnd == r.cwnd);
        CHECK(f.sender.rto.min == 200 * USEC_PER_MSEC);
        CHECK(f.sender.rto.slack == (r.rto_max == LIVE ? 200 * USEC_PER_MSEC : 0)); // as Linux
    }
}

TEST_CASE(
    "mtp_flow: packets are ECN-capable if the viewer echoes marks and the parameters allow it")
{
    struct row {
        const char *text;
        bool echoes, ect;
    };
    for (const row &r : {row{"", false, false}, row{"", true, true}, row{"noecn", true, false},
                         row{"paper", true, true}, row{"paper,noecn", true, false}}) {
        INFO(r.text << " " << r.echoes);
        flow f(r.text);
        if (r.echoes)
            CHECK(mtp_flow_use_ecn(&f) == r.ect);
        REQUIRE(f.push(1, 1, 0) == 0);
        REQUIRE(f.pull(0).size() == 1);
        CHECK(f.sender.config.ecn == r.ect);
        CHECK(mtp_flow_room(&f, 0));
    }
}

TEST_CASE("mtp_flow: MIN_BUF keeps the queue short, and a loss delays no packet")
{
    flow f("1,3,noiw10"); // cwnd 4: 4 under way and min(3, 4) waiting
    sink s;
    uint16_t seq = 0;
    for (; mtp_flow_room(&f, 0); seq++)
        REQUIRE(f.push(seq, seq, 0) == 0);
    CHECK(seq == 7);
    CHECK(f.push(seq, seq, 0) == ERR_AGAIN);
    auto out = f.pull(0);
    REQUIRE(out.size() == 4);
    CHECK(out[0].size() == MTP_RECORD_HEAD + PACKET);
    // The first is lost: the others arrive all the same.
    for (size_t i = 1; i < out.size(); i++)
        CHECK(s.take(out[i]) == MTP_RECEIVE_FLOW_RTP);
    CHECK(s.came == std::vector<int>{1, 2, 3});
    CHECK(s.ack().cum == 0);
    CHECK(s.ack().ranges[0].begin == 1);
    CHECK(s.ack().ranges[0].end == 4);
    // The late packet is delivered; its copy is not.
    CHECK(s.take(out[0]) == MTP_RECEIVE_FLOW_RTP);
    CHECK(s.take(out[0]) == MTP_RECEIVE_FLOW_TAKEN);
    CHECK(s.ack().cum == 4);
    mtp_ack a = s.ack();
    mtp_flow_ack(&f, &a, 50000);
    CHECK(mtp_flow_room(&f, 50000));
    CHECK(f.sender.rto.srtt == 50000);
}

TEST_CASE("mtp_flow: queue= accepts all packets and drops the oldest")
{
    flow f("queue=2000,noiw10"); // 20 packets
    for (uint16_t seq = 0; seq < 60; seq++) {
        REQUIRE(mtp_flow_room(&f, 0));
        REQUIRE(f.push(seq, seq, 0) == 0);
    }
    CHECK(mtp_sender_info(&f.sender).queued == 20);
    CHECK(mtp_sender_info(&f.sender).dropped == 40);
    auto out = f.pull(0);
    REQUIRE(out.size() == 4);
    sink s;
    s.take(out[0]);
    CHECK(s.came == std::vector<int>{40});

    flow whole("queue=2000,frames"); // frames of 3 packets: the front goes with its frame
    for (uint16_t seq = 0; seq < 21; seq++)
        REQUIRE(whole.push(seq, seq / 3u * 3000, 0) == 0);
    CHECK(mtp_sender_info(&whole.sender).dropped == 3);
}

TEST_CASE("mtp_flow: by default a packet is accepted only when it can leave")
{
    flow f("noiw10");
    sink s;
    uint16_t seq = 0;
    std::vector<record> sent;
    auto drain = [&](usec_t now) {
        size_t before = sent.size();
        while (mtp_flow_room(&f, now)) {
            REQUIRE(f.push(seq, seq, now) == 0);
            seq++;
            CHECK_FALSE(mtp_flow_room(&f, now));
            for (record &r : f.pull(now))
                sent.push_back(r);
        }
        return sent.size() - before;
    };
    CHECK(drain(0) == 4);
    CHECK(mtp_sender_info(&f.sender).queued == 0);
    // The first is lost: two dup ACKs let a packet out each, the third a replacement.
    for (size_t i = 1; i < 4; i++) {
        s.take(sent[i]);
        mtp_ack a = s.ack();
        mtp_flow_ack(&f, &a, 50000);
        CHECK(drain(50000) == 1);
    }
    CHECK(sent.back()[1] == MTP_R);
    CHECK(sent.back().size() == MTP_RECORD_HEAD + PACKET);
    CHECK(f.sender.counts.empties == 0);

    // A packet retransmitted in `resend` does not count as new.
    flow again("resend");
    for (; mtp_flow_room(&again, 0); again.pull(0))
        REQUIRE(again.push(1, 1, 0) == 0);
    mtp_flow_timeout(&again, mtp_flow_next_timeout(&again));
    CHECK_FALSE(mtp_flow_room(&again, 2 * USEC_PER_SEC));
    CHECK(again.pull(2 * USEC_PER_SEC).size() == 1);
}

TEST_CASE("mtp_flow: an acknowledgement requires the token")
{
    flow f("");
    sink s;
    f.push(1, 1, 0);
    record r = f.pull(0).at(0);
    rng random = rng_seeded(5);
    for (int i = 0; i < 1000; i++) {
        record forged = r;
        store_be64(forged.data() + MTP_HEADER_BYTES, rng_u64(&random));
        REQUIRE(s.take(forged) == MTP_RECEIVE_FLOW_NOTHING);
    }
    CHECK(s.wrong_tokens == 1000);
    CHECK(s.take({1, 2, 3}) == MTP_RECEIVE_FLOW_NOTHING);
    CHECK(s.malformed == 1);
    CHECK(s.ack().cum == 0);
    CHECK(s.take(r) == MTP_RECEIVE_FLOW_RTP);
}

TEST_CASE("mtp_flow: silence is reported while packets are outstanding")
{
    flow f("");
    sink s;
    CHECK(mtp_flow_unheard(&f, 5 * USEC_PER_SEC) == 0);
    f.push(1, 1, 6 * USEC_PER_SEC);
    record r = f.pull(6 * USEC_PER_SEC).at(0);
    CHECK(mtp_flow_unheard(&f, 7 * USEC_PER_SEC) == USEC_PER_SEC);
    mtp_ack nothing = s.ack(); // alive, but nothing arrived
    mtp_flow_ack(&f, &nothing, 8 * USEC_PER_SEC);
    CHECK(mtp_flow_unheard(&f, 8 * USEC_PER_SEC) == 2 * USEC_PER_SEC);
    s.take(r);
    mtp_ack a = s.ack();
    mtp_flow_ack(&f, &a, 9 * USEC_PER_SEC);
    CHECK(mtp_flow_unheard(&f, 20 * USEC_PER_SEC) == 0);
}

TEST_CASE("mtp_flow: three recoveries without progress step the mode down, at most twice")
{
    for (bool adapts : {true, false}) {
        INFO(adapts);
        flow f("strict");
        if (adapts)
            mtp_flow_adapt(&f);
        std::vector<mtp_mode> modes;
        usec_t now = 0;
        mtp_step step;
        f.push(0, 0, now);
        REQUIRE(f.pull(now).size() == 1);
        CHECK_FALSE(mtp_flow_stepped(&f, &step));
        for (int timeouts = 1; timeouts <= 7; timeouts++) {
            now = mtp_flow_next_timeout(&f);
            mtp_flow_timeout(&f, now);
            bool stepped = mtp_flow_stepped(&f, &step);
            CHECK(stepped == (adapts && (timeouts == 3 || timeouts == 6)));
            if (stepped) {
                CHECK(step.to == step.from + 1);
                CHECK(step.reason == MTP_REASON_STUCK);
            }
            CHECK_FALSE(mtp_flow_stepped(&f, &step));
            f.pull(now);
            modes.push_back(f.sender.mode);
        }
        if (adapts)
            CHECK(modes == std::vector<mtp_mode>{MTP_STRICT, MTP_STRICT, MTP_FILL_HOLES,
                                                 MTP_FILL_HOLES, MTP_FILL_HOLES, MTP_RESEND,
                                                 MTP_RESEND});
        else
            CHECK(modes == std::vector<mtp_mode>(7, MTP_STRICT));
    }
    CHECK(mtp_mode_name(MTP_FILL_HOLES) == std::string("fill"));
}

TEST_CASE("mtp_flow: no packet but the probe leaves before the probe's result")
{
    for (const char *params : {"", "1,3", "queue=20000"}) {
        INFO(params);
        flow f(params);
        sink s;
        mtp_flow_adapt(&f);
        uint16_t seq = 0;
        auto fill = [&](usec_t now) {
            for (; seq < 8 && mtp_flow_room(&f, now); seq++)
                REQUIRE(f.push(seq, seq, now) == 0);
        };
        fill(0);
        auto probe = f.pull(0);
        REQUIRE(probe.size() == 5);
        fill(1000);
        CHECK(f.pull(1000).empty());
        CHECK(mtp_flow_unheard(&f, 1000) == 0);
        for (const record &r : probe) {
            CHECK(r.size() == MTP_RECORD_HEAD);
            CHECK(s.take(r) == MTP_RECEIVE_FLOW_TAKEN);
            mtp_ack a = s.ack();
            mtp_flow_ack(&f, &a, 50000);
        }
        CHECK(f.sender.rto.srtt == 50000);
        mtp_step step;
        REQUIRE(mtp_flow_stepped(&f, &step));
        CHECK(step.reason == MTP_REASON_PROBE_OVER);
        fill(50000);
        auto media = f.pull(50000);
        REQUIRE(media.size() >= 2);
        CHECK(media[0].size() == MTP_RECORD_HEAD); // the slot that was left out
        CHECK(load_be32(media[0].data() + 8) == 1);
        CHECK(load_be32(media[1].data() + 8) == 5);
        CHECK(s.take(media[0]) == MTP_RECEIVE_FLOW_TAKEN);
        CHECK(s.take(media[1]) == MTP_RECEIVE_FLOW_RTP);
        CHECK(s.ack().cum == 6);
        CHECK(f.sender.counts.lost == 0);
    }
    // No acknowledgement passes the hole: waiting packets fill the skipped slot and the slots after
    // it.
    flow filling("queue=20000,noiw10");
    mtp_flow_adapt(&filling);
    for (uint16_t seq = 0; seq < 8; seq++)
        filling.push(seq, seq, 0);
    filling.pull(0);
    mtp_ack up_to = {};
    up_to.cum = 1;
    up_to.window = 1000;
    up_to.has_echo = true;
    up_to.count = 1;
    up_to.ranges[0] = {2, 5};
    mtp_flow_ack(&filling, &up_to, 40000);
    usec_t known = 40000 + 20000 + 50000;
    CHECK(mtp_flow_next_timeout(&filling) == known);
    mtp_flow_timeout(&filling, known - 1);
    CHECK(filling.pull(known - 1).empty());
    mtp_flow_timeout(&filling, known);
    CHECK(filling.sender.mode == MTP_FILL_HOLES);
    CHECK(filling.sender.rto.srtt == 40000);
    auto out = filling.pull(known);
    REQUIRE(out.size() == 4);
    CHECK(load_be32(out[0].data() + 8) == 1);
    CHECK(out[0][1] == MTP_FILL);
    CHECK(out[0].size() == MTP_RECORD_HEAD + PACKET);
    CHECK(load_be32(out[1].data() + 8) == 5);

    flow small("");
    mtp_flow_adapt(&small);
    mtp_flow_set_window(&small, 4);
    small.pull(0);
    CHECK(mtp_flow_room(&small, 0));
}

TEST_CASE("mtp_flow: no packet exceeds the receiver's actual window")
{
    flow f("queue=20000");
    mtp_flow_set_window(&f, 2); // fewer than the first cwnd of 4
    for (uint16_t i = 0; i < 8; i++)
        REQUIRE(f.push(i, i, 0) == 0);
    CHECK(f.pull(0).size() == 2);
}

// A path of 20 ms each way that loses one record in ten and one ACK in ten.
TEST_CASE("mtp_flow: over a lossy path every packet that is not lost arrives once, in each mode")
{
    for (const char *mode : {"strict", "fill", "resend"}) {
        INFO(mode);
        flow f(mode);
        sink s;
        rng random = rng_seeded(11);
        std::multimap<usec_t, record> records;
        std::multimap<usec_t, mtp_ack> acks;
        uint16_t seq = 0;
        size_t sent = 0, lost = 0;
        for (usec_t now = 0; now < 20 * USEC_PER_SEC; now += 1000) {
            if (mtp_flow_next_timeout(&f) <= now)
                mtp_flow_timeout(&f, now);
            std::vector<record> out;
            auto pull = [&] {
                for (record &r : f.pull(now))
                    out.push_back(r);
            };
            for (; seq < 5000 && mtp_flow_room(&f, now); seq++) {
                REQUIRE(f.push(seq, seq, now) == 0);
                pull();
            }
            pull();
            for (const record &r : out) {
                bool gone = rng_below(&random, 10) == 0;
                sent++;
                lost += gone;
                if (!gone)
                    records.emplace(now + 20000, r);
            }
            while (!records.empty() && records.begin()->first <= now) {
                REQUIRE(s.take(records.begin()->second) != MTP_RECEIVE_FLOW_NOTHING);
                records.erase(records.begin());
                if (rng_below(&random, 10) != 0)
                    acks.emplace(now + 20000, s.ack());
            }
            while (!acks.empty() && acks.begin()->first <= now) {
                mtp_flow_ack(&f, &acks.begin()->second, now);
                acks.erase(acks.begin());
            }
        }
        CHECK(s.came.size() > 300);
        CHECK(lost > 0);
        std::vector<int> sorted = s.came;
        std::sort(sorted.begin(), sorted.end());
        CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
        CHECK(s.came.size() + lost <= sent);
        CHECK(s.wrong_tokens + s.malformed == 0);
        CHECK(f.sender.counts.lies == 0);
    }
}
