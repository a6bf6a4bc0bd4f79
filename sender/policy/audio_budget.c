// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/audio_budget.h"

bool audio_budget_is_open(struct audio_budget *b, usec_t now)
{
    usec_t since = b->begun ? usec_min(now - b->at, AUDIO_BUDGET_BURST) : AUDIO_BUDGET_BURST;
    b->begun = true;
    b->at = now;
    b->left = usec_min(b->left + since * AUDIO_BUDGET_SPEED, AUDIO_BUDGET_BURST);
    return b->left > 0;
}

void audio_budget_take(struct audio_budget *b, usec_t duration)
{
    b->left -= duration;
}
