// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/run_limit.h"

#include <stddef.h>

enum {
    AUDIO_PER_SECOND = 400, // Opus packets of 2.5 ms, the shortest
    MORE_AUDIO = 1000,      // a packet may begin before the film, or be of 0 samples
    TIMES_THE_RATE = 8,     // rates are those of an encoder, which exceeds them for seconds
    MORE_BYTES = 4 << 20,   // a short film is all key frame
    TIMES_THE_DURATION = 2, // what waits at the origin comes later
};
#define MORE_TIME (60 * USEC_PER_SEC) // to connect, and to repair the end

struct run_limit run_limit_of(int64_t frames, usec_t duration, double bps, double speed, usec_t now)
{
    double seconds = usec_to_sec(duration);
    return (struct run_limit){.frames = (uint64_t)frames,
                              .audio = (uint64_t)(seconds * AUDIO_PER_SECOND) + MORE_AUDIO,
                              .bytes = (uint64_t)(TIMES_THE_RATE * seconds * bps / 8) + MORE_BYTES,
                              .until = now + MORE_TIME +
                                       (usec_t)((double)(TIMES_THE_DURATION * duration) / speed)};
}

const char *run_limit_exceeded(const struct run_limit *l, const struct run_sent *s, usec_t now)
{
    return s->frames > l->frames ? "the origin sends more frames than the film has"
           : s->audio > l->audio ? "the origin sends more audio than the film has"
           : s->bytes > l->bytes ? "the origin sends far more bytes than it announced"
           : now > l->until      ? "the origin sends for longer than the film lasts"
                                 : NULL;
}
