// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/eviction.h"

TEST_CASE("eviction: beyond the prefix first, then by use, then from the end")
{
    const struct {
        eviction_candidate a, b;
        bool before;
    } rows[] = {
        {{false, 20, 9}, {true, 10, 1}, true}, // a prefix leaves last, however old
        {{true, 10, 1}, {false, 20, 9}, false},
        {{false, 10, 3}, {false, 20, 9}, true}, // the older use
        {{false, 20, 9}, {false, 10, 3}, false},
        {{true, 10, 1}, {true, 20, 1}, true},   // among prefixes, too
        {{false, 10, 9}, {false, 10, 3}, true}, // of one use: the later group
        {{false, 10, 3}, {false, 10, 9}, false},
        {{false, 10, 3}, {false, 10, 3}, false}, // not before itself
    };
    for (auto &row : rows)
        CHECK(eviction_before(&row.a, &row.b) == row.before);
}
