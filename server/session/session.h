// SPDX-License-Identifier: GPL-2.0-or-later
// One viewer's session: its stream_sender, transport, RTP and RTCP. It is created at SETUP and ends
// at TEARDOWN or with its connection. Loop thread only.
#ifndef WEIR_SERVER_SESSION_SESSION_H
#define WEIR_SERVER_SESSION_SESSION_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/protocol/relay_info.h"
#include "common/repair/repair_policy.h"
#include "common/transport/path_validation.h"
#include "common/transport/transport.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"
#include "media/coded/coded_frame.h"
#include "server/session/stream.h"
#include "server/stats/stats.h"
#include "stream/adapt/adaptation.h"
#include "stream/send/scheduler.h"

DECLS_BEGIN

struct session;

enum {
    SESSION_LATENCY_DEFAULT_MS = 1000,   // how long a frame may wait for the transport
    SESSION_LATENCY_STORED_MS = 3600000, // the same, of media that holds frames back
    SESSION_LATENCY_MIN_MS = 20,
    SESSION_LATENCY_MAX_MS = 60000,
    SESSION_MIN_MAX_RATE = 8000, // bit/s
};

struct session_config {
    struct stream *stream; // borrowed; outlives the session
    char transport[TRANSPORT_MAX_NAME];
    struct transport_path path; // on_room, ctx, ssrc and first_seq are set by the session
    const struct path_validation *address; // borrowed; NULL: media goes over the connection
    int level; // that the viewer requests; the stream's `highest` limits what is sent
    // The level sent adapts to the network (adaptation.h); `level` is its max.
    bool follows;
    bool keeps_size;     // all levels sent have the size of `level`
    bool reports_losses; // the viewer requests what it lacks (NACK, PLI)
    bool audio_only;     // without video; session_add_pictures may follow
    uint64_t seed; // seed of the RTP streams' first numbers; random for each session, unknown to
                   // peers
    double start_bps;
    enum scheduler_mode queue; // which frames are dropped that wait for the transport
    size_t queue_bytes;        // max bytes that wait; 0: SCHEDULER_LIMIT_BYTES
    char id[20];
    const char *peer; // the viewer's address as a text, for the stats; NULL: none
    // The owner repeats the session_place that returned MEDIA_WAITS, but not inside this call.
    void (*on_placed)(void *ctx, usec_t now);
    // The session cannot continue: the viewer does not read or report, or its connection was
    // closed. The owner must end the session later, not inside this call.
    void (*on_stuck)(void *ctx, const char *why);
    // The media broke off before its end, and its last packet has left: the owner tells the viewer
    // why, and ends the session later, not inside this call. NULL: the viewer is told that the
    // media has ended.
    void (*on_broken)(void *ctx, const char *why, usec_t now);
    // The media's audio packets go there, and the owner gives those to send, of another codec, to
    // session_audio. NULL: the media's are sent.
    void (*on_audio)(void *ctx, struct coded_audio *c, usec_t now);
    int audio_bps; // of those to send; 0: as the media's
    // A receiver report on the video arrived. NULL: the owner has no use for it.
    void (*on_report)(void *ctx, const struct transport_report *r, usec_t now);
    void *ctx; // borrowed
};

struct session *session_new(const struct session_config *config, usec_t now); // NULL: logged

// A second path of the session's media, beside that over the connection.
struct session_beside {
    char transport[TRANSPORT_MAX_NAME];    // over datagrams, with reports of each packet
    struct transport_path path;            // as that of the config
    const struct path_validation *address; // borrowed; of `path`
    enum repair_mode repair;               // of lost packets there
};
// Copied. Call it once, before session_play, of a session whose media takes the connection.
void session_set_beside(struct session *s, const struct session_beside *beside);
// Media in datagrams takes this path, too (two_paths.h), as soon as its addresses are validated:
// both are paths of the same transport. Call it as session_set_beside. Returns true if it will.
bool session_set_second(struct session *s, const struct session_beside *second, usec_t now);
// RTCP arrived on the ports of that path, or its address was validated.
void session_second_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now);
void session_second_validated(struct session *s, usec_t now);
// Media goes on beside the connection, from the next frame on that has not begun to leave, until
// the viewer's reports cease (path_loss.h): then it goes over the connection again. 0;
// ERR_UNSUPPORTED: there is no second path, or its addresses are not validated.
int session_move(struct session *s, usec_t now);
// The viewer has responded to a request of the session's, `number` (RFC 2326, CSeq).
void session_responded(struct session *s, int number, usec_t now);
// The viewer's address of datagrams, of the config or of `beside`: as session_paths.h has it.
bool session_may_change_address(struct session *s, int which, usec_t now);
bool session_doubts_address(const struct session *s);
void session_address_answered(struct session *s, const struct sockaddr *before,
                              const struct sockaddr *address, usec_t now);
