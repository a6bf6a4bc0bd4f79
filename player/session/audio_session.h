// SPDX-License-Identifier: GPL-2.0-or-later
// The audio of a viewing: receives the packets of successive connections, with one output for all
// of them, and keeps its stats. Without audio every function does nothing. Loop thread only, except
// audio_session_read and audio_session_free.
#ifndef WEIR_PLAYER_SESSION_AUDIO_SESSION_H
#define WEIR_PLAYER_SESSION_AUDIO_SESSION_H

#include "common/wire/sdp.h"
#include "player/audio/audio_output.h"
#include "player/options/play_options.h"
#include "player/ui/model/key_message.h"
#include "player/video/play_frame.h"
#include "stream/playout/media_clock.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct audio_session;
struct stream_recording;

// `options` is borrowed. NULL: no memory.
struct audio_session *audio_session_new(const struct play_options *options,
                                        const struct audio_outlet *outlet);
void audio_session_free(struct audio_session *s); // NULL is fine

// A connection's stream is described. `sdp` is borrowed until audio_session_leave. `random`: as for
// the video's feedback, so that both are one receiver's (RFC 3550, 5.2).
void audio_session_join(struct audio_session *s, const struct sdp *sdp, uint64_t random);
// `recording`, which may be NULL, also gets the packets; borrowed.
void audio_session_record(struct audio_session *s, struct stream_recording *recording);
// The server has set up the audio.
void audio_session_open(struct audio_session *s);
// The connection ends: drops its buffered audio.
void audio_session_leave(struct audio_session *s);

// Returns true if the packet is the audio's.
bool audio_session_packet(struct audio_session *s, bool rtcp, const uint8_t *data, size_t len,
                          usec_t arrived);
// A weir-send packet of frame `number` arrived: the position of the current audio is near it.
void audio_session_near(struct audio_session *s, int64_t number);
// For servers other than weir-send, which send RTP time stamps only. _frame: the frame of media
// time `media` has the time stamp `stamp`. _video_report: a sender report relates the video's
// `stamp` to the wall clock `ntp` (NTP format).
void audio_session_frame(struct audio_session *s, uint32_t stamp, usec_t media, usec_t arrived);
void audio_session_video_report(struct audio_session *s, uint64_t ntp, uint32_t stamp);
uint64_t audio_session_packets(const struct audio_session *s); // packets of this connection
// Lost packets of this connection are requested, if `requests`. Call it before or after
// audio_session_open. `rtt` and `keep`: as for audio_receiver_set_path.
void audio_session_set_repair(struct audio_session *s, bool requests);
void audio_session_set_path(struct audio_session *s, usec_t rtt, usec_t keep);
// Writes the requests that are due to `out` of RTCP_MAX_PACKET bytes; returns the length, 0: none.
// Call it after each packet of the connection.
size_t audio_session_requests(struct audio_session *s, uint8_t *out, usec_t now);
// Writes the report of this second to `out` of RTCP_MAX_PACKET bytes; returns its length, 0: none.
size_t audio_session_second(struct audio_session *s, uint8_t *out, usec_t now);

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

#ifdef __cplusplus
}
#endif
#endif
