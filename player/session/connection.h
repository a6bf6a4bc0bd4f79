// SPDX-License-Identifier: GPL-2.0-or-later
// One connection of a viewing, its control half: runs the RTSP session and handles its events:
// level, position in a file, BYE, silence, loss. Its media half is stream_player.h. Each connection
// of a viewing is a separate object.
//
// After its link has ended, or connection_hang_up, the received media is still shown. Loop thread
// only; after that has ended, the main thread.
#ifndef WEIR_PLAYER_SESSION_CONNECTION_H
#define WEIR_PLAYER_SESSION_CONNECTION_H

#include <stdio.h>
#include <uv.h>

#include "common/base/decls.h"
#include "player/options/play_options.h"
#include "player/policy/rewind.h"
#include "player/policy/seek.h"
#include "player/report/trace.h"
#include "player/session/audio_session.h"
#include "player/session/comparison.h"
#include "player/session/level_policy.h"
#include "player/ui/display.h"
#include "player/video/video_player.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct mtp_raw_receiver;
struct rtsp_spare;
struct rtsp_standby;
struct stream_recording;

struct connection_ops {
    // The stream is described: the previous connection, if there is one, ends here.
    void (*on_described)(void *ctx, const struct sdp *sdp, usec_t now);
    // The server responded to PLAY; called again after each pause and seek.
    void (*on_playing)(void *ctx, usec_t now);
    void (*on_started)(void *ctx, usec_t now); // pictures move
    void (*on_drained)(void *ctx, usec_t now); // the media has ended, and all of it was shown
    // The server was lost, refused an attempt to reconnect, or ended before its media. Returns true
    // if another connection follows.
    bool (*on_lost)(void *ctx, const char *reason, usec_t now);
    // The server was lost while media played, and no connection follows.
    void (*on_gone)(void *ctx, const char *reason, usec_t now);
    // The viewing ends. `error`: for people; NULL: none.
    void (*on_end)(void *ctx, enum qoe_ended ended, int exit_code, const char *error, usec_t now);
    void (*on_left)(void *ctx, usec_t now); // after connection_leave
    // The URL names a folder, with this list of films. Returns true if on_listed is to follow, when
    // the connection has ended, in place of on_end.
    bool (*on_list)(void *ctx, struct text list);
    void (*on_listed)(void *ctx, usec_t now);
    void (*on_idle)(void *ctx); // PLAY was answered, but no media arrived
};

struct connection_config {
    uv_loop_t *loop; // the pointers down to `comparison` are borrowed
    // The viewer's choices. The level is lowered if the server returns with fewer levels; the start
    // changes with a seek while there is no connection.
    struct play_options *options;
    struct mtp_raw_receiver *raw; // NULL: not requested, or not available
    struct qoe *qoe;
    struct trace *events; // may be NULL
    struct display *display;
    struct render_queue *show;
    struct audio_session *audio;
    struct comparison *comparison;
    struct stream_recording *recording; // NULL: not wanted
    FILE *list;             // of the films of a folder that on_list did not take; NULL: refused
    play_frame_fn *on_done; // any thread, with done_ctx: passes a frame to connection_done
    void *done_ctx;
    const struct connection_ops *ops; // static
    void *ctx;
    unsigned number; // number of this connection within the viewing, counted from 0
    // The channel that the viewer chose at `asked`, counted from 1; 0: none. Then the connection
    // plays a stream of its own, and `again` is false.
    int channel;
    usec_t asked;             // 0: it is the first
    struct rtsp_spare *spare; // taken over, on failure too; NULL: makes a connection of its own
    bool holds_on;         // a failure to connect is reported to on_lost: the viewer may try again
    bool again;            // true if it follows another connection, whose values are:
    const char *transport; // read once
    int level;
};

struct connection;

// Begins to connect. NULL: no memory.
struct connection *connection_new(const struct connection_config *config, usec_t now);
// NULL is fine. Do not call it inside a callback of its link. Empties the show queue, if the stream
// was described.
void connection_free(struct connection *c);

