// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and encodes the sound of each picture's time, on a thread of its own; and of a little more,
// unless it is captured: so a viewer has the sound of a picture when the picture comes. A second's
// worth of pictures may wait; what comes on top is left out, and heard as a gap.
#ifndef WEIR_SENDER_SOUND_THREAD_H
#define WEIR_SENDER_SOUND_THREAD_H

#include "media/coded_sound.h"
#include "media/picture.h"
#include "media/sound_source.h"
#include "sender/engine_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sound_thread;

struct sound_thread_events {
    // Both on the thread. A packet, with one reference.
    void (*on_sound)(void *ctx, struct coded_sound *c);
    void (*on_done)(void *ctx); // all of one picture's sound was given
};

// Takes over `source`. NULL: logged.
struct sound_thread *sound_thread_new(struct sound_source *source, struct fps fps, int bitrate_bps,
                                      const struct sound_thread_events *events, void *ctx);
void sound_thread_free(struct sound_thread *t); // stops and joins; NULL is fine
// The sound of the time that `p`, captured at this instant, stands. False: left out.
bool sound_thread_push(struct sound_thread *t, const struct picture *p, usec_t captured);
void sound_thread_stats(struct sound_thread *t, struct engine_sound_stats *out);

#ifdef __cplusplus
}
#endif
#endif
