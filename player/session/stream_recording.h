// SPDX-License-Identifier: GPL-2.0-or-later
// Records what a viewing receives, as it is received (recording.h): each stream in a file of its
// own. Frames wait STREAM_RECORDING_HOLD for earlier ones that are repaired. A stream without H.264
// is not recorded. Loop thread only; after that has ended, the main thread.
#ifndef WEIR_PLAYER_SESSION_STREAM_RECORDING_H
#define WEIR_PLAYER_SESSION_STREAM_RECORDING_H

#include "client/receive/audio_receiver.h"
#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum { STREAM_RECORDING_HOLD = 300 * 1000 };    // us
#define STREAM_RECORDING_END (2 * USEC_PER_SEC) // max. wait for the disk at the end

struct stream_recording;

struct stream_recording *stream_recording_new(const char *file); // record_name.h; NULL: no memory
// Writes what is held; no stream is recorded after it. Returns 0, or ERR_IO: something was not
// recorded (logged). NULL is fine.
int stream_recording_finish(struct stream_recording *s, usec_t now);
void stream_recording_free(struct stream_recording *s, usec_t now); // finishes it; NULL is fine

// Another stream begins. `sdp` is borrowed until the next call or stream_recording_close.
void stream_recording_open(struct stream_recording *s, const struct sdp *sdp, bool has_audio,
                           usec_t now);
// The stream has ended; nothing happens if another one was opened since.
void stream_recording_close(struct stream_recording *s, const struct sdp *sdp, usec_t now);
// Copies a frame that arrived. The caller then calls stream_recording_push; `pts`: the media time
// of the frame, which only a third party's packets tell. NULL is fine.
void stream_recording_take(struct stream_recording *s, const struct received_frame *f);
// Returns true if the recording cannot go on without a key frame.
bool stream_recording_push(struct stream_recording *s, usec_t pts, usec_t now);
void stream_recording_audio(struct stream_recording *s, const struct received_audio *a);

DECLS_END
#endif
