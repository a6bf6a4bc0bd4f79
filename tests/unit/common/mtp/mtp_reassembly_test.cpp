// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/mtp/mtp_reassembly.h"

namespace
{

struct rig {
    mtp_reassembly s;

    explicit rig(size_t slot_bytes)
    {
        REQUIRE(mtp_reassembly_init(&s, slot_bytes) == 0);
    }
    rig(const rig &) = delete;
    rig &operator=(const rig &) = delete;
    ~rig()
    {
        mtp_reassembly_destroy(&s);
    }

    // Returns the slots that the piece completes, "2:abcd".
    std::string feed(int64_t offset, const std::string &data)
    {
        mtp_piece piece = {offset, reinterpret_cast<const uint8_t *>(data.data()), data.size()};
        std::string all;
        int64_t slot;
        const uint8_t *bytes;
        while (mtp_reassembly_next(&s, &piece, &slot, &bytes))
            all += (all.empty() ? "" : " ") + std::to_string(slot) + ":" +
                   std::string(bytes, bytes + s.slot_bytes);
        return all;
    }
};

} // namespace

TEST_CASE("mtp_reassembly: pieces of slots of four bytes")
{
    rig r(4);
    struct row {
        int64_t offset;
        const char *data, *slots;
    };
    const std::vector<row> table = {
        {0, "abcd", "0:abcd"},
        {4, "efghijkl", "1:efgh 2:ijkl"}, // two joined
        {12, "mn", ""},                   // cut
        {14, "opqr", "3:mnop"},           // and not where slots end
        {18, "st", "4:qrst"},             //
        {22, "x", ""},                    // in any order
        {20, "v", ""},                    //
        {23, "y", ""},                    //
        {20, "vwx", "5:vwxy"},            // overlapping
        {24, "ab", ""},                   //
        {24, "AB", ""},                   // a fill: other bytes, the slot begins anew
        {26, "CD", "6:ABCD"},             //
        {28, "ab", ""},                   //
        {28, "ABCD", "7:ABCD"},           // a whole one needs nothing of before
        {30, "cd", ""},                   // and nothing is left of it
        {-2, "xyabcd", "0:abcd"},         // before the first byte nothing counts
        {-9, "x", ""},                    //
        {INT64_MIN, "x", ""},             //
        {INT64_MAX, "abcdefgh", ""},      // too far to be true
        {0, "", ""},
    };
    for (const row &w : table) {
        INFO(w.offset << " " << w.data);
        CHECK(r.feed(w.offset, w.data) == w.slots);
    }
}

TEST_CASE("mtp_reassembly: the number of partial slots is bounded; the lowest is discarded")
{
    rig r(4);
    for (int64_t slot = 1; slot <= MTP_PARTIAL_SLOTS; slot++)
        CHECK(r.feed(4 * slot, "ab") == "");
    CHECK(r.feed(0, "ab") == ""); // lower than all: not kept
    CHECK(r.feed(2, "cd") == "");
    CHECK(r.feed(6, "cd") == "1:abcd");
    CHECK(r.feed(400, "ab") == ""); // in the place of slot 1
    CHECK(r.feed(404, "ab") == ""); // in that of slot 2
    CHECK(r.feed(10, "cd") == "");
    CHECK(r.feed(14, "cd") == "3:abcd");
    CHECK(r.feed(402, "cd") == "100:abcd");
}

TEST_CASE("mtp_reassembly: too many small pieces of a slot are not counted as received")
{
    rig r(64);
    for (int i = 0; i < MTP_SLOT_PIECES + 3; i++)
        CHECK(r.feed(2 * i, "x") == "");
    std::string all(64, 'x');
    CHECK(r.feed(1, all.substr(1)) == "0:" + all);
}

TEST_CASE("mtp_reassembly: a byte stream cut, shuffled and duplicated at random gives each slot")
{
    rng r = rng_seeded(9);
    for (int round = 0; round < 100; round++) {
        size_t slot_bytes = 1 + rng_below(&r, 60);
        rig s(slot_bytes);
        std::string all;
        for (size_t i = 0; i < 8 * slot_bytes; i++)
            all += (char)rng_below(&r, 256);
        std::vector<std::pair<size_t, size_t>> pieces;
        for (size_t at = 0; at < all.size();) {
            size_t len = std::min<size_t>(all.size() - at, 1 + slot_bytes / 3 + rng_below(&r, 90));
            pieces.emplace_back(at, len);
            if (rng_below(&r, 4) == 0)
                pieces.emplace_back(at, len);
            at += len;
        }
        for (size_t i = pieces.size() - 1; i > 0; i--)
            std::swap(pieces[i], pieces[rng_below(&r, i + 1)]);
        std::map<int64_t, std::string> got;
        for (const auto &p : pieces) {
            std::string data = all.substr(p.first, p.second);
            mtp_piece piece = {(int64_t)p.first, reinterpret_cast<const uint8_t *>(data.data()),
                               data.size()};
            int64_t slot;
            const uint8_t *bytes;
            while (mtp_reassembly_next(&s.s, &piece, &slot, &bytes))
                got[slot] = std::string(bytes, bytes + slot_bytes);
        }
        REQUIRE(got.size() == 8);
        for (const auto &g : got)
            REQUIRE(g.second == all.substr((size_t)g.first * slot_bytes, slot_bytes));
    }
}
