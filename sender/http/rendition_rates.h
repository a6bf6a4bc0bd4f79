// SPDX-License-Identifier: GPL-2.0-or-later
// The bit rates that playlists state (RFC 8216bis, 4.4.6.2: BANDWIDTH, AVERAGE-BANDWIDTH).
//
// The encoder keeps a level's rate within 9.5 % over any 2 s (layer_rate.h), Opus and AAC theirs
// within 10 %. The files add 16 bytes a sample (trun) and 200 bytes a part (its other boxes).
#ifndef WEIR_SENDER_HTTP_RENDITION_RATES_H
#define WEIR_SENDER_HTTP_RENDITION_RATES_H

#include "media/manifest/manifest.h"

static inline void rendition_rates(struct manifest_rendition *r, int bitrate_bps,
                                   double samples_per_sec)
{
    double boxes = 8 * (16 * samples_per_sec + 200 * 2);
    r->average_bps = (int)(bitrate_bps + boxes);
    r->bandwidth_bps = (int)(1.1 * bitrate_bps + boxes);
}

static inline void rendition_rates_video(struct manifest_rendition *r, int bitrate_bps)
{
    rendition_rates(r, bitrate_bps, r->frame_rate);
}

static inline void rendition_rates_audio(struct manifest_rendition *r, int bitrate_bps,
                                         int samples_of_packet)
{
    rendition_rates(r, bitrate_bps, (double)AUDIO_RATE / samples_of_packet);
}

#endif
