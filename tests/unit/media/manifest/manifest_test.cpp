// SPDX-License-Identifier: GPL-2.0-or-later
#include <catch2/catch.hpp>

#include <string>

#include "media/manifest/manifest.h"

TEST_CASE("manifest: a time as RFC 3339 writes it")
{
    const struct {
        usec_t wall;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {951782400 * USEC_PER_SEC, "2000-02-29T00:00:00.000Z"},
        {1700000000 * USEC_PER_SEC + 123999, "2023-11-14T22:13:20.123Z"},
        {4102444799 * USEC_PER_SEC + 999999, "2099-12-31T23:59:59.999Z"},
    };
    for (auto &r : rows) {
        char text[MANIFEST_TIME];
        manifest_time(r.wall, text);
        CHECK(std::string(text) == r.text);
    }
}

TEST_CASE("manifest: the next part")
{
    manifest m{};
    manifest_rendition r{};
    manifest_segment s{};
    m.segment_parts = 4;
    CHECK(manifest_next_part(&m, &r).number == 0); // no segment
    r.segments = &s;
    r.segment_count = 1;
    s.number = 7;
    const struct {
        int parts;
        bool complete;
        int64_t number;
        int part;
    } rows[] = {
        {1, false, 7, 1}, {3, false, 7, 3}, {4, false, 8, 0}, {5, false, 8, 0}, {2, true, 8, 0}};
    for (auto &row : rows) {
        s.part_count = row.parts;
        s.complete = row.complete;
        CHECK(manifest_next_part(&m, &r).number == row.number);
        CHECK(manifest_next_part(&m, &r).part == row.part);
    }
}
