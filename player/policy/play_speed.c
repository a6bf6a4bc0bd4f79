// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/play_speed.h"

#include <math.h>

#define STEP 0.25

double play_speed_limit(double speed)
{
    return fmin(fmax(round(speed * 100) / 100, PLAY_SPEED_LEAST), PLAY_SPEED_MOST);
}

double play_speed_by(double speed, int steps)
{
    // From between two steps the first one leads to the next of them.
    double at = steps < 0 ? ceil(speed / STEP) : floor(speed / STEP);
    return play_speed_limit((at + steps) * STEP);
}
