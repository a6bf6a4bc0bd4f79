// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/path_loss.h"

static usec_t rtt_of(const struct transport_info *info)
{
    return info->rtt_ms > 0 ? (usec_t)(info->rtt_ms * USEC_PER_MSEC) : 0;
}

static usec_t limit_of(const struct transport_info *info)
{
    usec_t limit = usec_max(PATH_LOSS_TIME, rtt_of(info) + PATH_LOSS_TIME / 2);
    return info->unheard_packets < PATH_LOSS_PACKETS ? 2 * limit : limit;
}

static void forget(struct path_loss *p)
{
    p->is_asking = false;
    p->runs_since = USEC_NEVER;
}

void path_loss_init(struct path_loss *p)
{
    *p = (struct path_loss){.runs_since = USEC_NEVER};
    lateness_init(&p->own);
}

void path_loss_begin(struct path_loss *p)
{
    forget(p);
    lateness_set_due(&p->own, USEC_NEVER);
}

enum path_loss_step path_loss_check(struct path_loss *p, const struct transport_info *info,
                                    usec_t now)
{
    bool was_late = lateness_works(&p->own, now) > 0;
    bool is_silent = info->unheard_packets > 0 && info->unheard >= PATH_LOSS_ASK;
    lateness_set_due(&p->own, is_silent ? now + PATH_LOSS_LOOK : USEC_NEVER);
    if (!is_silent || was_late)
        forget(p);
    if (!is_silent)
        return PATH_LOSS_NONE;
    if (!p->is_asking) {
        p->is_asking = true;
        p->asked++;
        return PATH_LOSS_REQUEST;
    }
    bool runs = p->runs_since != USEC_NEVER && now - p->runs_since >= PATH_LOSS_GRACE;
    return runs && info->unheard >= limit_of(info) ? PATH_LOSS_LOST : PATH_LOSS_NONE;
}

usec_t path_loss_next_timeout(const struct path_loss *p)
{
    return p->own.due;
}

void path_loss_responded(struct path_loss *p, int number, usec_t now)
{
    if (p->is_asking && number == p->asked && p->runs_since == USEC_NEVER)
        p->runs_since = now;
}

usec_t path_loss_since(const struct transport_info *info, usec_t now)
{
    // What left a round trip before the last report, and half of one more as it varies.
    return now - info->unheard - rtt_of(info) - rtt_of(info) / 2;
}
