// SPDX-License-Identifier: GPL-2.0-or-later
// For how long a server that should send media has sent none, whatever else it says: RTSP answers
// and RTCP keep a connection alive, but show nothing. Counted is media packets alone. Pure.
#ifndef WEIR_PLAYER_POLICY_MEDIA_SILENCE_H
#define WEIR_PLAYER_POLICY_MEDIA_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct media_silence {
    uint64_t packets; // as counted last
    usec_t since;     // media came, or none was due
    bool due;         // at the last look
    bool received;    // media came since media_silence_begin
};

// PLAY was answered: from now on media is due. `packets`: of media so far, by this connection.
void media_silence_begin(struct media_silence *s, uint64_t packets, usec_t now);
// About once a second. `due`: the server should send, so not in a pause and not after the media's
// end. Returns for how long media has been missing.
usec_t media_silence_look(struct media_silence *s, uint64_t packets, bool due, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
