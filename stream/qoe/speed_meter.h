// SPDX-License-Identifier: GPL-2.0-or-later
// The playing speed over time: mean (weighted by duration), min and max.
#ifndef WEIR_STREAM_QOE_SPEED_METER_H
#define WEIR_STREAM_QOE_SPEED_METER_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct speed_meter { // all zero to begin with: nothing plays
    bool playing;
    double speed;
    double least;
    double most;
    double media; // seconds of media: the sum of speed x duration
    double time;  // seconds
    usec_t since;
};

// Starts at speed 1; a second call does nothing.
void speed_meter_start(struct speed_meter *m, usec_t now);
// Sets the speed from now on. Ignored before the start.
void speed_meter_set(struct speed_meter *m, double speed, usec_t now);
// These return NaN before the start.
double speed_meter_mean(const struct speed_meter *m, usec_t now);
double speed_meter_least(const struct speed_meter *m);
double speed_meter_most(const struct speed_meter *m);

DECLS_END
#endif
