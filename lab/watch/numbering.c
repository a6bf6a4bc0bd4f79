// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/watch/numbering.h"

static int64_t due(const struct numbering *n, usec_t now)
{
    int64_t frames = (now - n->read_at) * n->fps.num / (n->fps.den * USEC_PER_SEC);
    return n->read + frames > n->latest ? n->read + frames : n->latest + 1;
}

int64_t numbering_next(struct numbering *n, int64_t number, usec_t now)
{
    if (number < 0) {
        n->unreadable++;
        if (n->read < 0)
            return NUMBERING_NOTHING_NEW;
        return n->latest = due(n, now);
    }
    n->read = number;
    n->read_at = now;
    if (number <= n->latest) {
        n->repeated++;
        return NUMBERING_NOTHING_NEW;
    }
    return n->latest = number;
}
