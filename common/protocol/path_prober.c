// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/path_prober.h"

static void probe(struct path_prober *p, usec_t now)
{
    p->heard[0] = p->heard[1] = false;
    p->until = now + PATH_PROBER_TRY;
    p->next = now;
}

// The next silence counts from now on, and takes longer.
static void end_probe(struct path_prober *p, usec_t now)
{
    p->next = USEC_NEVER;
    p->since = now;
    if (p->open)
        p->limit = usec_min(2 * p->limit, PATH_PROBER_MAX_SILENCE);
}

void path_prober_begin(struct path_prober *p, usec_t now)
{
    *p = (struct path_prober){.since = now, .limit = PATH_PROBER_SILENCE};
    probe(p, now);
}

usec_t path_prober_next_timeout(const struct path_prober *p)
{
    if (p->next != USEC_NEVER)
        return p->next;
    return p->due && p->open ? usec_min(p->keep, p->since + p->limit) : USEC_NEVER;
}

int path_prober_on_timeout(struct path_prober *p, usec_t now)
{
    if (now < path_prober_next_timeout(p))
        return 0;
    p->keep = now + PATH_PROBER_KEEP;
    if (p->next == USEC_NEVER && p->since + p->limit > now)
        return 1;
    if (p->next == USEC_NEVER)
        probe(p, now);
    p->next = now + PATH_PROBER_REPEAT;
    if (now >= p->until)
        end_probe(p, now);
    return (p->heard[0] ? 0 : 1) | (p->heard[1] ? 0 : 2);
}

bool path_prober_heard(struct path_prober *p, int which, bool is_media, usec_t now)
{
    p->heard[which] = true;
    bool opens = !p->open && p->heard[0] && p->heard[1];
    if (p->next != USEC_NEVER && p->heard[0] && p->heard[1])
        end_probe(p, now);
    p->open |= opens;
    if (is_media) {
        p->since = now;
        p->limit = PATH_PROBER_SILENCE;
    }
    return opens;
}

void path_prober_set_due(struct path_prober *p, bool due, usec_t now)
{
    if (due && !p->due)
        p->since = now;
    p->due = due;
}
