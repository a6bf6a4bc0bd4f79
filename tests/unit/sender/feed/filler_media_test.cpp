// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/feed/filler_media.h"

#include <catch2/catch.hpp>

#include <string>

TEST_CASE("filler_media: one level of the bit rate, and a title that states the kind")
{
    struct {
        sdp_source kind;
        const char *title;
    } const table[] = {{SDP_SOURCE_STEADY, "synthetic:steady"},
                       {SDP_SOURCE_GREEDY, "synthetic:greedy"}};
    for (const auto &row : table) {
        stream_media *m = filler_media_new(row.kind, 1234000);
        REQUIRE(m);
        CHECK(m->kind == row.kind);
        CHECK(std::string(m->title) == row.title);
        CHECK(m->ladder.level_count == 1);
        CHECK(m->ladder.size_count == 1);
        CHECK(m->ladder.levels[0].bitrate_bps == 1234000);
        m->ops->free(m);
    }
}