// The viewer leaves the stream at once: nothing more is shown or played, and the session ends.
// Returns the connection to the server, which the caller owns, for another stream; NULL: there is
// none, or it cannot be kept. May be called inside a callback.
struct rtsp_spare *connection_detach(struct connection *c, usec_t now);
// See rtsp_link_keep_standby.
void connection_keep_standby(struct connection *c, struct rtsp_standby **standby, usec_t now);
// Returns the status of the response that ended the connection; 0: no response did.
int connection_refusal(const struct connection *c);
// Gives the network side back, before another connection is made: its link is freed, its BYE is
// no longer waited for, and the last counts go to QoE.
void connection_hang_up(struct connection *c);
// Another connection follows. Received media is still shown until on_drained. Returns true if all
// of it has been shown.
bool connection_end_media(struct connection *c, usec_t now);
// No other connection follows. Returns true if on_drained will be called; false: no media is left
// to show, or the viewer has paused.
bool connection_drain(struct connection *c, usec_t now);
// Another connection, made after connection_hang_up, is described: this one shows and plays nothing
// more.
void connection_retire(struct connection *c, usec_t now);
// The viewing ends: nothing more is shown.
void connection_stop(struct connection *c, usec_t now);
// Sends BYE, and passes the last counts to QoE.
void connection_send_bye(struct connection *c, usec_t now);
// Sends TEARDOWN. Returns true if on_left will be called.
bool connection_leave(struct connection *c, usec_t now);

// Takes over a frame from on_done.
void connection_done(struct connection *c, struct play_frame *f, usec_t now);
void connection_tick(struct connection *c, usec_t now); // call a few times a second
// Call once a second while it plays: the stats of that second.
void connection_second(struct connection *c, struct qoe_transport *out, usec_t now);

// The audio track that plays, from 1; 0: the stream has no choice.
int connection_audio_track(const struct connection *c);
void connection_set_audio_track(struct connection *c, int track, usec_t now); // that there is
// Shows a track of subtitles, from 1; 0: none.
void connection_set_subtitles(struct connection *c, int track, usec_t now);
// Returns what is known of the chosen track of subtitles, borrowed until the next call; NULL: none
// is chosen.
const struct subtitle_set *connection_subtitles(const struct connection *c);

// The viewer's requests. They do nothing if the stream does not support them.
void connection_set_level(struct connection *c, int level, usec_t now);
// Lets the sender or the policy choose the level again.
void connection_set_automatic(struct connection *c, usec_t now);
void connection_pause(struct connection *c, usec_t now);
void connection_resume(struct connection *c, usec_t now);
// In a pause of a file: shows one more picture. Returns false if that is not possible.
bool connection_step(struct connection *c, usec_t now);
enum seek_request connection_seek(struct connection *c, double seconds, usec_t now);
double connection_seek_base(const struct connection *c); // see seek_base
// Of live media: by `seconds` from where it is (negative: back), or to a distance from the present.
enum rewind_request connection_rewind_by(struct connection *c, double seconds, usec_t now);
enum rewind_request connection_rewind_to(struct connection *c, double behind, usec_t now);
// Fast forward (scale 2, 4, 8), rewind (-2, -4, -8) and normal play (1), from where the picture is.
// SEEK_IMPOSSIBLE also if the server does not know scales.
enum seek_request connection_scale(struct connection *c, double scale, usec_t now);
double connection_scale_by(const struct connection *c, int steps); // see seek_scale_by
// A film is played `speed` times as fast (play_speed.h). Returns false if that is not possible:
// live media, another server than Weir's, or Goddard's policy.
bool connection_set_speed(struct connection *c, double speed, usec_t now);

struct connection_status { // borrowed until the connection's next call
    const struct sdp *sdp;
    struct video_player *video; // NULL: no pictures
    const struct transport_info *path;
    const char *transport;
    int level;           // level of the received frames
    int requested_level; // level requested by the viewer, or the received one
    bool playing;        // PLAY was answered, and more media is expected
    bool may_set_level;
    bool is_limited;    // this machine is too slow for the wanted level (machine_limit.h)
    bool may_automatic; // connection_set_automatic has an effect
    bool automatic;     // the sender or the policy chooses the level
    bool paused;
    double scale;               // of the play; 1: normal
    double speed;               // of playing at scale 1 (play_speed.h)
    int scale_refusals;         // how often the server played on at another scale than requested
    double position;            // seconds of the media on the screen; NaN: not a file, or not known
    double kept;                // seconds that the server goes back in live media; 0: not at all
    double behind;              // seconds of what arrives, or is requested, behind live media
    uint64_t packets;           // of video and audio
    int subtitles;              // the track that is shown, from 1; 0: none
    struct picture *last_shown; // NULL: none
};
// As level_policy_text.
void connection_policy(const struct connection *c, char out[LEVEL_POLICY_TEXT]);
struct connection_status connection_read(const struct connection *c);
// See path_stats_origin_away.
usec_t connection_origin_away(const struct connection *c, usec_t now);
// See path_stats_source_away.
usec_t connection_source_away(const struct connection *c, const char **why, usec_t now);

DECLS_END
#endif
