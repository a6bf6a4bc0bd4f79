// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "common/mtp/mtp_receiver.h"

namespace
{

struct row {
    int64_t slot;
    uint32_t number;
    unsigned flags;
    mtp_verdict verdict;
    int64_t cum;        // afterwards
    const char *ranges; // afterwards, "[6,7) [2,4)"
};

std::string ranges_of(const mtp_ack &ack)
{
    std::string all;
    for (int i = 0; i < ack.count; i++)
        all += (i ? " [" : "[") + std::to_string(ack.ranges[i].begin) + "," +
               std::to_string(ack.ranges[i].end) + ")";
    return all;
}

mtp_verdict give(mtp_receiver *r, int64_t slot, int64_t number, unsigned flags, uint16_t length)
{
    mtp_header h = {(uint8_t)flags, length, (uint32_t)number, (uint32_t)slot, (uint32_t)number + 7};
    return mtp_receiver_packet(r, &h);
}

std::unique_ptr<mtp_receiver> check_rows(const std::vector<row> &rows, int64_t window = 100)
{
    auto r = std::make_unique<mtp_receiver>();
    mtp_receiver_init(r.get(), window);
    for (const row &w : rows) {
        INFO("slot " << w.slot << " number " << w.number << " flags " << w.flags);
        CHECK(give(r.get(), w.slot, w.number, w.flags, 1) == w.verdict);
        mtp_ack ack;
        mtp_receiver_ack(r.get(), &ack);
        CHECK(ack.cum == w.cum);
        CHECK(ack.window == window);
        CHECK(ranges_of(ack) == w.ranges);
    }
    return r;
}

} // namespace

TEST_CASE("mtp_receiver: Figure 1's receive window: a replacement moves past the hole")
{
    // The figure's packet 11 is slot 1 here.
    check_rows({
        {0, 0, 0, MTP_DELIVER, 1, ""},
        {2, 2, 0, MTP_DELIVER, 1, "[2,3)"},
        {3, 3, 0, MTP_DELIVER, 1, "[2,4)"},
        {4, 4, 0, MTP_DELIVER, 1, "[2,5)"},
        {5, 5, MTP_R, MTP_DELIVER, 6, ""},
        {6, 6, 0, MTP_DELIVER, 7, ""},
    });
}

TEST_CASE("mtp_receiver: each replacement marks the oldest hole")
{
    auto r = check_rows({
        {1, 1, 0, MTP_DELIVER, 0, "[1,2)"},
        {3, 3, 0, MTP_DELIVER, 0, "[3,4) [1,2)"},
        {4, 4, MTP_R, MTP_DELIVER, 2, "[3,5)"},
        {4, 4, MTP_R, MTP_DUPLICATE, 2, "[3,5)"}, // a duplicate marks nothing
        {5, 5, MTP_R, MTP_DELIVER, 6, ""},
        {6, 6, MTP_R, MTP_DELIVER, 7, ""},      // no hole: ordinary
        {8, 8, MTP_R, MTP_DELIVER, 9, ""},      // 7 was only late
        {7, 7, MTP_R, MTP_DELIVER, 9, ""},      // and is delivered, and marks nothing more
        {7, 7, MTP_R, MTP_DUPLICATE, 9, ""},    // once
        {0, 0, 0, MTP_DELIVER, 9, ""},          // the oldest, too
        {0, 0, 0, MTP_DUPLICATE, 9, ""},        //
        {3, 9, MTP_FILL, MTP_DELIVER, 9, ""},   // new data in a slot that had been received
        {3, 9, MTP_FILL, MTP_DUPLICATE, 9, ""}, //
    });
    CHECK(r->counts.replacements == 3);
    CHECK(r->counts.late == 3);
    CHECK(r->counts.duplicates == 4);
}

