// SPDX-License-Identifier: GPL-2.0-or-later
// The audio of a viewing: plays the packets of successive connections, with one output for all of
// them, and keeps its stats. Without audio every function does nothing. Loop thread only, except
// audio_session_read and audio_session_free.
#ifndef WEIR_PLAYER_SESSION_AUDIO_SESSION_H
#define WEIR_PLAYER_SESSION_AUDIO_SESSION_H

#include "client/receive/stream_receiver.h"
#include "common/base/decls.h"
#include "player/audio/audio_output.h"
#include "player/options/play_options.h"
#include "player/ui/model/key_message.h"
#include "player/video/play_frame.h"
#include "stream/playout/media_clock.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct audio_session;
struct stream_recording;

// `options` is borrowed. NULL: no memory.
struct audio_session *audio_session_new(const struct play_options *options,
                                        const struct audio_outlet *outlet);
void audio_session_free(struct audio_session *s); // NULL is fine

// A connection's stream is described. `sdp` is borrowed until audio_session_leave.
void audio_session_join(struct audio_session *s, const struct sdp *sdp);
// `recording`, which may be NULL, also gets the packets; borrowed.
void audio_session_record(struct audio_session *s, struct stream_recording *recording);
// The server has set up the audio: adds it to the connection's receivers, which are borrowed until
// audio_session_leave or audio_session_forget.
void audio_session_open(struct audio_session *s, struct stream_receiver *media);
// These receivers are about to be freed; nothing if they are not those of the session.
void audio_session_forget(struct audio_session *s, const struct stream_receiver *media);
// The connection ends: drops its buffered audio.
void audio_session_leave(struct audio_session *s);
void audio_session_packet(struct audio_session *s, const struct received_audio *a);
void audio_session_second(struct audio_session *s); // call it once a second

// Sets whether pictures move, and their clock; NULL: none, low-latency mode.
void audio_session_clock(struct audio_session *s, bool playing, const struct media_clock *clock);
// The least line of the pictures' clock that live audio needs (audio_delay.h); USEC_NEVER: none.
usec_t audio_session_line(struct audio_session *s);
// A picture of media time `pts` was shown.
void audio_session_picture(struct audio_session *s, const struct play_frame *f, usec_t pts);
// Changes the volume by `by` percent, within 0 to 100, and unmutes; audio_session_mute toggles
// muting. Both also hold for audio that begins later.
void audio_session_volume_by(struct audio_session *s, int by);
void audio_session_mute(struct audio_session *s);
struct key_volume audio_session_volume(const struct audio_session *s);
void audio_session_end(struct audio_session *s);                   // no further packet follows
void audio_session_read(struct audio_session *s, struct qoe *qoe); // writes the stats to `qoe`

DECLS_END
#endif
