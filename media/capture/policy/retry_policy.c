// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/capture/policy/retry_policy.h"

void retry_policy_want(struct retry_policy *l, bool wanted, usec_t now)
{
    if (wanted == l->wanted)
        return;
    *l = (struct retry_policy){.wanted = wanted, .since = now, .retry = now};
}

void retry_policy_opened(struct retry_policy *l, usec_t now)
{
    l->open = true;
    l->since = now;
}

void retry_policy_picture(struct retry_policy *l, usec_t now)
{
    l->failed = false;
    l->has_picture = true;
    l->picture = now;
    l->pause = 0;
}

bool retry_policy_failed(struct retry_policy *l, usec_t now)
{
    bool news = !l->failed;
    l->open = false;
    l->failed = true;
    l->pause = l->pause ? usec_min(2 * l->pause, CAPTURE_MAX_PAUSE) : CAPTURE_FIRST_PAUSE;
    l->retry = now + l->pause;
    return news;
}

usec_t retry_policy_open_at(const struct retry_policy *l)
{
    return l->wanted && !l->open ? l->retry : USEC_NEVER;
}

bool retry_policy_is_silent(const struct retry_policy *l, usec_t now)
{
    usec_t since = l->has_picture ? usec_max(l->picture, l->since) : l->since;
    return l->open && now - since >= CAPTURE_SILENCE;
}

enum capture_view retry_policy_view(const struct retry_policy *l, usec_t now)
{
    if (l->has_picture)
        return now - l->picture < CAPTURE_STAY ? CAPTURE_VIEW_PICTURE : CAPTURE_VIEW_CARD;
    return l->failed || now - l->since >= CAPTURE_STAY ? CAPTURE_VIEW_CARD : CAPTURE_VIEW_NONE;
}
