// SPDX-License-Identifier: GPL-2.0-or-later
// The sound of a viewing: packets from the loop, samples to the device's thread, by the pictures'
// clock; and how far both are apart. With a lock for the two threads; only `new` and `free` are for
// one thread alone.
#ifndef WEIR_PLAYER_AUDIO_AUDIO_OUTPUT_H
#define WEIR_PLAYER_AUDIO_AUDIO_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "media/coded/audio.h"
#include "stream/audio/audio_jitter_buffer.h"
#include "stream/playout/media_clock.h"
#include "stream/qoe/av_offset.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_output_config {
    bool headless;
    bool test;  // the sound is the test tone, and the pictures flash with it
    int volume; // percent
};

struct audio_output_figures {
    struct audio_counts counts;
    struct av_offset_figures offset;
    bool by_tone; // the offset is of beeps heard and flashes seen, else by their times
};

struct audio_output;

// NULL: logged. A machine without a device is no failure: its sound is not heard.
struct audio_output *audio_output_new(const struct audio_output_config *config);
void audio_output_free(struct audio_output *p); // NULL is fine
void audio_output_packet(struct audio_output *p, int64_t position, const uint8_t *data, size_t len);
// The pictures' clock; NULL: it stands.
void audio_output_set_clock(struct audio_output *p, const struct media_clock *clock);
// A picture of media time `pts` was shown; `flash`: the test picture's.
void audio_output_shown(struct audio_output *p, usec_t pts, usec_t shown_at, bool flash);
void audio_output_flush(struct audio_output *p); // other media follows; its clock stands
void audio_output_end(struct audio_output *p);   // nothing comes any more
bool audio_output_mute(struct audio_output *p);  // or not any more; returns whether it is muted
uint64_t audio_output_underruns(struct audio_output *p);
void audio_output_read(struct audio_output *p, struct audio_output_figures *out);

#ifdef __cplusplus
}
#endif
#endif
