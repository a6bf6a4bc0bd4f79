// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/media_progress.h"

void media_progress_begin(struct media_progress *m, usec_t now)
{
    m->since = now;
}

enum media_progress_verdict media_progress_check(struct media_progress *m,
                                                 const struct media_progress_facts *f, usec_t now)
{
    usec_t since = now - m->since;
    if (f->pictures && !f->decoded && !f->paused) {
        // Media buffered before the first picture does not show that the stream cannot be decoded.
        usec_t max = MEDIA_PROGRESS_UNDECODABLE + f->buffer_target;
        if (since > max && f->span > max)
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
