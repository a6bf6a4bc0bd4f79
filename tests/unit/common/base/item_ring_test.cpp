// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/item_ring.h"

#include <catch2/catch.hpp>
#include <vector>

namespace
{

std::vector<int> freed;

void note(void *item)
{
    freed.push_back(*static_cast<int *>(item));
}

} // namespace

TEST_CASE("item ring: first in, first out, across the wrap, up to its capacity")
{
    int items[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    item_ring r;
    REQUIRE(item_ring_init(&r, 3, note));
    CHECK(item_ring_pop(&r) == nullptr);
    int pushed = 0, popped = 0;
    for (; pushed < 3; pushed++)
        CHECK(item_ring_push(&r, &items[pushed]));
    CHECK_FALSE(item_ring_push(&r, &items[9]));
    for (; pushed < 9; pushed++) {
        CHECK(item_ring_pop(&r) == &items[popped++]);
        CHECK(item_ring_push(&r, &items[pushed]));
    }
    CHECK(r.count == 3);
    freed.clear();
    item_ring_clear(&r);
    CHECK(freed == std::vector<int>{6, 7, 8});
    CHECK(r.count == 0);
    CHECK(item_ring_push(&r, &items[9]));
    item_ring_destroy(&r);
    CHECK(freed == std::vector<int>{6, 7, 8, 9});
}
