// SPDX-License-Identifier: GPL-2.0-or-later
// Detects whether received media becomes pictures: a warning if PLAY was answered but no packet
// arrives, and an end if the stream cannot be decoded. A lower level counts anew: a network that
// lets no frame of one level through whole may let those of the next one through. Pure.
#ifndef WEIR_PLAYER_POLICY_MEDIA_PROGRESS_H
#define WEIR_PLAYER_POLICY_MEDIA_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define MEDIA_PROGRESS_QUIET       (3 * USEC_PER_SEC)  // time without any packet until the warning
#define MEDIA_PROGRESS_UNDECODABLE (10 * USEC_PER_SEC) // media without any picture until the end

struct media_progress {
    usec_t since; // PLAY was answered
    bool warned;
    int level;            // lowest level that was requested
    usec_t level_since;   // when that was
    usec_t span_at_level; // media time of the packets up to then
};

struct media_progress_facts {
    uint64_t packets;     // video packets of this connection
    usec_t span;          // media time from the first packet to the last
    bool pictures;        // the stream has pictures
    bool paused;          // true while the viewer has paused
    uint64_t decoded;     // number of shown pictures
    usec_t buffer_target; // media that is buffered before the first picture
    int level;            // requested now; -1: none
};

enum media_progress_verdict {
    MEDIA_PROGRESS_FINE,
    MEDIA_PROGRESS_NO_PACKET, // returned at most once per connection
    MEDIA_PROGRESS_NO_PICTURE,
};

void media_progress_begin(struct media_progress *m, usec_t now); // PLAY was answered
// Call about once a second.
enum media_progress_verdict media_progress_check(struct media_progress *m,
                                                 const struct media_progress_facts *f, usec_t now);
// Call at the end. Returns true if a picture was due: the connection has played for
// MEDIA_PROGRESS_QUIET.
bool media_progress_pictures_due(usec_t playing_since, bool paused, usec_t now);

DECLS_END
#endif
