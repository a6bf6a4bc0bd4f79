// SPDX-License-Identifier: GPL-2.0-or-later
// The small sign in the middle of the picture after a pause begins or ends. It stands for a moment,
// then fades.
#ifndef WEIR_PLAYER_UI_MODEL_PAUSE_SIGN_H
#define WEIR_PLAYER_UI_MODEL_PAUSE_SIGN_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define PAUSE_SIGN_STANDS (300 * USEC_PER_MSEC)
#define PAUSE_SIGN_FADES  (700 * USEC_PER_MSEC)

struct pause_sign {
    bool paused;  // two bars; otherwise a triangle
    usec_t since; // USEC_NEVER: there was no change yet
};

void pause_sign_init(struct pause_sign *s);
// Call with each state. A change shows the sign.
void pause_sign_set(struct pause_sign *s, bool paused, usec_t now);
// Returns the opacity, 0 .. 1. At 0 nothing is drawn.
double pause_sign_opacity(const struct pause_sign *s, usec_t now);

DECLS_END
#endif
