// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/relayed_frame.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/two_sizes.hpp"

namespace
{
struct received {
    std::vector<uint8_t> bytes;
    received_frame f{};

    explicit received(std::vector<uint8_t> data) : bytes(std::move(data))
    {
        f.number = 12;
        f.size_id = 1;
        f.temporal_id = 1;
        f.level = 3;
        f.depends_on = 11;
        f.capture_wall = 5000;
        f.made = 300000;
        f.is_slow = true;
        f.data = bytes.data();
        f.bytes = bytes.size();
    }
};

// The units of a frame as "offset+length ...".
std::string units(const std::vector<uint8_t> &bytes, bool is_annexb = true)
{
    const ladder l = two_sizes();
    received r(bytes);
    coded_frame *out = relayed_frame_new(&r.f, &l, is_annexb, 0);
    if (!out)
        return "none";
    std::string text;
    for (int i = 0; i < out->nal_count; i++)
        text += (i ? " " : "") + std::to_string(out->nals[i].offset) + "+" +
                std::to_string(out->nals[i].len);
    coded_frame_unref(out);
    return text;
}
} // namespace

TEST_CASE("relayed_frame: all that the viewer reads stays the same")
{
    const ladder l = two_sizes(); // 10 frames/s
    received r({0, 0, 0, 1, 0x65, 7});
    r.f.reorder = 2;
    REQUIRE(relayed_frame_is_valid(&r.f, &l));
    coded_frame *out = relayed_frame_new(&r.f, &l, true, 777);
    REQUIRE(out);
    CHECK(out->number == 12);
    CHECK(out->reorder == 2);
    CHECK(out->size_id == 1);
    CHECK(out->temporal_id == 1);
    CHECK(out->level == 3);
    CHECK_FALSE(out->key);
    CHECK(out->depends_on == 11);
    CHECK(out->pts == 1200 * USEC_PER_MSEC);
    CHECK(out->capture_wall == 5000);
    CHECK((out->made == 300000 && out->is_slow));
    CHECK(out->captured == 777);
    CHECK(std::vector<uint8_t>(out->data, out->data + out->bytes) == r.bytes);
    coded_frame_unref(out);
}

TEST_CASE(
    "relayed_frame: B frames are shown when their time stamps say, which the next sender repeats")
{
    const ladder l = two_sizes(); // 10 frames/s
    const struct {
        int64_t number;
        int64_t shown; // ms
        int64_t after; // ms
    } table[] = {{0, 0, 0},
                 {1, 300, 0}, // shown latest for its number
                 {2, 100, -300},
                 {3, 200, -300},
                 {477218, 47721800, -200}, // the stamps have wrapped
                 {477219, 47722100, 0},
                 {477220, 47719900, 0}}; // of another line
    const uint32_t offset = GENERATE(0u, 4294960000u, 2147483600u);
    shown_line line{};
    for (const auto &row : table) {
        INFO(row.number);
        received r({0, 0, 0, 1, 0x65, 7});
        r.f.number = row.number;
        r.f.rtp_timestamp = offset + (uint32_t)(row.shown * 90);
        r.f.shown_after = shown_line_after(&line, &r.f, l.source_fps);
        CHECK(r.f.shown_after == row.after * USEC_PER_MSEC);
        coded_frame *out = relayed_frame_new(&r.f, &l, true, 0);
        REQUIRE(out);
        CHECK(out->shown_after == row.after * USEC_PER_MSEC);
        CHECK(out->pts == (row.number * 100 + row.after) * USEC_PER_MSEC);
        coded_frame_unref(out);
    }
}

TEST_CASE("relayed_frame: NAL units between start codes")
{
    struct row {
        std::vector<uint8_t> bytes;
        const char *units;
    };
    const std::vector<row> table = {
        {{0, 0, 0, 1, 9, 8}, "4+2"},
        {{0, 0, 1, 9}, "3+1"},
        {{0, 0, 0, 1, 9, 8, 0, 0, 0, 1, 7, 0, 0, 1, 5, 5}, "4+2 10+1 14+2"},
        {{0, 0, 0, 1, 0, 0, 0, 1, 7}, "8+1"},       // an empty unit
        {{0, 0, 0, 1, 9, 0, 0, 3, 1, 1, 0}, "4+7"}, // no start code inside
        {{0, 0, 0, 1}, "none"},
        {{1, 2, 3}, "none"},
        {{}, "none"},
    };
    for (const row &one : table)
        CHECK(units(one.bytes) == one.units);
    CHECK(units({0, 0, 0, 1, 9}, false) == "0+5"); // one piece, whatever is in it
}

TEST_CASE("relayed_frame: more units than a frame can have")
{
    std::vector<uint8_t> bytes;
    for (int i = 0; i <= CODED_FRAME_MAX_NALS; i++)
        bytes.insert(bytes.end(), {0, 0, 1, 9});
    CHECK(units(bytes) == "none");
    bytes.resize(bytes.size() - 4);
    CHECK(units(bytes) != "none");
}

TEST_CASE("relayed_frame: numbers that contradict the ladder or each other")
{
    const ladder l = two_sizes();
    struct row {
        const char *what;
        void (*change)(received_frame &f);
        bool valid;
    };
    const row table[] = {
        {"as it is", [](received_frame &) {}, true},
        {"a size that is not there", [](received_frame &f) { f.size_id = 2; }, false},
        {"a layer that is not there", [](received_frame &f) { f.temporal_id = 4; }, false},
        {"a level that is not there", [](received_frame &f) { f.level = 4; }, false},
        {"it depends on itself", [](received_frame &f) { f.depends_on = f.number; }, false},
        {"a key frame that depends on another", [](received_frame &f) { f.key = true; }, false},
        {"a number without a time", [](received_frame &f) { f.number = INT64_MAX / 1000; }, false},
    };
    for (const row &one : table) {
        INFO(one.what);
        received r({0, 0, 1, 9});
        one.change(r.f);
        CHECK(relayed_frame_is_valid(&r.f, &l) == one.valid);
    }
}
