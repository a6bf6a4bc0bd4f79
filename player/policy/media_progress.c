// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/media_progress.h"

#include <limits.h>

void media_progress_begin(struct media_progress *m, usec_t now)
{
    m->since = m->level_since = now;
    m->level = INT_MAX;
    m->span_at_level = 0;
}

enum media_progress_verdict media_progress_check(struct media_progress *m,
                                                 const struct media_progress_facts *f, usec_t now)
{
    usec_t since = now - m->since;
    if (f->level < m->level) {
        bool first = m->level == INT_MAX;
        m->level = f->level;
        m->level_since = first ? m->since : now;
        m->span_at_level = first ? 0 : f->span;
    }
    if (f->pictures && !f->decoded && !f->paused) {
        // Media buffered before the first picture does not show that the stream cannot be decoded.
        usec_t max = MEDIA_PROGRESS_UNDECODABLE + f->buffer_target;
        if (now - m->level_since > max && f->span - m->span_at_level > max)
            return MEDIA_PROGRESS_NO_PICTURE;
    }
    if (f->packets || since <= MEDIA_PROGRESS_QUIET || m->warned)
        return MEDIA_PROGRESS_FINE;
    m->warned = true;
    return MEDIA_PROGRESS_NO_PACKET;
}

bool media_progress_pictures_due(usec_t playing_since, bool paused, usec_t now)
{
    return !paused && now - playing_since > MEDIA_PROGRESS_QUIET;
}
