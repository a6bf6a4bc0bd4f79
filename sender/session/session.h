// SPDX-License-Identifier: GPL-2.0-or-later
// One viewer's stream: which level it gets, what waits for its transport, its RTP and RTCP. Built
// at SETUP, ended at TEARDOWN or with its connection. Loop thread only.
#ifndef WEIR_SENDER_SESSION_SESSION_H
#define WEIR_SENDER_SESSION_SESSION_H

#include <stdbool.h>

#include "common/transport/path_validation.h"
#include "common/transport/transport.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"
#include "media/coded/coded_frame.h"
#include "sender/catalog/stream.h"
#include "sender/stats/stats.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/scheduler.h"

#ifdef __cplusplus
extern "C" {
#endif

struct session;

enum {
    SESSION_LATENCY_DEFAULT_MS = 1000, // how long a frame may wait for the transport
    SESSION_LATENCY_MIN_MS = 20,
    SESSION_LATENCY_MAX_MS = 60000,
};

struct session_config {
    struct stream *stream; // borrowed; outlives the session
    char transport[TRANSPORT_MAX_NAME];
    struct transport_path path; // on_room, ctx, ssrc and first_seq are set by the session
    const struct path_validation *address; // borrowed; NULL: media goes over the connection
    int level;
    // The level sent follows the network (adaptation.h); `level` is its max.
    bool follows;
    bool keeps_size; // all levels sent have the size of `level`
    bool audio_only; // without video; session_add_pictures may follow
    uint64_t seed;   // of the RTP streams' numbers; drawn for this session, known to no peer
    double start_bps;
    char id[20];
    // The session cannot go on: the viewer does not read or report, or its connection was closed.
    // The owner ends it later, not inside.
    void (*on_stuck)(void *ctx, const char *why);
    void *ctx; // borrowed
};

struct session *session_new(const struct session_config *config, usec_t now); // NULL: logged
void session_free(struct session *s, usec_t now); // sends BYE if it plays
void session_play(struct session *s, usec_t now);
void session_pause(struct session *s);
// Returns true if the viewer may seek and set a speed: no other viewer plays on its time line.
bool session_owns_time_line(const struct session *s);
// Fills in the position of the next frames; before session_play. `seconds`: seeks there first,
// which requires session_owns_time_line; NaN: stays. Returns false for media whose position is
// unknown; `out` is unchanged.
bool session_place(struct session *s, double seconds, struct media_place *out, usec_t now);
// Adds the audio track, sent to `to`. Requires a stream with audio, and that the session does not
// play.
void session_add_audio(struct session *s, const struct track_path *to);
// Adds the video track, sent to `to`, to a session that has audio only and does not play.
void session_add_pictures(struct session *s, const struct track_path *to);
bool session_has_audio(const struct session *s);
bool session_has_pictures(const struct session *s); // or what stands for them
void session_audio_info(const struct session *s, uint16_t *seq, uint32_t *ssrc); // what follows
bool session_is_playing(const struct session *s);
// 0 or ERR_RANGE.
int session_set_level(struct session *s, int level, usec_t now);
void session_set_follows(struct session *s, bool follows, usec_t now);
int session_level(const struct session *s);         // that is sent
int session_set_latency(struct session *s, int ms); // 0 or ERR_RANGE
// The media comes at so many times its own pace, FRAME_CLOCK_MIN_SPEED .. FRAME_CLOCK_MAX_SPEED;
// live media for all its viewers.
void session_set_speed(struct session *s, double speed, usec_t now);
// The sequence number and timestamp that follow, for RTP-Info.
void session_rtp_info(const struct session *s, uint16_t *seq, uint32_t *timestamp, uint32_t *ssrc);
void session_info(const struct session *s, struct transport_info *out, usec_t now);
// Frames of its levels that this viewer did not get because the encoder or the scheduler left them
// out.
uint64_t session_skipped(const struct session *s);
// Bytes of RTP header and payload that its largest packets have.
size_t session_packet_bytes(const struct session *s);
const char *session_transport(const struct session *s); // its name, with the parameters
void session_writable(struct session *s, usec_t now);   // the connection; or an address was proved
void session_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now);
// A datagram came to the port for RTP.
void session_media(struct session *s, const uint8_t *data, size_t len, usec_t now);
void session_second(struct session *s, usec_t now); // about once a second
#ifdef __cplusplus
}
#endif
#endif