// The RTSP connection has another socket: as session_paths.h has it.
void session_reconnected(struct session *s, usec_t lost_since, usec_t now);
// Sends BYE if it plays, with the reason of session_dismiss.
void session_free(struct session *s, usec_t now);
// The server is about to end the session: says why, for players that know no TEARDOWN of servers.
void session_dismiss(struct session *s, const char *why);
void session_play(struct session *s, usec_t now);
// The viewer requests another pace of what plays. If the media has ended meanwhile, it stays so,
// and the BYE is sent again: the viewer did not know it.
void session_pace(struct session *s, usec_t now);
void session_pause(struct session *s);
// Returns true if the viewer may seek and set a speed: no other viewer plays on its time line.
bool session_owns_time_line(const struct session *s);
struct session_position {
    double seconds;    // NaN: no seek
    double scale;      // of the play (RFC 2326, 12.34)
    usec_t wall;       // of live media: as media_seek has it
    bool awaits_level; // as media_feed_ops.await_level has it
};
// Writes the position of the next frames, and the scale that the media plays at, to `out`; call it
// before session_play. Seeks first if `to` has `wall` or `seconds`, or another scale than the
// media; the latter two require session_owns_time_line. The result is that of media_feed_ops.place;
// after MEDIA_WAITS and MEDIA_REFUSED the caller does not call session_play.
enum media_placed session_place(struct session *s, const struct session_position *to,
                                struct media_place *out, usec_t now);
bool session_scales(const struct session *s);  // the media may know other scales than 1
double session_scale(const struct session *s); // that the media plays at
// The wall clock of the media's capture times, and of the packets' times: since 1970.
usec_t session_wall(const struct session *s);
// Adds the audio track, sent to `to`. Requires a stream with audio, and that the session does not
// play.
void session_add_audio(struct session *s, const struct track_path *to);
// Adds the video track, sent to `to`, to a session that has audio only and does not play.
void session_add_pictures(struct session *s, const struct track_path *to);
bool session_has_audio(const struct session *s);
bool session_has_pictures(const struct session *s); // true for filler, too, which replaces video
// Writes sequence number and SSRC of the next audio packet.
void session_audio_info(const struct session *s, uint16_t *seq, uint32_t *ssrc);
bool session_is_playing(const struct session *s);
// Returns 0 or ERR_RANGE.
int session_set_level(struct session *s, int level, usec_t now);
// Sends all from frame `from` on again at this level. Returns 0, ERR_RANGE: there is no such level,
// or no group begins there that was begun; ERR_UNSUPPORTED: not in this state, or of this media.
int session_send_again(struct session *s, int64_t from, int level, usec_t now);
void session_set_follows(struct session *s, bool follows, usec_t now);
// Returns the requested level, even before its key frame.
int session_level(const struct session *s);
int session_set_latency(struct session *s, int ms); // 0 or ERR_RANGE
// Max rate of the media, headers not included, from SESSION_MIN_MAX_RATE bit/s on; 0: none. 0 or
// ERR_RANGE.
int session_set_max_rate(struct session *s, int bps, usec_t now);
// The viewer shows a frame about so long after its capture. 0 or ERR_RANGE.
int session_set_playout(struct session *s, int ms);
// The viewer requests these frames only. Returns 0, ERR_UNSUPPORTED or ERR_NO_MEMORY.
int session_set_only(struct session *s, const struct frame_ranges *ranges);
// The viewer hears this audio track, from 1 (sdp.h), from the next packet on. Returns 0 or
// ERR_NOT_FOUND.
int session_set_audio_track(struct session *s, int track);
// The viewer requests repair of the video, and knows flow numbers and parity packets. Call it
// before the first PLAY. Returns true if the session repairs in this mode.
bool session_set_repair(struct session *s, enum repair_mode mode);
// Sets the media's pace as a multiple of real time; returns the nearest one that it can have. For
// live media it applies to all viewers.
double session_set_speed(struct session *s, double speed, usec_t now);
// Writes sequence number and timestamp of the next packet, for RTP-Info.
void session_rtp_info(const struct session *s, uint16_t *seq, uint32_t *timestamp, uint32_t *ssrc);
void session_info(const struct session *s, struct transport_info *out, usec_t now);
// Writes what is known of the way behind a proxy to `out`. Returns false if this is none.
bool session_relay_info(const struct session *s, struct relay_info *out, usec_t now);
// As media_feed_ops.subtitles; -1, too, if the media relays none.
int session_subtitles(struct session *s, const struct subtitle_request *r, struct subtitle_set *out,
                      usec_t now);
// As media_feed_ops.film_table; ERR_NOT_FOUND, too, if the media is no film.
int session_film_table(struct session *s, const struct film_table **out, usec_t now);
// Returns the number of frames of its levels that the encoder or the scheduler skipped.
uint64_t session_skipped(const struct session *s);
// Returns the bytes of RTP header and payload of its largest packets.
size_t session_packet_bytes(const struct session *s);
const char *session_transport(const struct session *s); // name with parameters
// The connection has room, or the address of its only path was validated.
void session_writable(struct session *s, usec_t now);
void session_rtcp(struct session *s, const uint8_t *data, size_t len, usec_t now);
// A datagram arrived at the RTP port.
void session_media(struct session *s, const uint8_t *data, size_t len, usec_t now);
void session_second(struct session *s, usec_t now); // call it about once a second
// Sends an audio packet of the owner (on_audio), who keeps its reference.
void session_audio(struct session *s, struct coded_audio *c, usec_t now);
DECLS_END
#endif
