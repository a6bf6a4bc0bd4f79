// SPDX-License-Identifier: GPL-2.0-or-later
// The audio jitter buffer: packets in, in any order; the samples to be heard at an instant out.
// Positions are media times in samples.
//
// The law. The pictures' media clock says which position is wanted at an instant. While it runs:
//   - sound begins at the wanted position, with a short fade; before the first packet there is
//     silence.
//   - It continues without a seam. When it is more than AUDIO_TOLERANCE ahead of or behind what is
//     wanted - by the clock's speed, or the device's drift - one period is played twice or left out
//     (time_stretch.h): so it stays within about 15 ms.
//   - Beyond AUDIO_JUMP (a skip, a seek) it fades out, and starts again at the wanted position.
//   - What is missing between packets is concealed. When nothing later is there either, that is an
//     underrun: concealed for 60 ms, then silent.
// While it does not run (buffering, a stall, a pause) there is silence, after a short fade.
//
// Bounds: AUDIO_MAX_PACKETS, AUDIO_MAX_BYTES; when full, the one needed last is dropped. A packet
// whose time has passed is dropped, and counted late.
//
// Pure; not thread-safe.
#ifndef WEIR_STREAM_AUDIO_AUDIO_JITTER_BUFFER_H
#define WEIR_STREAM_AUDIO_AUDIO_JITTER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "media/coded/audio.h"
#include "stream/playout/media_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    AUDIO_MAX_PACKETS = 8192,  // 160 s
    AUDIO_MAX_BYTES = 8 << 20, // at 400 kbit/s
    AUDIO_MAX_PULL = AUDIO_RATE / 20,
    AUDIO_TOLERANCE = AUDIO_RATE / 250, // 4 ms
    AUDIO_JUMP = AUDIO_RATE / 10,       // 100 ms
};

// The decoder; as audio_decoder.h has it.
struct audio_decoding {
    int (*samples)(const uint8_t *data, size_t len);
    int (*decode)(void *ctx, const uint8_t *data, size_t len, int16_t *out);
    int (*conceal)(void *ctx, int count, int16_t *out);
    void (*reset)(void *ctx);
};

struct audio_counts {
    uint64_t late;      // packets
    uint64_t refused;   // malformed, doubled, or without room
    uint64_t concealed; // samples heard in the place of missing ones
    uint64_t underruns;
    uint64_t jumps;
    uint64_t spliced; // periods left out or played twice
    uint64_t heard;   // samples, without silence
};

struct audio_jitter_buffer;

struct audio_jitter_buffer *audio_jitter_buffer_new(const struct audio_decoding *decoding,
                                                    void *ctx);
void audio_jitter_buffer_free(struct audio_jitter_buffer *s); // NULL is fine
void audio_jitter_buffer_push(struct audio_jitter_buffer *s, int64_t position, const uint8_t *data,
                              size_t len);
// `clock`: NULL: it does not run.
void audio_jitter_buffer_set_clock(struct audio_jitter_buffer *s, const struct media_clock *clock);
// Drops the held packets, because other media follows; the clock stops.
void audio_jitter_buffer_flush(struct audio_jitter_buffer *s);
// No more packets follow: their absence is no underrun.
void audio_jitter_buffer_end(struct audio_jitter_buffer *s);
// The next `count` samples (at most SOUND_MAX_PULL) for the device, the first of which is heard at
// `at`.
void audio_jitter_buffer_pull(struct audio_jitter_buffer *s, int16_t *out, int count, usec_t at);
// Returns true if audio plays and is not silent.
bool audio_jitter_buffer_is_heard(const struct audio_jitter_buffer *s);
// When the sample of this position was or will be heard, within the last second. Returns false if
// it was not.
bool audio_jitter_buffer_heard_at(const struct audio_jitter_buffer *s, int64_t position,
                                  usec_t *at);
const struct audio_counts *audio_jitter_buffer_counts(const struct audio_jitter_buffer *s);

#ifdef __cplusplus
}
#endif
#endif
