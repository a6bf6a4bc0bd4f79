// SPDX-License-Identifier: GPL-2.0-or-later
// A clock that stands still while the viewer pauses. It is asked for the present only; differences
// of what it says are times without the pauses. Pure.
#ifndef WEIR_PLAYER_PAUSE_CLOCK_H
#define WEIR_PLAYER_PAUSE_CLOCK_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pause_clock { // all zero to begin with: nobody pauses
    bool paused;
    usec_t since;
    usec_t total; // without the open pause
};

bool pause_clock_set(struct pause_clock *c, bool paused, usec_t now); // true: it was not so already
usec_t pause_clock_read(const struct pause_clock *c, usec_t now);
// Since the clock read `since`, which is not in the future.
double pause_clock_seconds(const struct pause_clock *c, usec_t since, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
