// SPDX-License-Identifier: GPL-2.0-or-later
// The feed of one viewer of live media whose past is kept: a sink of that media that is also a
// media_feed. In the present it hands on what comes. In the past it delivers the same frames and
// audio later, all by the same delay: to the viewer, this is live media that was captured just now.
// So every viewer has a pace of its own, and needs no other buffer than in the present.
//
// What memory does not have is read from the recording, if there is one (past_reader.h): the
// largest size. At its end the viewer goes on in the present.
//
// A seek begins at the key frame at or before its target (RFC 7826, 18.47: the policy RAP). If
// memory no longer has what comes next, it goes on with the oldest that there is.
//
// While it is in the past, the viewer still counts as one of the present: what it watches is
// encoded, and becomes the past.
//
// Numbers are never reused, and their pattern stays (number_shift.h): they continue from the past
// to the present and back. Loop thread only.
#ifndef WEIR_SERVER_REWIND_REWIND_FEED_H
#define WEIR_SERVER_REWIND_REWIND_FEED_H

#include "common/base/decls.h"
#include "server/rewind/policy/past_ring.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

struct rewind_feed_config {
    struct stream_media *media;    // borrowed: the live media
    const struct past_ring *ring;  // borrowed
    usec_t span;                   // how far the viewer can go back in memory
    const char *record;            // borrowed: the names of the recording; NULL: none
    bool is_passed_on;             // rewind_media.h
    struct media_feed_config feed; // of the viewer
};

// NULL: no memory.
struct media_feed *rewind_feed_new(const struct rewind_feed_config *config);

DECLS_END
#endif
