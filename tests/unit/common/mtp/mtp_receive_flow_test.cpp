// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/mtp/mtp_receive_flow.h"

#include <catch2/catch.hpp>

#include <vector>

namespace
{

const uint64_t TOKEN = 0xfeedfacecafebeef;
const usec_t MS = USEC_PER_MSEC;

struct sink : mtp_receive_flow {
    uint32_t number = 0;

    sink()
    {
        mtp_receive_flow_init(this, TOKEN);
    }
    // Returns when the acknowledgement is due after a packet for the slot.
    usec_t take(uint32_t slot, unsigned flags, usec_t now)
    {
        uint8_t payload[1] = {0}, bytes[MTP_RECORD_HEAD + 1];
        mtp_header h = {(uint8_t)flags, sizeof(payload), number++, slot, 0};
        size_t len = mtp_record_encode(&h, TOKEN, payload, bytes), payload_len;
        const uint8_t *out;
        REQUIRE(mtp_receive_flow_record(this, bytes, len, 0, &out, &payload_len, now) ==
                MTP_RECEIVE_FLOW_RTP);
        return ack_at;
    }
    int64_t acknowledge()
    {
        mtp_ack a;
        mtp_receive_flow_ack(this, &a);
        CHECK(ack_at == USEC_NEVER);
        return a.cum;
    }
};

} // namespace

TEST_CASE("mtp_receive_flow: every second packet is acknowledged at once, a single one after 40 ms")
{
    sink s;
    CHECK(s.ack_at == USEC_NEVER);
    CHECK(s.take(0, 0, 100 * MS) == 140 * MS);
    CHECK(s.take(1, 0, 101 * MS) == 101 * MS);
    CHECK(s.acknowledge() == 2);
    CHECK(s.take(2, 0, 102 * MS) == 142 * MS);
    CHECK(s.acknowledge() == 3); // late, by the timer
    CHECK(s.take(3, 0, 150 * MS) == 190 * MS);
    s.delayed_ack = 0; // of a simulated host that acknowledges each packet
    CHECK(s.acknowledge() == 4);
    CHECK(s.take(4, 0, 151 * MS) == 151 * MS);
}

TEST_CASE("mtp_receive_flow: a hole, a replacement and a late packet are acknowledged at once")
{
    struct {
        uint32_t slot;
        unsigned flags;
        int64_t cum;
        bool waits;
    } const rows[] = {
        {0, 0, 1, true},                                             // in order
        {2, 0, 1, false},                                            // beyond a hole
        {3, 0, 1, false},                                            // the hole is still there
        {4, MTP_R, 5, false},                                        // marks it
        {5, 0, 6, true},         {1, 0, 6, false},                   // late after all
        {6, MTP_FILL, 7, false}, {8, 0, 7, false}, {7, 0, 9, false}, // closes the hole
        {9, 0, 10, true},
    };
    sink s;
    for (const auto &r : rows) {
        INFO("slot " << r.slot);
        CHECK(s.take(r.slot, r.flags, MS) == (r.waits ? 41 * MS : MS));
        CHECK(s.acknowledge() == r.cum);
    }
}

TEST_CASE("mtp_receive_flow: a mark is echoed until the sender says that it reduced its window")
{
    struct {
        unsigned flags;
        uint8_t ecn;
        bool echoes;
        int64_t marked;
    } const rows[] = {
        {0, 3, false, 0},       // CE that no ECN-capable packet preceded
        {0, 0, false, 0},       //
        {0, 2, false, 0},       // ECT(0)
        {0, 3, true, 1},        // CE
        {0, 2, true, 1},        // until CWR
        {0, 3, true, 2},        // counts each
        {MTP_CWR, 2, false, 2}, //
        {0, 0, false, 2},       // Not-ECT
        {MTP_CWR, 3, true, 3},  // the packet with CWR is marked itself
        {MTP_R | MTP_CWR, 2, false, 3},
    };
    sink s;
    uint32_t slot = 0;
    for (const auto &r : rows) {
        INFO("slot " << slot);
        uint8_t payload[1] = {0}, bytes[MTP_RECORD_HEAD + 1];
        mtp_header h = {(uint8_t)r.flags, sizeof(payload), slot, slot, 0};
        slot++;
        size_t len = mtp_record_encode(&h, TOKEN, payload, bytes), payload_len;
        const uint8_t *out;
        REQUIRE(mtp_receive_flow_record(&s, bytes, len, r.ecn, &out, &payload_len, 0) ==
                MTP_RECEIVE_FLOW_RTP);
        mtp_ack a;
        mtp_receive_flow_ack(&s, &a);
        CHECK(a.ece == r.echoes);
        CHECK(s.marked == r.marked);
    }
    // A stranger's packet changes nothing.
    uint8_t payload[1] = {0}, bytes[MTP_RECORD_HEAD + 1];
    mtp_header h = {0, sizeof(payload), slot, slot, 0};
    size_t len = mtp_record_encode(&h, TOKEN + 1, payload, bytes), payload_len;
    const uint8_t *out;
    CHECK(mtp_receive_flow_record(&s, bytes, len, 3, &out, &payload_len, 0) ==
          MTP_RECEIVE_FLOW_NOTHING);
    CHECK(s.marked == 3);
}
