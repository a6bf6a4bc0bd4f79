// SPDX-License-Identifier: GPL-2.0-or-later
// Measures for how long a server that should send media has sent none. RTSP responses and RTCP do
// not count: they keep a connection alive, but show no media. Pure.
#ifndef WEIR_PLAYER_POLICY_MEDIA_SILENCE_H
#define WEIR_PLAYER_POLICY_MEDIA_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct media_silence {
    uint64_t packets; // as counted last
    usec_t since;     // media came, or none was due
    bool due;         // at the last look
    bool received;    // media came since media_silence_begin
};

// PLAY was answered: media is due from now on. `packets`: number of media packets of this
// connection.
void media_silence_begin(struct media_silence *s, uint64_t packets, usec_t now);
// Call about once a second. `due`: the server should send; false during a pause and after the
// media's end. Returns for how long media has been missing.
usec_t media_silence_look(struct media_silence *s, uint64_t packets, bool due, usec_t now);

DECLS_END
#endif
