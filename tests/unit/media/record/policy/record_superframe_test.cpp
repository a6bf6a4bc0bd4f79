// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_superframe.h"

#include <memory>
#include <string>
#include <vector>

#include "media/coded/ladder.h"
#include "media/encode/vp9_encoder.h"
#include "media/rtp/vp9.h"
#include "tests/support/coded_stream.hpp"

TEST_CASE("record_superframe: pictures with all sizes are whole, up to one that is not")
{
    ladder l;
    REQUIRE(ladder_cumulative(320, 180, {30, 1}, 500000, &l) == 0);
    vp9_encoder *e = vp9_encoder_new(&l);
    std::unique_ptr<record_superframe, decltype(&record_superframe_free)> s(
        record_superframe_new(&l), record_superframe_free);
    REQUIRE(e);
    REQUIRE(s);
    struct {
        int64_t number;
        const char *sizes; // that arrive
        bool asks_for_key;
        const char *result;
    } const table[] = {
        {0, "12", false, ""},      // its begin is missing
        {4, "012", false, ""},     // and so is the key frame
        {8, "012", true, "key"},   //
        {9, "012", false, "8"},    //
        {10, "012", false, "8"},   //
        {11, "012", false, "10"},  //
        {12, "01", false, ""},     // the largest is missing
        {13, "012", false, ""},    //
        {16, "012", true, "key"},  //
        {17, "02", false, ""},     // one between is missing
        {18, "012", false, ""},    //
        {20, "0012", true, "key"}, // it begins twice
        {24, "012", true, "key"},  //
    };
    for (const auto &row : table) {
        INFO(row.number);
        coded_frame *out[VP9_MAX_SIZES] = {};
        if (row.asks_for_key)
            vp9_encoder_sync(e, 0, -1);
        REQUIRE(vp9_encoder_encode(e, draw(l, 2, row.number).get(), out) == 0);
        std::string result;
        for (const char *size = row.sizes; *size; size++) {
            record_whole w = {};
            if (!record_superframe_add(s.get(), out[*size - '0'], &w))
                continue;
            result += w.key ? "key" : std::to_string(w.depends_on);
            nal pieces[VP9_MAX_PIECES];
            CHECK(vp9_split(w.data, w.bytes, pieces) == 3);
            CHECK(pieces[2].len == out[2]->bytes);
        }
        CHECK(result == row.result);
        for (coded_frame *f : out)
            coded_frame_unref(f);
    }
    vp9_encoder_free(e);
}
