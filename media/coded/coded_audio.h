// SPDX-License-Identifier: GPL-2.0-or-later
// One packet of coded audio, which all viewers of a stream share: Opus, or the RTP payload of
// another codec. Reference-counted.
#ifndef WEIR_MEDIA_CODED_CODED_AUDIO_H
#define WEIR_MEDIA_CODED_CODED_AUDIO_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"

DECLS_BEGIN

struct coded_audio {
    int references;      // use coded_audio_ref and coded_audio_unref
    int64_t position;    // media time of the first sample that a decoder outputs for the packet
    usec_t captured;     // capture time of that sample, on the sender's monotonic clock
    usec_t capture_wall; // capture time of that sample, on the wall clock
    int track;           // of the media's audio tracks, from 0
    bool marker;         // of its RTP packet; never set for Opus
    size_t bytes;
    uint8_t data[AUDIO_PACKET_MAX_BYTES];
};

struct coded_audio *coded_audio_new(void); // one reference, other members zero; NULL: no memory
struct coded_audio *coded_audio_ref(struct coded_audio *c);
void coded_audio_unref(struct coded_audio *c); // NULL is fine; any thread

DECLS_END
#endif
