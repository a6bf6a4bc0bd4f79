// SPDX-License-Identifier: GPL-2.0-or-later
// Sound as Weir handles it everywhere: 48 kHz, two channels interleaved, 16 bits; Opus in packets
// of 20 ms (RFC 7587).
//
// Media time of sound is counted in samples from that of the pictures' frame 0.
#ifndef WEIR_MEDIA_CODED_AUDIO_H
#define WEIR_MEDIA_CODED_AUDIO_H

#include <stdint.h>

#include "common/base/usec.h"

enum {
    AUDIO_RATE = 48000,
    AUDIO_CHANNELS = 2,
    AUDIO_PACKET = 960,            // samples of each channel in a packet of ours
    AUDIO_PACKET_MAX = 5760,       // and in any (RFC 6716, 2.1.4: 120 ms)
    AUDIO_PACKET_MAX_BYTES = 1000, // fits one RTP packet on every path
};

// To the nearest; not for times near the ends of the range.
static inline int64_t audio_samples(usec_t t)
{
    int64_t scaled = t * (AUDIO_RATE / 1000) + 500;
    return scaled / 1000 - (scaled % 1000 < 0);
}

static inline usec_t audio_usec(int64_t samples)
{
    int64_t scaled = samples * 1000;
    int64_t rate = AUDIO_RATE / 1000;
    return scaled / rate - (scaled % rate < 0);
}

#endif
