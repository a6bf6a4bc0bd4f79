// SPDX-License-Identifier: GPL-2.0-or-later
// The audio jitter buffer: takes packets in any order and returns the samples to play at a given
// time. A position is a media time in samples.
//
// The law. The video's media clock gives the position to play at a given time. While it runs:
//   - Audio starts at that position, with a short fade-in; before the first packet there is
//     silence.
//   - Audio continues without interruption. If the clock's speed or the device's drift moves it
//     more than AUDIO_TOLERANCE from the clock's position in silence, or AUDIO_TOLERANCE_HEARD
//     otherwise, one period is played twice or removed (time_stretch.h): silence is stretched
//     first. So audio stays within about 15 ms of the clock. At the speeds of a film that is
//     played faster or slower, this is done every 10 ms: so audio keeps its pitch.
//   - If it is more than AUDIO_JUMP away (a skip, a seek), audio fades out and starts again at the
//     clock's position.
//   - Missing audio between packets is concealed. If no later packet is there either (an underrun),
//     audio is concealed for 60 ms and then silent. It waits in an underrun until it is AUDIO_WAIT
//     behind the clock: what is concealed meanwhile takes none of the media's time, unless the
//     packet that was waited for turns out to be lost. Of a packet that is later, the rest is
//     played.
//   - Audio fades to and from silence, and from concealed samples to a packet's rest.
// While the clock does not run (buffering, a stall, a pause) there is silence, after a short
// fade-out.
//
// Bounds: AUDIO_MAX_PACKETS, AUDIO_MAX_BYTES. A full buffer drops the packet with the latest
// position. A packet whose playout time has passed is dropped and counted as late.
//
// Pure; not thread-safe.
#ifndef WEIR_STREAM_AUDIO_AUDIO_JITTER_BUFFER_H
#define WEIR_STREAM_AUDIO_AUDIO_JITTER_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "media/coded/audio.h"
#include "stream/playout/media_clock.h"

DECLS_BEGIN

enum {
    AUDIO_MAX_PACKETS = 8192,  // 160 s of 20 ms packets
    AUDIO_MAX_BYTES = 8 << 20, // 160 s at 400 kbit/s
    AUDIO_MAX_PULL = AUDIO_RATE / 20,
    AUDIO_TOLERANCE = AUDIO_RATE / 250,       // 4 ms from the clock's position
    AUDIO_TOLERANCE_HEARD = AUDIO_RATE / 125, // 8 ms
    AUDIO_SILENCE = 330, // peak of a sample that counts as silence: -40 dB of the full scale
    AUDIO_WAIT = AUDIO_RATE / 25, // 40 ms
    AUDIO_JUMP = AUDIO_RATE / 10, // 100 ms from the clock's position
};

// The decoder's functions; audio_decoder.h describes them.
struct audio_decoding {
    int (*samples)(const uint8_t *data, size_t len);
    int (*decode)(void *ctx, const uint8_t *data, size_t len, int16_t *out);
    int (*conceal)(void *ctx, int count, int16_t *out);
    void (*reset)(void *ctx);
};

struct audio_counts {
    uint64_t late;      // packets
    uint64_t refused;   // packets that were malformed, duplicate, or found no room
    uint64_t concealed; // samples played in place of missing ones
    uint64_t underruns;
    uint64_t jumps;
    uint64_t spliced; // periods removed or played twice
    uint64_t heard;   // samples played, without silence
};

struct audio_jitter_buffer;

struct audio_jitter_buffer *audio_jitter_buffer_new(const struct audio_decoding *decoding,
                                                    void *ctx);
void audio_jitter_buffer_free(struct audio_jitter_buffer *s); // NULL is fine
void audio_jitter_buffer_push(struct audio_jitter_buffer *s, int64_t position, const uint8_t *data,
                              size_t len);
// `clock`: NULL: the clock does not run.
void audio_jitter_buffer_set_clock(struct audio_jitter_buffer *s, const struct media_clock *clock);
// Drops the buffered packets, because other media follows; the clock stops.
void audio_jitter_buffer_flush(struct audio_jitter_buffer *s);
// No more packets follow: their absence is no underrun.
void audio_jitter_buffer_end(struct audio_jitter_buffer *s);
// Writes the next `count` samples (at most AUDIO_MAX_PULL) for the device, of which the first is
// played at `at`.
void audio_jitter_buffer_pull(struct audio_jitter_buffer *s, int16_t *out, int count, usec_t at);
// Returns true if audio plays and is not silent.
bool audio_jitter_buffer_is_heard(const struct audio_jitter_buffer *s);
// Writes when the sample at this position was or will be played, if that is within the last second.
// Returns false if it is not known.
bool audio_jitter_buffer_heard_at(const struct audio_jitter_buffer *s, int64_t position,
                                  usec_t *at);
const struct audio_counts *audio_jitter_buffer_counts(const struct audio_jitter_buffer *s);

DECLS_END
#endif
