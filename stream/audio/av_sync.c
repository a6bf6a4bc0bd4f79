// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/audio/av_sync.h"

#include <stdlib.h>

#include "common/base/seq.h"
#include "common/wire/rtp.h"
#include "media/coded/audio.h"

void av_sync_picture(struct av_sync *s, uint32_t stamp, usec_t media, usec_t arrived)
{
    s->has_picture = true;
    s->stamp = stamp;
    s->media = media;
    s->arrived = arrived;
}

void av_sync_report(struct av_sync *s, bool audio, uint64_t ntp, uint32_t stamp)
{
    *(audio ? &s->audio : &s->pictures) = (struct sync_report){true, ntp, stamp};
}

static int rate_of(const struct av_sync *s)
{
    return s->rate ? s->rate : RTP_OPUS_CLOCK_RATE;
}

// Returns the last time stamp in samples of 48 kHz.
static int64_t last_samples(const struct av_sync *s)
{
    return s->last * AUDIO_RATE / rate_of(s);
}

// Returns the time from `from` to `stamp`.
static usec_t behind(uint32_t stamp, uint32_t from, int rate)
{
    return rtp_usec((int32_t)(stamp - from), rate);
}

// Returns the media time of audio with this time stamp, computed from the reports.
static usec_t media_told(const struct av_sync *s, uint32_t stamp)
{
    usec_t audio = wall_of_ntp(s->audio.ntp) + behind(stamp, s->audio.stamp, rate_of(s));
    usec_t picture =
        wall_of_ntp(s->pictures.ntp) + behind(s->stamp, s->pictures.stamp, RTP_CLOCK_RATE);
    return s->media + (audio - picture);
}

bool av_sync_place(struct av_sync *s, uint32_t stamp, usec_t arrived, int64_t *position)
{
    if (!s->has_picture)
        return false;
    usec_t by_arrival = s->media + (arrived - s->arrived);
    bool known = s->pictures.told && s->audio.told;
    usec_t told = known ? media_told(s, stamp) : by_arrival;
    known &= llabs(told - by_arrival) <= AV_SYNC_ASTRAY;
    usec_t best = known ? told : by_arrival;
    usec_t most = known ? AV_SYNC_TOLERANCE : AV_SYNC_ASTRAY;
    s->last = s->placed ? seq32_extend(s->last, stamp) : stamp;
    if (!s->placed || llabs(audio_usec(last_samples(s) + s->offset) - best) > most) {
        s->last = stamp;
        s->offset = audio_samples(best) - last_samples(s);
    }
    s->placed = true;
    *position = last_samples(s) + s->offset;
    return true;
}
