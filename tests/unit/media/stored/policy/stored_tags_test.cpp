// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/stored/policy/stored_tags.h"

#include <catch2/catch.hpp>
#include <string>

#include "common/base/err.h"

TEST_CASE("stored tags: the origin is encoded and decoded")
{
    stored_origin o = {123456789012, 1732230000, 43208};
    char text[STORED_TAG_MAX];
    std::string expected = "weir-stored/2 bytes=123456789012 mtime=1732230000 frames=43208";
    REQUIRE(stored_origin_encode(&o, text, sizeof(text)) == (int)expected.size());
    CHECK(text == expected);
    CHECK(stored_origin_encode(&o, text, expected.size()) == ERR_FULL);
    stored_origin back;
    REQUIRE(stored_origin_decode(expected.c_str(), &back) == 0);
    CHECK(back.bytes == o.bytes);
    CHECK(back.mtime == o.mtime);
    CHECK(back.frames == o.frames);
    o.mtime = -3600; // 1969-12-31T23:00:00Z
    REQUIRE(stored_origin_encode(&o, text, sizeof(text)) > 0);
    REQUIRE(stored_origin_decode(text, &back) == 0);
    CHECK(back.mtime == -3600);
}

TEST_CASE("stored tags: malformed tags are refused")
{
    for (const char *text :
         {"", "weir-stored/1 bytes=1 mtime=1 frames=1", "weir-stored/2 bytes=1 mtime=1",
          "weir-stored/2 bytes=1 mtime=1 frames=0", "weir-stored/2 bytes=1 mtime=- frames=1",
          "weir-stored/2 bytes=1 mtime=--1 frames=1", "weir-stored/2 bytes=-1 mtime=1 frames=1",
          "weir-stored/2 bytes=1 mtime=1 frames=1 ",
          "weir-stored/2 bytes=1 mtime=1 frames=3000000000"}) {
        INFO(text);
        stored_origin o;
        CHECK(stored_origin_decode(text, &o) == ERR_MALFORMED);
    }
}
