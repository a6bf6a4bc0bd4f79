// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/media_silence.h"

#include <catch2/catch.hpp>

static const usec_t s = USEC_PER_SEC;

TEST_CASE("media_silence: counts from PLAY or the last packet, and only while media is due")
{
    static const struct {
        int now; // seconds
        int packets;
        bool due;
        int silent;
        bool received;
    } table[] = {
        {11, 0, true, 1, false},   // PLAY was answered at 10
        {15, 0, true, 5, false},   //
        {16, 30, true, 0, true},   // packets came
        {20, 30, true, 4, true},   //
        {21, 31, true, 0, true},   //
        {30, 31, false, 0, true},  // a pause
        {90, 31, false, 0, true},  //
        {91, 31, true, 0, true},   // goes on since then, or since a moment ago
        {95, 31, true, 4, true},   //
        {200, 31, false, 0, true}, // the end
    };
    struct media_silence m = {};
    media_silence_begin(&m, 0, 10 * s);
    CHECK(!m.received);
    for (const auto &row : table) {
        INFO(row.now);
        CHECK(media_silence_look(&m, (uint64_t)row.packets, row.due, row.now * s) ==
              row.silent * s);
        CHECK(m.received == row.received);
    }
    media_silence_begin(&m, 2, 210 * s); // another connection, which counts anew
    CHECK(!m.received);
    CHECK(media_silence_look(&m, 2, true, 213 * s) == 3 * s);
    CHECK(!m.received);
}
