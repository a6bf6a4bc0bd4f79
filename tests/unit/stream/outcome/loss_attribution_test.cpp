// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "stream/outcome/loss_attribution.h"

namespace
{

struct packet {
    int64_t seq;
    uint32_t frame;
    bool first, last;
};

struct attribution : loss_attribution {
    ~attribution()
    {
        frame_history_free(history);
    }
};

std::unique_ptr<attribution> after(const std::vector<packet> &packets)
{
    auto p = std::make_unique<attribution>();
    loss_attribution_init(p.get(), frame_history_new());
    for (const packet &k : packets) {
        adu_ext adu{};
        adu.frame = k.frame;
        adu.first = k.first;
        adu.last = k.last;
        loss_attribution_add(p.get(), &adu, k.seq);
    }
    return p;
}

} // namespace

TEST_CASE("loss_attribution: results by the received parts of a frame and its neighbours")
{
    struct row {
        const char *name;
        std::vector<packet> packets;
        int64_t number;
        packets_say say;
    };
    // Frames 10 and 12 are whole unless a row says otherwise.
    const packet ten = {100, 10, true, true};
    const std::vector<row> table = {
        {"left out by the sender", {ten, {101, 12, true, true}}, 11, PACKETS_UNSENT},
        {"lost whole", {ten, {102, 12, true, true}}, 11, PACKETS_GAP},
        {"the gap came after all, as another's end",
         {ten, {102, 12, false, true}},
         11,
         PACKETS_UNSENT},
        {"the gap has room for more than that", {ten, {103, 12, false, true}}, 11, PACKETS_GAP},
        {"both neighbours lack a packet there",
         {{100, 10, true, false}, {103, 12, false, true}},
         11,
         PACKETS_UNSENT},
        {"nothing later yet", {ten}, 11, PACKETS_AHEAD},
        {"whole, in any order",
         {ten, {102, 11, false, true}, {101, 11, true, false}},
         11,
         PACKETS_WHOLE},
        {"its middle was lost",
         {ten, {101, 11, true, false}, {103, 11, false, true}},
         11,
         PACKETS_GAP},
        {"its first was lost",
         {ten, {102, 11, false, true}, {103, 12, true, true}},
         11,
         PACKETS_GAP},
        {"its last was lost",
         {ten, {101, 11, true, false}, {103, 12, true, true}},
         11,
         PACKETS_GAP},
        {"its rest was dropped by the sender",
         {ten, {101, 11, true, false}, {102, 12, true, true}},
         11,
         PACKETS_UNSENT},
        {"its rest is on its way", {ten, {101, 11, true, false}}, 11, PACKETS_AHEAD},
        {"its first is missing before all that came", {{100, 11, false, true}}, 11, PACKETS_GAP},
        {"before all that came", {ten}, 9, PACKETS_UNKNOWN},
        {"no frame has that number", {ten}, -1, PACKETS_UNKNOWN},
    };
    for (const row &r : table) {
        INFO(r.name);
        CHECK(loss_attribution_of(after(r.packets).get(), r.number) == r.say);
    }
}

TEST_CASE("loss_attribution: 32-bit numbers continue after the wrap, and old frames are forgotten")
{
    auto p = after({{1, 0xffffffff, true, true}, {2, 1, true, true}});
    CHECK(loss_attribution_of(p.get(), int64_t{1} << 32) == PACKETS_UNSENT);
    CHECK(loss_attribution_of(p.get(), (int64_t{1} << 32) + 1) == PACKETS_WHOLE);

    adu_ext adu{};
    adu.first = adu.last = true;
    adu.frame = 1 + LOSS_ATTRIBUTION_WINDOW;
    loss_attribution_add(p.get(), &adu, 3);
    CHECK(loss_attribution_of(p.get(), (int64_t{1} << 32) + 1) == PACKETS_UNKNOWN);

    // A source that restarted.
    adu.frame = 0x90000000;
    loss_attribution_add(p.get(), &adu, 4);
    CHECK(loss_attribution_of(p.get(), 0x90000000) == PACKETS_WHOLE);
}

