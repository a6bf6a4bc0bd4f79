// SPDX-License-Identifier: GPL-2.0-or-later
// How much later than the pictures' clock says audio is played, so that it has arrived when the
// device takes it. A packet holds 20 ms, so it leaves its encoder later than the picture of its
// first sample, and the device takes audio AUDIO_DELAY_AHEAD before it is heard: audio needs more
// of a wait than pictures. With the offset of a packet = its arrival - its media time, and the line
// of the clock = now - the media time due now,
//
//     delay = max of the offsets over the last 5 to 10 s + AUDIO_DELAY_AHEAD - line,
//
// within 0 and AUDIO_DELAY_MOST, at which lips and voice still seem to be together (ITU-R BT.1359
// says 45 ms early to 125 ms late is not noticed). It changes if it is too short, or by
// AUDIO_DELAY_STEP too long. Audio that needs more than AUDIO_DELAY_MOST makes the pictures wait:
// their line must be at least
//
//     base + jitter of the offsets (arrival_jitter.h) + AUDIO_DELAY_AHEAD - AUDIO_DELAY_MOST.
//
// Pure.
#ifndef WEIR_STREAM_AUDIO_AUDIO_DELAY_H
#define WEIR_STREAM_AUDIO_AUDIO_DELAY_H

#include "common/base/decls.h"
#include "stream/latency/arrival_jitter.h"
#include "stream/playout/media_clock.h"

DECLS_BEGIN

#define AUDIO_DELAY_AHEAD  (35 * USEC_PER_MSEC) // 20 ms of the device, 10 of a request, a margin
#define AUDIO_DELAY_MOST   (30 * USEC_PER_MSEC)
#define AUDIO_DELAY_STEP   (8 * USEC_PER_MSEC)
#define AUDIO_DELAY_WINDOW (5 * USEC_PER_SEC)

struct audio_delay { // audio_delay.c alone reads and writes the fields
    struct arrival_jitter offsets;
    struct windowed_min latest; // of the negated offsets
    usec_t arrived;             // the last packet; USEC_NEVER: none did
    usec_t delay;
    struct media_clock clock;
};

void audio_delay_init(struct audio_delay *d);
// A packet arrived whose first sample has this media time.
void audio_delay_packet(struct audio_delay *d, usec_t media, usec_t arrived);
// Returns the clock that audio follows if pictures follow `clock`; borrowed from `d`.
const struct media_clock *audio_delay_follow(struct audio_delay *d,
                                             const struct media_clock *clock);
// The least line of the pictures' clock that audio needs; USEC_NEVER: not known.
usec_t audio_delay_line(struct audio_delay *d);

DECLS_END
#endif
