// SPDX-License-Identifier: GPL-2.0-or-later
// Whether what a connection receives turns into pictures: a warning when PLAY was answered but no
// packet comes, and the verdict that a stream cannot be decoded. Pure.
#ifndef WEIR_PLAYER_POLICY_MEDIA_PROGRESS_H
#define WEIR_PLAYER_POLICY_MEDIA_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MEDIA_PROGRESS_QUIET       (3 * USEC_PER_SEC)  // without any packet: a warning
#define MEDIA_PROGRESS_UNDECODABLE (10 * USEC_PER_SEC) // of media without any picture: the end

struct media_progress {
    usec_t since; // PLAY was answered
    bool warned;
};

struct media_progress_facts {
    uint64_t packets;     // of video, by this connection
    usec_t span;          // media time from the first packet to the last
    bool pictures;        // the stream has pictures
    bool paused;          // by the viewer
    uint64_t decoded;     // pictures
    usec_t buffer_target; // media that is held back before the first picture
};

enum media_progress_verdict {
    MEDIA_PROGRESS_FINE,
    MEDIA_PROGRESS_NO_PACKET, // once a connection
    MEDIA_PROGRESS_NO_PICTURE,
};

void media_progress_begin(struct media_progress *m, usec_t now); // PLAY was answered
// About once a second.
enum media_progress_verdict media_progress_check(struct media_progress *m,
                                                 const struct media_progress_facts *f, usec_t now);
// At the end. Returns true if pictures were due: it has played for MEDIA_PROGRESS_QUIET.
bool media_progress_pictures_due(usec_t playing_since, bool paused, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
