// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/path_mover.h"

static void wait(struct path_mover *m, usec_t least, usec_t now)
{
    m->state = PATH_WAITING;
    m->wait = usec_max(m->wait, least);
    m->due = now + m->wait;
    m->wait = usec_min(2 * m->wait, PATH_MOVER_MAX_WAIT);
}

void path_mover_begin(struct path_mover *m, usec_t now)
{
    *m = (struct path_mover){.state = PATH_WAITING, .due = now};
}

usec_t path_mover_next_timeout(const struct path_mover *m)
{
    return m->state == PATH_NOT_OFFERED || m->state == PATH_BESIDE ? USEC_NEVER : m->due;
}

bool path_mover_on_timeout(struct path_mover *m, usec_t now)
{
    if (now < path_mover_next_timeout(m))
        return false;
    if (m->state != PATH_WAITING) {
        wait(m, PATH_MOVER_FAILED, now);
        return false;
    }
    m->state = PATH_TRYING;
    m->due = now + PATH_MOVER_TRY;
    return true;
}

bool path_mover_validated(struct path_mover *m, usec_t now)
{
    if (m->state != PATH_TRYING)
        return false;
    m->state = PATH_REQUESTED;
    m->due = now + PATH_MOVER_TRY;
    return true;
}

void path_mover_refused(struct path_mover *m, usec_t now)
{
    if (m->state == PATH_REQUESTED)
        wait(m, PATH_MOVER_FAILED, now);
}

void path_mover_moved(struct path_mover *m, bool beside, usec_t now)
{
    if (m->state == PATH_NOT_OFFERED || beside == (m->state == PATH_BESIDE))
        return;
    if (beside) {
        m->state = PATH_BESIDE;
        m->due = now;
        return;
    }
    if (now - m->due >= PATH_MOVER_STAY)
        m->wait = 0;
    wait(m, PATH_MOVER_WAIT, now);
}
