// SPDX-License-Identifier: GPL-2.0-or-later
// How fast a film is played, as the viewer chooses: all pictures, and the audio in its pitch. Fast
// forward and rewind are scales (seek.h). Pure.
#ifndef WEIR_PLAYER_POLICY_PLAY_SPEED_H
#define WEIR_PLAYER_POLICY_PLAY_SPEED_H

#include "common/base/decls.h"

DECLS_BEGIN

#define PLAY_SPEED_LEAST 0.5
#define PLAY_SPEED_MOST  2.0

// Returns the speed `steps` above `speed` (< 0: below), of .5, .75, 1, 1.25, 1.5, 1.75 and 2.
double play_speed_by(double speed, int steps);
// Returns the nearest speed within the limits, in hundredths.
double play_speed_limit(double speed);

DECLS_END
#endif
