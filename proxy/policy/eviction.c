// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/eviction.h"

bool eviction_before(const struct eviction_candidate *a, const struct eviction_candidate *b)
{
    if (a->is_prefix != b->is_prefix)
        return b->is_prefix;
    if (a->used != b->used)
        return a->used < b->used;
    return a->group > b->group;
}
