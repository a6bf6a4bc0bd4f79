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

TEST_CASE("media_stamps: audio has the times of the frames that it belongs to, at any scale")
{
    media_stamps m;
    media_stamps_init(&m, {25, 1});
    media_stamps_set(&m, 4, 100);
    media_stamps_set(&m, 1, 200);
    for (int64_t n : {150, 200, 300})
        CHECK(media_stamps_of_media(&m, n * 40000) == media_stamps_of(&m, n));
    CHECK(media_stamps_of_media(&m, 300 * 40000 + 10000) == media_stamps_of(&m, 300) + 10000);
    CHECK(media_stamps_of_media(&m, 300 * 40000) == 9000000); // of 12 s, 3 s were passed over
}
