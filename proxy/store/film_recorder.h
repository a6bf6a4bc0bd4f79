// SPDX-License-Identifier: GPL-2.0-or-later
// Puts the frames and the audio of a session with an origin into the store. It finds each frame's
// place in the film from where PLAY began: the origin's numbers count from there on, and continue
// at a multiple of the plan's period after a seek (stored_feed.h). A group is put when a size has
// all its frames, or all its audio, or when the session is two groups further: then without those
// that are missing. The session is one of the film's flows (store_film_join).
// Frames that contradict the plan are left out. Loop thread only.
#ifndef WEIR_PROXY_STORE_FILM_RECORDER_H
#define WEIR_PROXY_STORE_FILM_RECORDER_H

#include "common/base/decls.h"
#include "media/rtp/depacketiser.h"
#include "proxy/store/store.h"

DECLS_BEGIN

struct film_recorder; // opaque

struct film_recorder *film_recorder_new(struct store_film *film); // holds it. NULL: no memory
void film_recorder_free(struct film_recorder *r);                 // flushes; NULL is fine
// PLAY begins with frame `first`; frame `show` is at `seconds` of the film, which plays at `scale`.
// At another scale than 1 frames are left out, and there is no audio: nothing is recorded, and the
// session brings no group.
void film_recorder_place(struct film_recorder *r, double seconds, double scale, int64_t first,
                         int64_t show);
// A frame, or an audio packet with the media time of its first sample, came. Copies it.
void film_recorder_frame(struct film_recorder *r, const struct received_frame *f);
void film_recorder_audio(struct film_recorder *r, int64_t position, const uint8_t *data,
                         size_t bytes);
// Puts what is not put yet.
void film_recorder_flush(struct film_recorder *r);

DECLS_END
#endif
