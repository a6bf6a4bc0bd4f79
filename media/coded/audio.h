// SPDX-License-Identifier: GPL-2.0-or-later
// The format of audio in all of Weir: 48 kHz, two channels interleaved, 16 bits; Opus in packets of
// 20 ms (RFC 7587).
//
// The media time of audio is counted in samples; sample 0 has the media time of video frame 0.
#ifndef WEIR_MEDIA_CODED_AUDIO_H
#define WEIR_MEDIA_CODED_AUDIO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

enum {
    AUDIO_RATE = 48000,
    AUDIO_CHANNELS = 2,
    AUDIO_PACKET = 960,             // samples of each channel in a packet that Weir sends: 20 ms
    AUDIO_AHEAD = 2 * AUDIO_PACKET, // samples of a file that are encoded beyond the picture's time
    AUDIO_PACKET_MAX =
        5760, // max. samples of each channel in an Opus packet: 120 ms (RFC 6716, 2.1.4)
    AUDIO_PACKET_MAX_BYTES = 1000, // fits one RTP packet on every path
};

// How audio of more channels becomes two (ITU-R BS.775): levels in dB, relative to the left and
// right channel, AUDIO_MIX_OFF leaves one out.
struct audio_mix {
    int centre_db;
    int surround_db;
    int lfe_db;
};

enum { AUDIO_MIX_DB = -3, AUDIO_MIX_OFF = -60, AUDIO_MIX_MAX = 12 };

static inline struct audio_mix audio_mix_default(void)
{
    struct audio_mix mix = {AUDIO_MIX_DB, AUDIO_MIX_DB, AUDIO_MIX_OFF};
    return mix;
}

static inline bool audio_mix_is_equal(struct audio_mix a, struct audio_mix b)
{
    return a.centre_db == b.centre_db && a.surround_db == b.surround_db && a.lfe_db == b.lfe_db;
}

static inline bool audio_mix_is_default(struct audio_mix mix)
{
    return audio_mix_is_equal(mix, audio_mix_default());
}

// Converts to samples, rounded to nearest. `t` must be less than INT64_MAX / 48 us from 0.
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
