// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/source/clock_marks.h"

#include <catch2/catch.hpp>

namespace
{
const usec_t SEC = USEC_PER_SEC;

usec_t found(const clock_marks &m, usec_t time)
{
    const clock_mark *mark = clock_marks_find(&m, time);
    return mark ? mark->byte : -1;
}
} // namespace

TEST_CASE("clock_marks: of two parts with the same time stamps the place tells which")
{
    clock_marks m{};
    for (int i = 0; i < 8; i++) // at byte 100 i, one a second; the second part begins at 4 s
        clock_marks_add(&m, {100 * i, i % 4 * SEC, i * SEC});
    CHECK(clock_marks_find(&m, 5 * SEC) == nullptr); // as long as no jump was seen
    m.jumps = true;
    CHECK(found(m, -SEC) == 0);
    CHECK(found(m, 0) == 0);
    CHECK(found(m, SEC - 1) == 0);
    CHECK(found(m, SEC) == 100);
    CHECK(found(m, 4 * SEC - 1) == 300);
    CHECK(found(m, 4 * SEC) == 400);
    CHECK(clock_marks_find(&m, 5 * SEC + 1)->stamp == SEC);
    CHECK(found(m, 100 * SEC) == 700);
    clock_marks_free(&m);
    CHECK(clock_marks_find(&m, 0) == nullptr);
}

TEST_CASE("clock_marks: marks are half a second apart, but each part has one where it begins")
{
    clock_marks m{};
    m.jumps = true;
    for (int i = 0; i < 10; i++)
        clock_marks_add(&m, {i, i * SEC / 10, i * SEC / 10});
    clock_marks_add(&m, {10, 0, SEC}); // another clock
    CHECK(m.count == 3);
    CHECK(found(m, SEC / 2 - 1) == 0);
    CHECK(found(m, SEC / 2) == 5);
    CHECK(found(m, SEC - 1) == 5);
    CHECK(found(m, SEC) == 10);
    clock_marks_free(&m);
}
