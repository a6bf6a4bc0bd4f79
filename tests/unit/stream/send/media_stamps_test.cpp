// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/send/media_stamps.h"

#include <catch2/catch.hpp>

TEST_CASE("media_stamps: times follow the screen, and never step back")
{
    media_stamps m;
    media_stamps_init(&m, {25, 1}); // 40 ms
    CHECK(media_stamps_of(&m, 0) == 0);
    CHECK(media_stamps_of(&m, 100) == 4000000);
    media_stamps_set(&m, 4, 104);
    CHECK(media_stamps_of(&m, 103) == 4120000); // a frame that still leaves
    CHECK(media_stamps_of(&m, 104) == 4160000);
    CHECK(media_stamps_of(&m, 154) == 4660000); // 2 s of the film in 0.5 s
    media_stamps_set(&m, 4, 156);               // nothing changes
    CHECK(media_stamps_of(&m, 154) == 4660000);
    media_stamps_set(&m, 1, 204);
    CHECK(media_stamps_of(&m, 154) == 4660000);
    CHECK(media_stamps_of(&m, 204) == 5160000);
    CHECK(media_stamps_of(&m, 229) == 6160000);
}
