// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/stored_retransmit.h"

#include <catch2/catch.hpp>

#include <vector>

TEST_CASE("repairs: a frame is sent again once for all its earlier losses")
{
    struct row {
        int64_t number;
        int seq, next;
        bool given;
    };
    // Frame 0 left as packets 65530 to 3, frame 1 as 4 to 9.
    const std::vector<row> table = {
        {0, 65530, 10, true},   // frame 0 leaves again as 10 to 19
        {0, 65531, 10, false},  // a further entry of the same report
        {0, 2, 10, false},      //
        {1, 7, 20, true},       // frame 1 leaves again as 20 to 25
        {0, 3, 26, false},      // a later report of the first time
        {0, 12, 26, true},      // lost of the second time
        {0, 13, 27, false},     //
        {511, 65500, 50, true}, // nothing was there before
        {512, 40, 50, true},    // takes the place of frame 0
        {0, 12, 60, true},      // of which nothing is known any more
        {1, 9, 61, false},      //
    };
    stored_retransmit r;
    stored_retransmit_init(&r);
    for (const row &t : table) {
        INFO("frame " << t.number << ", packet " << t.seq);
        CHECK(stored_retransmit_take(&r, t.number, static_cast<uint16_t>(t.seq),
                                     static_cast<uint16_t>(t.next)) == t.given);
    }
}
