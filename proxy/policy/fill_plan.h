// SPDX-License-Identifier: GPL-2.0-or-later
// Which part of a film a proxy fetches next, for viewers that read the film while it is being
// stored (patching and gleaning: Fiksdal 2003, 4.1). A viewer reads one group after the other.
// Sessions that bring the film now, flows, may bring a group in time: then it is not fetched. Of
// the groups that nothing brings in time, the one that is needed first is next. Pure.
#ifndef WEIR_PROXY_POLICY_FILL_PLAN_H
#define WEIR_PROXY_POLICY_FILL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    FILL_AHEAD = 4, // groups after the one that a viewer reads are looked at
    // Groups behind a flow may still be repaired, written and verified.
    FILL_REPAIRED = 2,
    // A viewer that reads at most so far ahead of a flow goes on as the flow does.
    FILL_NEAR = 1,
};
#define FILL_SETUP USEC_PER_SEC // a session with the origin brings nothing earlier

struct fill_reader {
    int64_t group; // that it needs, one after the other
    usec_t at;     // from when on
};

struct fill_flow {
    int64_t group, end; // it brings `group` now, and ends before `end`
    usec_t each;        // time for a group
};

struct fill_plan {
    const struct fill_reader *readers;
    int reader_count;
    const struct fill_flow *flows;
    int flow_count;
    int64_t groups;    // of the film
    usec_t group_time; // of a group that plays
    usec_t fetch_time; // of a group that is fetched
    bool (*is_missing)(void *ctx, int64_t group);
    void *ctx;
};

// Returns the group from which on the film is to be fetched now; -1: none. *end: the group before
// which that ends, as a flow is there.
int64_t fill_plan_next(const struct fill_plan *p, int64_t *end, usec_t now);
// Returns how many groups a flow that brings `group` now is ahead of the nearest of its readers;
// INT64_MAX: it has none. One that is more than FILL_AHEAD ahead can be ended and begun again.
int64_t fill_plan_ahead(const struct fill_reader *readers, int count, int64_t group);

DECLS_END
#endif
