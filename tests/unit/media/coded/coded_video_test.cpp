// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/coded_video.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "common/base/err.h"

namespace
{
using bytes = std::vector<uint8_t>;

const bytes SPS = {0x67, 100, 0, 31, 0xac, 1}, PPS = {0x68, 0xee, 0x3c, 0x80};
const bytes OTHER_PPS = {0x68, 0x5e, 0x3c, 0x80}; // id 1
const bytes SEI = {0x06, 5, 1, 0x80}, DELIMITER = {0x09, 0xf0};
const bytes IDR = {0x65, 0x88, 1, 2}, SLICE = {0x41, 0x9a, 3}, LAST = {0x01, 0x9e, 4};

bytes codes(const std::vector<bytes> &units, int zeros = 2)
{
    bytes all;
    for (const bytes &u : units) {
        all.insert(all.end(), (size_t)zeros, 0);
        all.push_back(1);
        all.insert(all.end(), u.begin(), u.end());
    }
    return all;
}

bytes lengths(const std::vector<bytes> &units, int size)
{
    bytes all;
    for (const bytes &u : units) {
        for (int i = size - 1; i >= 0; i--)
            all.push_back((uint8_t)(u.size() >> (8 * i)));
        all.insert(all.end(), u.begin(), u.end());
    }
    return all;
}

// ISO/IEC 14496-15, 5.3.3.1
bytes record(const std::vector<bytes> &sps, const std::vector<bytes> &pps, int size)
{
    bytes all = {1, 100, 0, 31, (uint8_t)(0xfc | (size - 1)), (uint8_t)(0xe0 | sps.size())};
    bytes first = lengths(sps, 2), second = lengths(pps, 2);
    all.insert(all.end(), first.begin(), first.end());
    all.push_back((uint8_t)pps.size());
    all.insert(all.end(), second.begin(), second.end());
    return all;
}

struct taken {
    int err = 0;
    std::vector<bytes> units;
    int64_t depends = 0;
    bool key = false;
    int reorder = 0;
};

struct video {
    coded_units u{};

    explicit video(const bytes &config = {})
    {
        CHECK(coded_units_init(&u, config.data(), config.size()) == 0);
    }
    taken take(const bytes &unit, int64_t number, int64_t slot)
    {
        taken t;
        coded_frame *f = nullptr;
        t.err = coded_units_take(&u, unit.data(), unit.size(), number, slot, &f);
        std::unique_ptr<coded_frame, decltype(&coded_frame_unref)> own(f, coded_frame_unref);
        if (t.err) {
            CHECK_FALSE(f);
            return t;
        }
        CHECK(f->number == number);
        for (int i = 0; i < f->nal_count; i++) {
            const uint8_t *at = f->data + f->nals[i].offset;
            t.units.emplace_back(at, at + f->nals[i].len);
        }
        CHECK(codes(t.units, 3) == bytes(f->data, f->data + f->bytes));
        t.depends = f->depends_on;
        t.key = f->key;
        t.reorder = f->reorder;
        return t;
    }
};
} // namespace

TEST_CASE("coded_video: NAL units keep their bytes, and an IDR gets the sets that it lacks")
{
    const std::vector<bytes> with_sets = {SPS, PPS, SEI, IDR};
    struct {
        const char *what;
        bytes config, unit;
        std::vector<bytes> becomes;
    } table[] = {
        {"start codes of 3 bytes", {}, codes(with_sets), with_sets},
        {"start codes of 4 bytes", {}, codes(with_sets, 3), with_sets},
        {"zeros before start codes", {}, codes(with_sets, 6), with_sets},
        {"sets before the stream", codes({SPS, PPS}), codes({SEI, IDR}), with_sets},
        {"lengths of 4 bytes", record({SPS}, {PPS}, 4), lengths({SEI, IDR}, 4), with_sets},
        {"lengths of 2 bytes", record({SPS}, {PPS}, 2), lengths({SEI, IDR}, 2), with_sets},
        {"a delimiter stays first",
         record({SPS}, {PPS}, 4),
         lengths({DELIMITER, IDR}, 4),
         {DELIMITER, SPS, PPS, IDR}},
        {"one set of two", record({SPS}, {PPS}, 4), lengths({PPS, IDR}, 4), {SPS, PPS, IDR}},
        {"two sets of a type",
         record({SPS}, {PPS, OTHER_PPS}, 4),
         lengths({IDR}, 4),
         {SPS, PPS, OTHER_PPS, IDR}},
    };
    for (const auto &row : table) {
        INFO(row.what);
        video v(row.config);
        taken t = v.take(row.unit, 0, 0);
        CHECK(t.err == 0);
        CHECK(t.key);
        CHECK(t.depends == -1);
        CHECK(t.units == row.becomes);
    }
}

