// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the media time of a third party's audio relative to its video; the packets do not carry
// it.
//
// Audio and video have RTP time stamps of separate clocks. Sender reports relate each clock to a
// common wall clock (RFC 3550, 6.4.1), so:
//
//     media(audio) = media(video) + (instant of the audio - instant of the video)
//
// Before both reports have arrived, or if they are implausible (more than AV_SYNC_ASTRAY from the
// arrival times), audio and video that arrive together are assumed to belong together. The offset
// is kept while its error is within AV_SYNC_TOLERANCE, so that the audio is not interrupted. Pure.
#ifndef WEIR_STREAM_AUDIO_AV_SYNC_H
#define WEIR_STREAM_AUDIO_AV_SYNC_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define AV_SYNC_ASTRAY    (10 * USEC_PER_SEC)
#define AV_SYNC_TOLERANCE (10 * USEC_PER_MSEC)

struct sync_report {
    bool told;
    uint64_t ntp;
    uint32_t stamp;
};

struct av_sync { // all zero to begin with
    int rate;    // of the audio's time stamps, Hz; 0: Opus's
    bool has_picture;
    uint32_t stamp; // RTP time stamp of the last picture
    usec_t media;   // media time of the last picture
    usec_t arrived;
    struct sync_report pictures, audio;
    bool placed;
    int64_t last;   // extended time stamp of the last audio packet
    int64_t offset; // position minus that time stamp, in samples
};

void av_sync_picture(struct av_sync *s, uint32_t stamp, usec_t media, usec_t arrived);
// A sender report arrived: `audio`: of the audio; else of the video.
void av_sync_report(struct av_sync *s, bool audio, uint64_t ntp, uint32_t stamp);
// Writes the position (audio.h) of an audio packet. Returns false if no picture has arrived yet.
bool av_sync_place(struct av_sync *s, uint32_t stamp, usec_t arrived, int64_t *position);

DECLS_END
#endif