TEST_CASE("loss_attribution: frames in decoding order")
{
    // I0 P4 B2 b1 b3 P8 B6 b5 b7 P12 B10 b9 b11, a packet each, from sequence number 100 on.
    struct one {
        uint32_t frame;
        int reorder;
    };
    const std::vector<one> all = {{0, 0}, {4, -3}, {2, 0},   {1, 2},  {3, 1}, {8, -3}, {6, 0},
                                  {5, 2}, {7, 1},  {12, -3}, {10, 0}, {9, 2}, {11, 1}};
    struct row {
        const char *name;
        uint32_t missing;
        bool sent;  // it took a sequence number
        int frames; // of the list that came
        packets_say say;
    };
    const row table[] = {
        {"a B frame lost", 5, true, 13, PACKETS_GAP},
        {"a B frame left out", 5, false, 13, PACKETS_UNSENT},
        {"one that others rest on, left out", 6, false, 13, PACKETS_UNSENT},
        {"a P frame lost", 8, true, 13, PACKETS_GAP},
        {"a P frame left out", 8, false, 13, PACKETS_UNSENT},
        {"it may be on its way", 5, false, 7, PACKETS_AHEAD},
    };
    for (const row &r : table) {
        INFO(r.name);
        auto p = after({});
        int64_t seq = 100;
        for (int i = 0; i < r.frames && i < (int)all.size(); i++) {
            bool here = all[i].frame != r.missing;
            adu_ext adu{};
            adu.frame = all[i].frame;
            adu.reorder = (int16_t)all[i].reorder;
            adu.first = adu.last = true;
            if (here)
                loss_attribution_add(p.get(), &adu, seq);
            seq += here || r.sent;
        }
        CHECK(loss_attribution_of(p.get(), r.missing) == r.say);
    }
}

TEST_CASE("loss_attribution: the rest of a frame that is decoded before others")
{
    // P8's second packet is missing; B6 follows.
    for (bool lost : {false, true}) {
        auto p = after({});
        const struct {
            int64_t seq;
            uint32_t frame;
            int reorder;
            bool last;
        } packets[] = {{100, 3, 1, true},        {101, 8, -3, false},
                       {102 + lost, 6, 0, true}, {103 + lost, 5, 2, true},
                       {104 + lost, 7, 1, true}, {105 + lost, 12, -3, true}};
        for (const auto &k : packets) {
            adu_ext adu{};
            adu.frame = k.frame;
            adu.reorder = (int16_t)k.reorder;
            adu.first = true;
            adu.last = k.last;
            loss_attribution_add(p.get(), &adu, k.seq);
        }
        CHECK(loss_attribution_of(p.get(), 8) == (lost ? PACKETS_GAP : PACKETS_UNSENT));
    }
}

TEST_CASE("loss_attribution: an implausible distance between slot and number is ignored")
{
    for (int reorder : {LOSS_ATTRIBUTION_REACH + 1, 32767, -32768}) {
        INFO(reorder);
        auto p = after({});
        for (uint32_t frame : {0, 1, 2, 4}) { // 3 was never sent
            adu_ext adu{};
            adu.frame = frame;
            adu.reorder = (int16_t)(frame == 2 ? reorder : 0);
            adu.first = adu.last = true;
            loss_attribution_add(p.get(), &adu, 100 + frame - (frame > 3));
        }
        CHECK(loss_attribution_of(p.get(), 3) == PACKETS_UNSENT);
    }
}

TEST_CASE(
    "loss_attribution: a picture is whole with its smallest layer, and its loss is seen beside the "
    "others")
{
    struct layer {
        int64_t seq;
        uint32_t frame;
        bool on_lower, first, last;
    };
    // Picture 10 has the packets 100 (base), 101 and 102 (upper layers), picture 12 begins at 106.
    const layer ten[] = {{100, 10, false, true, true}, {101, 10, true, true, true}};
    struct {
        const char *name;
        std::vector<layer> more;
        packets_say say; // of picture 11
    } const rows[] = {
        {"whole", {{102, 11, false, true, true}, {103, 11, true, true, true}}, PACKETS_WHOLE},
        {"whole, of its top layer only a part",
         {{102, 11, false, true, true}, {103, 11, true, true, false}, {106, 12, false, true, true}},
         PACKETS_GAP},
        {"its base was lost",
         {{103, 11, true, true, true}, {104, 12, false, true, true}},
         PACKETS_GAP},
        {"it was never sent", {{102, 12, false, true, true}}, PACKETS_UNSENT},
        {"all of it was lost", {{105, 12, false, true, true}}, PACKETS_GAP},
    };
    for (const auto &row : rows) {
        INFO(row.name);
        auto p = after({});
        auto add = [&](const layer &k) {
            adu_ext adu{};
            adu.frame = k.frame;
            adu.first = k.first;
            adu.last = k.last;
            adu.on_lower = k.on_lower;
            loss_attribution_add(p.get(), &adu, k.seq);
        };
        for (const layer &k : ten)
            add(k);
        for (const layer &k : row.more)
            add(k);
        CHECK(loss_attribution_of(p.get(), 11) == row.say);
    }
}
