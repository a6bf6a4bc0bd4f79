// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/attach_watch.h"

void attach_watch_init(struct attach_watch *w)
{
    *w = (struct attach_watch){.wait = ATTACH_WAIT};
}

void attach_watch_moved(struct attach_watch *w, usec_t now)
{
    w->moved = now;
}

static usec_t due(const struct attach_watch *w, const struct attach_signs *s)
{
    if (w->is_refused)
        return USEC_NEVER;
    if (s->is_gone)
        return w->next;
    if (s->asked == USEC_NEVER)
        return USEC_NEVER;
    usec_t patience = w->moved > s->heard ? ATTACH_PATIENCE_MOVED
                      : s->carries_media  ? ATTACH_PATIENCE_MEDIA
                                          : ATTACH_PATIENCE;
    return usec_max(w->next, usec_max(s->asked, s->heard) + patience);
}

usec_t attach_watch_next_timeout(const struct attach_watch *w, const struct attach_signs *s)
{
    return w->is_trying ? w->since + ATTACH_TRY : due(w, s);
}

enum attach_step attach_watch_step(struct attach_watch *w, const struct attach_signs *s, usec_t now)
{
    if (now < attach_watch_next_timeout(w, s))
        return ATTACH_NOTHING;
    if (w->is_trying)
        return ATTACH_GIVE_UP;
    if (s->heard > w->since) // it was not dead for good
        w->wait = ATTACH_WAIT;
    w->is_trying = true;
    w->since = now;
    return ATTACH_BEGIN;
}

void attach_watch_ended(struct attach_watch *w, int status, usec_t now)
{
    w->is_trying = false;
    if (status == 200) {
        attach_watch_init(w);
        return;
    }
    w->is_refused = status && status != 503;
    w->next = now + w->wait;
    w->wait = usec_min(2 * w->wait, ATTACH_WAIT_MAX);
}

bool attach_watch_is_over(const struct attach_watch *w, usec_t failed, usec_t now)
{
    return w->is_refused || now >= failed + ATTACH_LIMIT;
}
