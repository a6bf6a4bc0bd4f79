// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/rtcp_exchange.h"

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

namespace
{

struct viewer {
    rtcp_exchange x;
    rtp_receiver rtp;
    std::unique_ptr<repair_receiver, void (*)(repair_receiver *)> repair;

    explicit viewer(bool nack = true, bool pli = true, bool limit = true)
        : repair(new_repair(), repair_receiver_free)
    {
        rtcp_exchange_init(&x, 77, nack, pli, limit);
        rtp_receiver_init(&rtp);
    }
    static repair_receiver *new_repair()
    {
        repair_receiver_config c{};
        c.requests = c.repeats = true;
        return repair_receiver_new(&c);
    }
    bool receive(uint16_t seq)
    {
        rtp_packet p = {};
        p.seq = seq;
        p.ssrc = 9;
        int64_t ext = 0;
        rtp_receiver_packet(&rtp, &p, 0, &ext, 0);
        repair_receiver_packet(repair.get(), &p, nullptr, 0, ext, false, 0);
        return rtcp_exchange_requests(&x, repair.get(), 0);
    }
    rtcp_received read(const std::vector<rtcp_item> &items, size_t cut = 0, usec_t arrived = 0)
    {
        uint8_t out[RTCP_MAX_PACKET];
        size_t len = 0;
        for (const rtcp_item &item : items)
            REQUIRE(rtcp_append(&item, out, sizeof(out), &len) == 0);
        return rtcp_exchange_compound(&x, &rtp, out, len - cut, arrived);
    }
    std::vector<rtcp_item> due() // but for RR and SDES
    {
        uint8_t out[RTCP_MAX_PACKET];
        size_t at = 0, len = rtcp_feedback_compound(&x.feedback, &rtp, out, sizeof(out), 0);
        std::vector<rtcp_item> items;
        rtcp_item item;
        while (rtcp_next(out, len, &at, &item) == 1)
            if (item.kind != RTCP_IS_RR && item.kind != RTCP_IS_SDES)
                items.push_back(item);
        return items;
    }
};

rtcp_item item(rtcp_kind kind, uint32_t ssrc, uint64_t ntp = 0, uint32_t timestamp = 0)
{
    rtcp_item i = {};
    i.kind = kind;
    i.ssrc = ssrc;
    i.sender.ntp = ntp;
    i.sender.rtp_timestamp = timestamp;
    return i;
}

} // namespace

TEST_CASE("rtcp exchange: the contents of a compound")
{
    const uint32_t own = 9, audio = 10;
    const struct {
        bool started;
        std::vector<rtcp_item> items;
        bool has_report, bye;
    } table[] = {
        {true, {item(RTCP_IS_SR, own, 5, 6)}, true, false},
        {true, {item(RTCP_IS_SR, audio, 5, 6)}, false, false},
        {false, {item(RTCP_IS_SR, audio, 5, 6)}, true, false}, // which source is not known yet
        {true, {item(RTCP_IS_SR, own, 5, 6), item(RTCP_IS_BYE, own)}, true, true},
        {true, {item(RTCP_IS_RR, audio), item(RTCP_IS_BYE, audio)}, false, false},
        {true, {item(RTCP_IS_RR, own), item(RTCP_IS_BYE, own)}, false, true},
        // The sources of one host end together; the order of their BYEs does not matter.
        {true, {item(RTCP_IS_BYE, own), item(RTCP_IS_BYE, audio)}, false, true},
        {true, {item(RTCP_IS_BYE, audio), item(RTCP_IS_BYE, own)}, false, true},
    };
    for (const auto &row : table) {
        INFO(row.started << " " << row.items.size() << " " << row.items[0].ssrc);
        viewer v;
        if (row.started)
            v.receive(1);
        rtcp_received got = v.read(row.items);
        CHECK(got.has_report == row.has_report);
        CHECK(got.bye == row.bye);
        if (row.has_report)
            CHECK((got.ntp == 5 && got.timestamp == 6));
        CHECK(v.x.malformed == 0);
    }
}

TEST_CASE("rtcp exchange: the next report refers to the sender's last")
{
    viewer v;
    v.receive(1);
    v.read({item(RTCP_IS_SR, 9, 0x0000111122223333, 6)}, 0, 3 * USEC_PER_SEC);
    rtcp_report block;
    rtp_receiver_report(&v.rtp, &block, 4 * USEC_PER_SEC);
    CHECK(block.lsr == 0x11112222);
    CHECK(block.dlsr == 65536);
}

TEST_CASE("rtcp exchange: items before a malformed one count")
{
    viewer v;
    v.receive(1);
    rtcp_received got = v.read({item(RTCP_IS_SR, 9, 5, 6), item(RTCP_IS_BYE, 9)}, 4);
    CHECK(got.has_report);
    CHECK_FALSE(got.bye);
    CHECK(v.x.malformed == 1);
}

TEST_CASE("rtcp exchange: NACK is due when a packet is missed, to a sender that accepts it")
{
    for (bool takes : {true, false}) {
        INFO(takes);
        viewer v(takes, true);
        CHECK_FALSE(v.receive(1));
        CHECK(v.receive(3) == takes);
        std::vector<rtcp_item> due = v.due();
        REQUIRE(due.size() == (takes ? 1 : 0));
        if (takes)
            CHECK((due[0].kind == RTCP_IS_NACK && due[0].nacks[0].pid == 2));
        CHECK_FALSE(v.receive(4));
        CHECK(v.due().empty());
    }
}

TEST_CASE("rtcp exchange: PLI only to a sender that accepts it")
{
    for (bool takes : {true, false}) {
        INFO(takes);
        viewer v(true, takes);
        v.receive(1);
        CHECK(rtcp_exchange_need_key(&v.x) == takes);
        std::vector<rtcp_item> due = v.due();
        REQUIRE(due.size() == (takes ? 1 : 0));
        if (takes)
            CHECK(due[0].kind == RTCP_IS_PLI);
        CHECK(v.due().empty());
    }
}

TEST_CASE("rtcp_exchange: a max rate is requested each second until the sender confirms it")
{
    viewer v;
    v.receive(1);
    struct {
        uint64_t bps, least;
        uint32_t from;
        bool confirms;
    } const table[] = {
        {512000, 512000, 9, true},
        {256000, 256000, 8, false}, // of another source
        {0, 2147483648, 9, true},
    };
    for (const auto &row : table) {
        CHECK(rtcp_exchange_limit(&v.x, row.bps));
        for (int second = 0; second < 3; second++) {
            auto items = v.due();
            REQUIRE(items.size() == 1);
            CHECK(items[0].kind == RTCP_IS_TMMBR);
            CHECK(items[0].media_ssrc == 9);
            CHECK(items[0].max_rate.bps >= row.least);
            CHECK(v.due().empty());
            rtcp_exchange_second(&v.x);
        }
        v.due();
        v.read({item(RTCP_IS_TMMBN, row.from)});
        rtcp_exchange_second(&v.x);
        CHECK(v.due().empty() == row.confirms);
    }
    viewer old(true, true, false);
    CHECK_FALSE(rtcp_exchange_limit(&old.x, 512000));
    rtcp_exchange_second(&old.x);
    CHECK(old.due().empty());
}
