// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/origin_life.h"

#include <stdio.h>

#include "common/base/log.h"

void origin_life_init(struct origin_life *l, const char *url, usec_t outage)
{
    *l = (struct origin_life){.url = url, .outage = outage};
}

bool origin_life_is_up(const struct origin_life *l)
{
    return l->phase == ORIGIN_PLAYING || l->phase == ORIGIN_PAUSED;
}

usec_t origin_life_away(const struct origin_life *l, usec_t now)
{
    return l->phase == ORIGIN_AWAY || l->phase == ORIGIN_RETURNING ? now - l->away_since : 0;
}

// ---- The session

void origin_life_dropped(struct origin_life *l)
{
    l->connected = l->is_over = false;
}

void origin_life_connecting(struct origin_life *l, enum origin_phase phase, usec_t now)
{
    l->phase = phase;
    l->connected = true;
    l->connected_at = now;
    l->second_at = now + USEC_PER_SEC;
    l->got = false;
    if (phase == ORIGIN_STARTING)
        l->away_since = 0;
}

void origin_life_playing(struct origin_life *l, usec_t now)
{
    if (l->phase == ORIGIN_RETURNING)
        log_info("the origin %s is back after %.1f s", l->url, usec_to_sec(now - l->away_since));
    l->phase = ORIGIN_PLAYING;
}

static void lose(struct origin_life *l, const char *why, usec_t now)
{
    log_warn("the origin %s is lost: %s; trying again for %.0f s", l->url, why,
             usec_to_sec(l->outage));
    snprintf(l->why, sizeof(l->why), "%s", why);
    bool sent_nothing = l->phase == ORIGIN_PLAYING && !l->got && l->away_since;
    l->phase = ORIGIN_AWAY;
    l->retry_at = usec_max(now, l->connected_at + ORIGIN_RETRY);
    if (!sent_nothing)
        l->away_since = now;
}

void origin_life_broke_off(struct origin_life *l, usec_t now)
{
    l->is_over = true;
    lose(l, "it has ended", now);
}

bool origin_life_ended(struct origin_life *l, const char *why, bool wanted, usec_t now)
{
    bool paused = l->phase == ORIGIN_PAUSED || l->phase == ORIGIN_ENDED;
    l->is_over = true;
    if (l->phase == ORIGIN_RETURNING) {
        l->phase = ORIGIN_AWAY;
        l->retry_at = now + ORIGIN_RETRY;
        snprintf(l->why, sizeof(l->why), "%s", why);
    } else if (l->phase == ORIGIN_PLAYING || (paused && wanted)) {
        lose(l, why, now);
        return true;
    } else if (l->phase != ORIGIN_AWAY) { // it broke off before
        l->phase = ORIGIN_IDLE;
    }
    return false;
}

// ---- Time

usec_t origin_life_next(const struct origin_life *l)
{
    usec_t when = l->is_over ? 0 : USEC_NEVER;
    if (l->phase == ORIGIN_AWAY)
        when = usec_min(when, l->retry_at);
    return l->connected ? usec_min(when, l->second_at) : when;
}

bool origin_life_second(struct origin_life *l, usec_t now)
{
    if (!l->connected || now < l->second_at)
        return false;
    l->second_at = now + USEC_PER_SEC;
    return true;
}

enum origin_due origin_life_due(struct origin_life *l, usec_t now)
{
    usec_t away = origin_life_away(l, now);
    bool is_late = away >= l->outage;
    // An attempt that has no answer by then is given up.
    if (!(l->phase == ORIGIN_AWAY && now >= l->retry_at) &&
        !(l->phase == ORIGIN_RETURNING && is_late))
        return ORIGIN_DUE_NOTHING;
    if (is_late) {
        log_warn("the origin %s did not return within %.0f s: the media ends", l->url,
                 usec_to_sec(away));
        return ORIGIN_DUE_END;
    }
    l->retry_at = now + ORIGIN_RETRY;
    return ORIGIN_DUE_ATTEMPT;
}
