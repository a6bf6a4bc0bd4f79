// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/watch/clip_source.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>

#include "common/base/err.h"
#include "media/pattern/pattern_strip.h"
#include "tests/unit/lab/watch/clip_file.hpp"

using source_ptr = std::unique_ptr<source, decltype(&source_free)>;

TEST_CASE("clip_source: a small clip has the values that were written, in order, and an end")
{
    clip_file clip(320, 180, 3, true);
    source_ptr s(clip_source_open(clip.path), source_free);
    REQUIRE(s);
    CHECK(s->width == 320);
    CHECK(s->height == 180);
    CHECK(s->fps.num == 30);
    source_ptr original(source_pattern_new(320, 180, {30, 1}), source_free);
    for (int n = 0; n < 3; n++) {
        picture *p = nullptr, *wanted = nullptr;
        REQUIRE(s->ops->next(s.get(), &p) == 0);
        REQUIRE(original->ops->next(original.get(), &wanted) == 0);
        pattern_strip_draw(n, wanted);
        CHECK(p->number == n);
        CHECK(p->pts == n * 1000000 / 30);
        for (int i = 0; i < 3; i++)
            for (int y = 0; y < (i ? 90 : 180); y++)
                REQUIRE(memcmp(p->plane[i] + y * p->stride[i],
                               wanted->plane[i] + y * wanted->stride[i], i ? 160 : 320) == 0);
        picture_unref(p);
        picture_unref(wanted);
    }
    picture *p = nullptr;
    CHECK(s->ops->next(s.get(), &p) == ERR_END);
}

TEST_CASE("clip_source: what is cut off, and what is no clip")
{
    clip_file clip(320, 180, 2, true);
    REQUIRE(truncate(clip.path, static_cast<off_t>(clip.bytes.size() - 1)) == 0);
    source_ptr s(clip_source_open(clip.path), source_free);
    REQUIRE(s);
    picture *p = nullptr;
    REQUIRE(s->ops->next(s.get(), &p) == 0);
    picture_unref(p);
    CHECK(s->ops->next(s.get(), &p) == ERR_IO);
    struct {
        const char *from, *to;
    } table[] = {{"W320", "W321"}, {"W320", "W0  "}, {"H180", "H-2 "},  {"F30:1", "F30:0"},
                 {"C420", "C422"}, {"YUV4", "RIFF"}, {"W320", "W9999"}, {"Ip", "It"}};
    for (auto &row : table) {
        INFO(row.to);
        std::string bytes = clip.bytes;
        bytes.replace(bytes.find(row.from), strlen(row.from), row.to);
        FILE *f = fopen(clip.path, "w");
        REQUIRE(f);
        fwrite(bytes.data(), 1, bytes.size(), f);
        fclose(f);
        CHECK(clip_source_open(clip.path) == nullptr);
    }
    CHECK(clip_source_open("/nonexistent/clip") == nullptr);
}
