// SPDX-License-Identifier: GPL-2.0-or-later
// A clock that stops while the viewer pauses. Read it for the present only; the difference of two
// readings is a duration without the pauses. Pure.
#ifndef WEIR_STREAM_QOE_ACTIVE_TIME_H
#define WEIR_STREAM_QOE_ACTIVE_TIME_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct active_time { // all zero at first: not paused
    bool paused;
    usec_t since;
    usec_t total; // total of the finished pauses
};

bool active_time_set(struct active_time *c, bool paused,
                     usec_t now); // returns true if `paused` changed
usec_t active_time_read(const struct active_time *c, usec_t now);
// Active seconds since the reading `since`, which is not in the future.
double active_time_seconds(const struct active_time *c, usec_t since, usec_t now);

DECLS_END
#endif
