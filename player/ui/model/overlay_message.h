// SPDX-License-Identifier: GPL-2.0-or-later
// The message over the picture while no new picture is shown: the state and its cause. The last
// picture remains behind it, dimmed.
#ifndef WEIR_PLAYER_UI_MODEL_OVERLAY_MESSAGE_H
#define WEIR_PLAYER_UI_MODEL_OVERLAY_MESSAGE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "stream/outcome/cause.h"
#include "stream/playout/playout.h"

DECLS_BEGIN

enum { OVERLAY_MESSAGE_TEXT = 96, OVERLAY_MESSAGE_CAUSE = 200 };

struct overlay_message {
    char text[OVERLAY_MESSAGE_TEXT]; // empty: pictures are playing, no message
    char cause[OVERLAY_MESSAGE_CAUSE];
    bool retry;  // the viewer may try again at once
    double done; // progress of the wait, 0 .. 1; NaN: unknown
};

enum overlay_message_link {
    LINK_CONNECTING,
    LINK_PLAYING,
    LINK_LOST,
    LINK_TRYING,
    LINK_CHANGING,
    LINK_STOPPED
};

struct overlay_message_facts {
    enum overlay_message_link link;
    const char *host;   // LINK_CONNECTING
    const char *reason; // LINK_LOST, LINK_TRYING: reason of the loss; LINK_STOPPED: why the channel
                        // cannot be opened, empty: the viewer stopped
    bool chooses;       // LINK_STOPPED: the viewer has not chosen a channel of the list yet
    const char *other;  // LINK_CHANGING: the next transport or channel; LINK_STOPPED: the channel
    int tries;
    usec_t next;    // LINK_LOST: time until the next attempt; none is made while paused
    bool moves;     // not LINK_PLAYING: buffered pictures are still playing
    bool described; // the stream is described: pictures will follow or are shown
    bool paused;
    enum playout_mode mode;
    usec_t buffered;        // media in the playout buffer
    usec_t buffer_target;   // buffered media at which playing starts or resumes
    usec_t silence;         // since the last packet; -1: none yet
    usec_t origin_away;     // since the proxy lost its origin; -1: it did not
    usec_t source_away;     // since the server's source sends nothing; -1: it sends
    const char *source_why; // with that: the reason; may be empty
    enum stall_cause cause;
    bool sender_is_slow; // its machine does not keep up with encoding
};

#define OVERLAY_MESSAGE_SILENCE USEC_PER_SEC // a shorter silence is not shown

void overlay_message_make(const struct overlay_message_facts *f, struct overlay_message *out);
// Makes the message at the end of the viewing. `error` NULL: the media ended.
void overlay_message_ended(const char *error, struct overlay_message *out);

DECLS_END
#endif
