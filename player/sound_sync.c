// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/sound_sync.h"

#include <stdlib.h>

#include "common/base/seq.h"
#include "common/wire/rtp.h"
#include "media/sound.h"

void sound_sync_picture(struct sound_sync *s, uint32_t stamp, usec_t media, usec_t arrived)
{
    s->has_picture = true;
    s->stamp = stamp;
    s->media = media;
    s->arrived = arrived;
}

void sound_sync_report(struct sound_sync *s, bool sound, uint64_t ntp, uint32_t stamp)
{
    *(sound ? &s->sound : &s->pictures) = (struct sync_report){true, ntp, stamp};
}

// How far `stamp` is behind `from`.
static usec_t behind(uint32_t stamp, uint32_t from, int rate)
{
    return rtp_usec((int32_t)(stamp - from), rate);
}

// The media time of the sound with this time stamp, as the reports have it.
static usec_t media_told(const struct sound_sync *s, uint32_t stamp)
{
    usec_t sound = wall_of_ntp(s->sound.ntp) + behind(stamp, s->sound.stamp, RTP_OPUS_CLOCK_RATE);
    usec_t picture =
        wall_of_ntp(s->pictures.ntp) + behind(s->stamp, s->pictures.stamp, RTP_CLOCK_RATE);
    return s->media + (sound - picture);
}

bool sound_sync_place(struct sound_sync *s, uint32_t stamp, usec_t arrived, int64_t *position)
{
    if (!s->has_picture)
        return false;
    usec_t by_arrival = s->media + (arrived - s->arrived);
    bool known = s->pictures.told && s->sound.told;
    usec_t told = known ? media_told(s, stamp) : by_arrival;
    known &= llabs(told - by_arrival) <= SOUND_SYNC_ASTRAY;
    usec_t best = known ? told : by_arrival;
    usec_t most = known ? SOUND_SYNC_TOLERANCE : SOUND_SYNC_ASTRAY;
    s->last = s->placed ? seq32_extend(s->last, stamp) : stamp;
    if (!s->placed || llabs(sound_usec(s->last + s->offset) - best) > most) {
        s->last = stamp;
        s->offset = sound_samples(best) - s->last;
    }
    s->placed = true;
    *position = s->last + s->offset;
    return true;
}