TEST_CASE("coded_video: a frame depends on the last reference before it in decoding order")
{
    video v(record({SPS}, {PPS}, 4));
    const bytes idr = lengths({IDR}, 4), slice = lengths({SLICE}, 4), last = lengths({LAST}, 4);
    struct {
        const bytes *unit;
        int64_t number, slot;
        int err;
        int64_t depends;
    } table[] = {
        {&slice, 0, 0, ERR_AGAIN, 0},
        {&idr, 5, 5, 0, -1},
        {&slice, 8, 6, 0, 5},
        {&last, 6, 7, 0, 8},
        {&last, 7, 8, 0, 8},
        {&slice, 9, 9, 0, 8},
        {&slice, 40, 10, ERR_MALFORMED, 0}, // too far from its turn
        {&slice, 11, 11, ERR_AGAIN, 0},     // until the next IDR
        {&idr, 13, 12, ERR_MALFORMED, 0},   // an IDR is shown in its turn
        {&idr, 14, 14, 0, -1},
        {&slice, 15, 15, 0, 14},
    };
    for (const auto &row : table) {
        INFO("frame " << row.number);
        taken t = v.take(*row.unit, row.number, row.slot);
        CHECK(t.err == row.err);
        if (!t.err) {
            CHECK(t.depends == row.depends);
            CHECK(t.reorder == row.slot - row.number);
        }
    }
    coded_units_break(&v.u);
    CHECK(v.take(slice, 16, 16).err == ERR_AGAIN);
}

TEST_CASE("coded_video: bytes that are no access unit are a fault")
{
    bytes long_unit = {0, 0, 0, 9, 0x65, 1}, short_head = {0, 0};
    struct {
        const char *what;
        bytes config, unit;
        int err;
    } table[] = {
        {"a unit longer than the packet", record({SPS}, {PPS}, 4), long_unit, ERR_MALFORMED},
        {"half a length", record({SPS}, {PPS}, 4), short_head, ERR_MALFORMED},
        {"no slice", codes({SPS, PPS}), codes({SEI}), ERR_MALFORMED},
        {"no start code", {}, {1, 2, 3, 4}, ERR_MALFORMED},
        {"nothing", {}, {}, ERR_MALFORMED},
        {"the forbidden bit", codes({SPS, PPS}), codes({{0xe5, 1}}), ERR_MALFORMED},
        {"no parameter sets", {}, codes({IDR}), ERR_MALFORMED},
        {"too many units", codes({SPS, PPS}),
         codes(std::vector<bytes>(CODED_FRAME_MAX_NALS + 1, IDR)), ERR_TOO_BIG},
        {"too many bytes", codes({SPS, PPS}), bytes(CODED_VIDEO_MAX_FRAME + 1, 1), ERR_TOO_BIG},
    };
    for (const auto &row : table) {
        INFO(row.what);
        video v(row.config);
        CHECK(v.take(row.unit, 0, 0).err == row.err);
    }
}

TEST_CASE("coded_video: a configuration is read whole or not at all")
{
    const bytes whole = record({SPS}, {PPS}, 4);
    coded_units u;
    for (size_t len = 1; len < whole.size(); len++) {
        INFO(len << " bytes");
        CHECK(coded_units_init(&u, whole.data(), len) == ERR_MALFORMED);
    }
    CHECK(coded_units_init(&u, whole.data(), whole.size()) == 0);
    coded_video described{};
    CHECK(coded_units_describe(&u, &described) == 0);
    CHECK(std::string(described.sprop) == "Z2QAH6wB,aO48gA==");
    CHECK(std::string(described.profile_level_id) == "64001f");
    CHECK(coded_units_init(&u, nullptr, 0) == 0);
    CHECK(coded_units_describe(&u, &described) == ERR_NOT_FOUND);
}

TEST_CASE("coded_video: new parameter sets replace those of their id")
{
    video v(record({SPS}, {PPS}, 4));
    bytes other = PPS;
    other.push_back(7);
    CHECK(v.take(lengths({SPS, other, IDR}, 4), 0, 0).err == 0);
    CHECK(v.take(lengths({IDR}, 4), 1, 1).units == std::vector<bytes>{SPS, other, IDR});
}

TEST_CASE("coded_video: a new configuration applies from the next IDR on")
{
    const bytes other = {0x67, 66, 0, 30, 0xac, 1};
    video v(record({SPS}, {PPS, OTHER_PPS}, 4));
    CHECK(v.take(lengths({IDR}, 4), 0, 0).units == std::vector<bytes>{SPS, PPS, OTHER_PPS, IDR});
    bytes config = record({other}, {PPS}, 2); // with shorter lengths, too
    CHECK(coded_units_configure(&v.u, config.data(), config.size()) == 0);
    CHECK(v.take(lengths({SLICE}, 2), 1, 1).depends == 0); // what has begun goes on
    CHECK(v.take(lengths({IDR}, 2), 2, 2).units == std::vector<bytes>{other, PPS, IDR});
    config = codes({SPS, PPS});
    CHECK(coded_units_configure(&v.u, config.data(), config.size()) == 0);
    CHECK(v.take(codes({IDR}), 3, 3).units == std::vector<bytes>{SPS, PPS, IDR});
    config.resize(3);
    config[0] = 1;
    CHECK(coded_units_configure(&v.u, config.data(), config.size()) == ERR_MALFORMED);
}

TEST_CASE("coded_video: a parameter set with start codes in it is malformed")
{
    const bytes pps = {0x68, 0xce, 0, 0, 1, 0, 0, 1, 0x3c, 0x80};
    bytes config = record({SPS}, {pps}, 4);
    coded_units u;
    CHECK(coded_units_init(&u, config.data(), config.size()) == ERR_MALFORMED);
    config = record({SPS}, {PPS}, 4);
    REQUIRE(coded_units_init(&u, config.data(), config.size()) == 0);
    bytes unit = lengths({pps, IDR}, 4);
    coded_frame *f = nullptr;
    CHECK(coded_units_take(&u, unit.data(), unit.size(), 0, 0, &f) == ERR_MALFORMED);
    coded_video out;
    CHECK(coded_units_describe(&u, &out) == 0);
}
