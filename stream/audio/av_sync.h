// SPDX-License-Identifier: GPL-2.0-or-later
// The media time of audio relative to the video of a third-party sender, whose packets do not carry
// it.
//
// Both have RTP time stamps of a clock of their own. Sender reports tell one instant of either by
// one wall clock (RFC 3550, 6.4.1), so:
//
//     media(sound) = media(picture) + (instant of the sound - instant of the picture)
//
// Before both reports, or when they are impossible (more than AV_SYNC_ASTRAY from the arrival
// times), audio and video that arrive together are taken to belong together. An offset is kept
// while it is right within AV_SYNC_TOLERANCE, so that the audio continues without seams. Pure.
#ifndef WEIR_STREAM_AUDIO_AV_SYNC_H
#define WEIR_STREAM_AUDIO_AV_SYNC_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AV_SYNC_ASTRAY    (10 * USEC_PER_SEC)
#define AV_SYNC_TOLERANCE (10 * USEC_PER_MSEC)

struct sync_report {
    bool told;
    uint64_t ntp;
    uint32_t stamp;
};

struct av_sync { // all zero to begin with
    bool has_picture;
    uint32_t stamp; // of the last picture
    usec_t media;   // its
    usec_t arrived;
    struct sync_report pictures, audio;
    bool placed;
    int64_t last;   // extended time stamp of the sound that came last
    int64_t offset; // samples: from extended time stamps to positions
};

void av_sync_picture(struct av_sync *s, uint32_t stamp, usec_t media, usec_t arrived);
// A sender report, of the sound or the pictures.
void av_sync_report(struct av_sync *s, bool audio, uint64_t ntp, uint32_t stamp);
// The position (audio.h) of a packet of sound. False: there is no picture yet to go by.
bool av_sync_place(struct av_sync *s, uint32_t stamp, usec_t arrived, int64_t *position);

#ifdef __cplusplus
}
#endif
#endif
