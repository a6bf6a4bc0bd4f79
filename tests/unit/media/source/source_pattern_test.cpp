// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "media/pattern/pattern_picture.h"
#include "media/source/source.h"

TEST_CASE("source_pattern: frames in order, without gaps")
{
    struct source *s = source_pattern_new(160, 90, {30000, 1001});
    REQUIRE(s);
    CHECK(s->name == std::string("test:160x90@30000/1001"));
    CHECK(s->ops->seek == nullptr);
    for (int n = 0; n < 40; n++) {
        picture *p = nullptr;
        REQUIRE(s->ops->next(s, &p) == 0);
        CHECK(p->number == n);
        CHECK(p->pts == (int64_t)n * 1001000000 / 30000);
        CHECK(p->references == 1);
        CHECK(p->capture_wall == 0);
        CHECK(pattern_picture_read(p) == n);
        picture_unref(p);
    }
    source_free(s);
}
