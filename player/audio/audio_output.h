// SPDX-License-Identifier: GPL-2.0-or-later
// The audio output of a viewing: takes packets from the loop, delivers samples to the device's
// thread by the video's clock, and measures the offset between audio and video. Thread-safe (by a
// lock), except `new` and `free`.
#ifndef WEIR_PLAYER_AUDIO_AUDIO_OUTPUT_H
#define WEIR_PLAYER_AUDIO_AUDIO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"
#include "stream/audio/audio_jitter_buffer.h"
#include "stream/playout/media_clock.h"
#include "stream/qoe/av_offset.h"

DECLS_BEGIN

// Where the audio goes.
struct audio_outlet {
    bool is_virtual; // to no device of the machine: the clock alone takes it
    // Also gets what the device plays, at the device's thread; it is heard about 20 ms later. NULL:
    // none.
    void (*on_samples)(void *ctx, const int16_t *samples, int count);
    void *ctx; // borrowed
};

struct audio_output_config {
    struct audio_outlet outlet;
    bool test;  // the audio is the test tone, and the pictures flash in time with it
    int volume; // percent
};

struct audio_output_stats {
    struct audio_counts counts;
    struct av_offset_figures offset;
    bool by_tone; // `offset` compares heard beeps with shown flashes; otherwise it compares media
                  // times
};

struct audio_output;

// NULL on failure (logged). A machine without an audio device is no failure: no audio is played.
struct audio_output *audio_output_new(const struct audio_output_config *config);
void audio_output_free(struct audio_output *p); // NULL is fine
void audio_output_packet(struct audio_output *p, int64_t position, const uint8_t *data, size_t len);
// Sets the pictures' clock; NULL: it does not run.
void audio_output_set_clock(struct audio_output *p, const struct media_clock *clock);
// A picture of media time `pts` was shown; `flash`: it is a flash of the test picture.
void audio_output_shown(struct audio_output *p, usec_t pts, usec_t shown_at, bool flash);
void audio_output_flush(struct audio_output *p); // other media follows; the clock does not run
void audio_output_end(struct audio_output *p);   // no further packet follows
void audio_output_set_volume(struct audio_output *p, int percent); // 0: muted
uint64_t audio_output_underruns(struct audio_output *p);
void audio_output_read(struct audio_output *p, struct audio_output_stats *out);

DECLS_END
#endif
