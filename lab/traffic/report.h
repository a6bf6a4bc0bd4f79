// SPDX-License-Identifier: GPL-2.0-or-later
// The client's figures as JSON lines: one a second,
//
//   {"t":S,"specs":[{"spec":TEXT,"bytes":of this second,"active":connections,"completed":N}]}
//
// and one at the end,
//
//   {"event":"end","t":S,"specs":[{"spec":,"bytes":,"completed":,"failed":,"flows":[bytes,...]}]}
//
// t: seconds since the epoch; all other counts are since the start.
#ifndef WEIR_TRAFFIC_REPORT_H
#define WEIR_TRAFFIC_REPORT_H

#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report_spec {
    const char *text; // borrowed
    int64_t bytes;    // since the start
    int active;
    int64_t completed;
    int64_t failed;
    const int64_t *flows; // bytes of each; borrowed
    int flow_count;
};

struct report;

// Writes to `path`, for `spec_count` specs. NULL: logged.
struct report *traffic_report_open(const char *path, int spec_count);
void traffic_report_second(struct report *r, const struct report_spec *specs, usec_t since_epoch);
void traffic_report_end(struct report *r, const struct report_spec *specs, usec_t since_epoch);
// 0, or ERR_IO: lines are missing (logged). NULL is fine.
int traffic_report_close(struct report *r);

#ifdef __cplusplus
}
#endif
#endif
