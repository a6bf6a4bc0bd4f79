// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/playout/missed_frames.h"

#include <string.h>

bool missed_frames_add(struct missed_frames *m, int64_t number, usec_t now)
{
    if (m->count == MISSED_FRAMES_MAX)
        return false;
    m->list[m->count++] = (struct missed_frame){.number = number, .at = now};
    return true;
}

enum missed_arrival missed_frames_arrived(struct missed_frames *m, int64_t number)
{
    int i = m->count - 1;
    while (i >= 0 && m->list[i].number != number)
        i--;
    if (i < 0)
        return MISSED_UNKNOWN;
    if (m->list[i].arrived || m->settle_all)
        return MISSED_AGAIN;
    m->list[i].arrived = true;
    m->arrived_count++;
    return MISSED_LATE;
}

void missed_frames_settle_all(struct missed_frames *m)
{
    m->settle_all = m->count > 0;
}

static void take(struct missed_frames *m, int i, int64_t *number)
{
    *number = m->list[i].number;
    m->count--;
    memmove(&m->list[i], &m->list[i + 1], (size_t)(m->count - i) * sizeof(m->list[0]));
}

bool missed_frames_poll(struct missed_frames *m, int64_t *number, bool *late, usec_t now)
{
    for (int i = 0; m->arrived_count > 0 && i < m->count; i++) {
        if (m->list[i].arrived) {
            m->arrived_count--;
            *late = true;
            take(m, i, number);
            return true;
        }
    }
    if (m->count == 0) {
        m->settle_all = false;
        return false;
    }
    if (!m->settle_all && m->count < MISSED_FRAMES_MAX && now < missed_frames_next_timeout(m))
        return false;
    *late = false;
    take(m, 0, number);
    return true;
}

usec_t missed_frames_next_timeout(const struct missed_frames *m)
{
    return m->count > 0 ? m->list[0].at + MISSED_FRAMES_SETTLE : USEC_NEVER;
}