TEST_CASE("mtp_receiver: a fill closes its hole like a retransmission")
{
    check_rows({
        {0, 0, 0, MTP_DELIVER, 1, ""},
        {2, 2, 0, MTP_DELIVER, 1, "[2,3)"},
        {1, 3, MTP_FILL, MTP_DELIVER, 3, ""},
        {1, 1, 0, MTP_DELIVER, 3, ""}, // what it stood in for was only late
    });
}

TEST_CASE("mtp_receiver: slots beyond the window are not recorded, old slots are acknowledged")
{
    auto r = check_rows(
        {
            {0, 0, 0, MTP_DELIVER, 1, ""},
            {9, 1, 0, MTP_BEYOND, 1, ""},
            {8, 1, 0, MTP_DELIVER, 1, "[8,9)"},
            {-5, 2, 0, MTP_DELIVER, 1, "[8,9)"},
            {2, 3 + MTP_SEEN, 0, MTP_BEYOND, 1, "[8,9)"}, // a number that cannot be
            {2, 2 + MTP_SEEN, 0, MTP_DELIVER, 1, "[8,9) [2,3)"},
            {3, 2, 0, MTP_DUPLICATE, 1, "[8,9) [2,4)"}, // too old to tell, its slot counts
        },
        8);
    CHECK(r->counts.beyond == 2);
}

TEST_CASE("mtp_receiver: empty packets are acknowledged, not delivered; the newest time is echoed")
{
    auto r = std::make_unique<mtp_receiver>();
    mtp_receiver_init(r.get(), 8);
    mtp_ack ack;
    mtp_receiver_ack(r.get(), &ack);
    CHECK_FALSE(ack.has_echo);
    CHECK(give(r.get(), 1, 1, MTP_R, 0) == MTP_EMPTY);
    CHECK(give(r.get(), 0, 0, 0, 1) == MTP_DELIVER);
    mtp_receiver_ack(r.get(), &ack);
    CHECK(ack.cum == 2);
    CHECK(ack.has_echo);
    CHECK(ack.echo_us == 8);
}

TEST_CASE("mtp_receiver: the highest ranges are reported, and holes are bounded")
{
    auto r = std::make_unique<mtp_receiver>();
    mtp_receiver_init(r.get(), MTP_MAX_WINDOW);
    for (int64_t i = 1; i <= MTP_RANGES + 10; i++)
        CHECK(give(r.get(), 2 * i, i, 0, 1) == MTP_DELIVER);
    mtp_ack ack;
    mtp_receiver_ack(r.get(), &ack);
    CHECK(ack.count == MTP_ACK_RANGES);
    CHECK(ack.ranges[0].begin == 2 * MTP_RANGES); // later ones found no room: holes for the sender
    CHECK(give(r.get(), 0, 0, 0, 1) == MTP_DELIVER);
    CHECK(give(r.get(), 1, 1000, MTP_R, 1) == MTP_DELIVER);
    CHECK(r->cum == 3);
    CHECK(give(r.get(), 2 * MTP_RANGES + 2, 1001, 0, 1) == MTP_DELIVER); // one is free again
    mtp_receiver_ack(r.get(), &ack);
    CHECK(ack.ranges[0].begin == 2 * MTP_RANGES + 2);
}

TEST_CASE("mtp_receiver: slots and numbers continue across the wrap of 32 bits")
{
    auto r = std::make_unique<mtp_receiver>();
    mtp_receiver_init(r.get(), 1000);
    r->cum = ((int64_t)1 << 32) - 2;
    r->highest = ((int64_t)3 << 32) - 2;
    for (int64_t i = 0; i < 5; i++)
        CHECK(give(r.get(), r->cum, r->highest + 1, 0, 1) == MTP_DELIVER);
    CHECK(r->cum == ((int64_t)1 << 32) + 3);
    CHECK(r->highest == ((int64_t)3 << 32) + 3);
    CHECK(give(r.get(), r->cum - 5, r->highest - 4, 0, 1) == MTP_DUPLICATE);
}
