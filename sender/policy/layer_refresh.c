// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/layer_refresh.h"

int layer_refresh_size(struct layer_refresh *r, int sizes, usec_t now)
{
    if (!r->requested || now - r->at >= LAYER_REFRESH_GAP)
        r->since = now;
    r->requested = true;
    r->at = now;
    return sizes > 1 && now - r->since < LAYER_REFRESH_PATIENCE ? 1 : 0;
}
