// SPDX-License-Identifier: GPL-2.0-or-later
// Which stored group a proxy removes first when it needs room: first all that is beyond the prefix
// of its film, then the prefixes; of each the object that was used least recently, from its end.
// Pure.
#ifndef WEIR_PROXY_POLICY_EVICTION_H
#define WEIR_PROXY_POLICY_EVICTION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct eviction_candidate { // the last stored group of an object
    bool is_prefix;
    usec_t used;   // the object's last use
    int64_t group; // number in the film
};

// Returns true if `a` is removed before `b`.
bool eviction_before(const struct eviction_candidate *a, const struct eviction_candidate *b);

DECLS_END
#endif
