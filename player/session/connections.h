// SPDX-License-Identifier: GPL-2.0-or-later
// The successive connections of a viewing: creates each, shows one, and replaces it after a loss or
// when the viewer chooses another transport or channel, as policy/reconnect decides. A replaced
// connection is freed. Loop thread only; after that has ended, the main thread.
#ifndef WEIR_PLAYER_SESSION_CONNECTIONS_H
#define WEIR_PLAYER_SESSION_CONNECTIONS_H

#include <stdio.h>

#include "common/base/decls.h"
#include "player/policy/reconnect.h"
#include "player/session/connection.h"

DECLS_BEGIN

struct connections_ops {
    void (*on_playing)(void *ctx, usec_t now); // PLAY was answered, also after a pause or a seek
    void (*on_ended)(void *ctx, usec_t now);   // all media was received and shown
    // The server was lost while media played, and no connection follows.
    void (*on_gone)(void *ctx, const char *reason, usec_t now);
    // The viewing ends. `error`: for people; NULL: none.
    void (*on_failed)(void *ctx, enum qoe_ended ended, int exit_code, const char *error,
                      usec_t now);
    void (*on_left)(void *ctx, usec_t now); // after connections_leave
    // The transport that the viewer chose was refused.
    void (*on_refused)(void *ctx, const char *message);
    // A film is described that was chosen, and is to begin at `start`; 0: it was not said where.
    // Returns where it begins.
    usec_t (*on_film)(void *ctx, const struct sdp *sdp, usec_t start);
    // The channel cannot be opened; the viewer may choose another.
    void (*on_no_channel)(void *ctx, const char *message, usec_t now);
};

struct connections_config {
    uv_loop_t *loop; // these are borrowed
    const struct play_options *options;
    struct mtp_raw_receiver *raw; // NULL: not requested, or not available
    struct qoe *qoe;
    struct trace *events; // may be NULL
    struct display *display;
    struct render_queue *show;
    struct audio_session *audio;
    struct comparison *comparison;
    struct stream_recording *recording; // NULL: not wanted
    FILE *list;                         // see viewing_config
    play_frame_fn *on_done;             // any thread: passes a frame to connection_done
    const struct connections_ops *ops;  // static
    void *ctx;                          // of `ops` and on_done
};

struct connections;

// Begins to connect. NULL: no memory.
struct connections *connections_new(const struct connections_config *config, usec_t now);
void connections_free(struct connections *c); // NULL is fine

// The connection whose media is on the screen; NULL: no stream is described yet.
struct connection *connections_shown(const struct connections *c);
struct connection_status
connections_status(const struct connections *c); // the transport of that connection; empty: none
// The newest picture shown, of any connection. Borrowed until the next call; NULL: none.
struct picture *connections_last_picture(const struct connections *c);
const struct reconnect *connections_reconnect(const struct connections *c);
const char *connections_url(const struct connections *c);    // of the channel chosen last
const char *connections_reason(const struct connections *c); // reason of the last loss
// The transport with which the next connection begins.
const char *connections_transport(const struct connections *c);

// The next connection chooses its transport from a list.
bool connections_has_list(const struct connections *c);

// The viewer's requests. They do nothing if the stream does not support them.
void connections_set_paused(struct connections *c, bool paused, usec_t now);
// See connection_scale.
enum seek_request connections_scale(struct connections *c, double scale, usec_t now);
// See connection_set_speed. It is that of the films that follow, too.
bool connections_set_speed(struct connections *c, double speed, usec_t now);
enum seek_request connections_seek(struct connections *c, double seconds, usec_t now);
void connections_change_transport(struct connections *c, const char *name, usec_t now);

// Plays channel `number`, from 1, of the options' playlist; without a playlist the only one is 1.
// Replaces what plays, or what was chosen before and did not play yet. Another number does nothing.
void connections_select(struct connections *c, int number, usec_t now);
// Connects at once to a server that was lost or could not be opened.
void connections_retry(struct connections *c, usec_t now);
// Ends the media; connections_select continues.
void connections_halt(struct connections *c, usec_t now);
int connections_channel(const struct connections *c); // the one chosen last, from 1
// Returns true if the viewer has not chosen from a server's list yet.
bool connections_awaits_choice(const struct connections *c);
int connections_channels(const struct connections *c);
// Returns the channels, of --playlist or of the folder that the URL names; NULL: there is one only.
// Constant from its first return on, until connections_free.
const struct playlist *connections_playlist(const struct connections *c);
// Returns how often the viewer had to choose a film of a folder: the list shall be shown.
unsigned connections_chooses(const struct connections *c);
// The name of that channel for people: its title, or its URL without the user.
const char *connections_channel_name(const struct connections *c);
// The viewer has chosen another channel than the first.
bool connections_is_other(const struct connections *c);
const char *connections_host(const struct connections *c); // its server

// Call it about once a second: keeps a second connection ready for the next channel.
void connections_second(struct connections *c, usec_t now);

// The viewing ends: nothing more is shown, and no connection follows.
void connections_stop(struct connections *c, usec_t now);
// Sends BYE and TEARDOWN. Returns true if on_left will be called.
bool connections_leave(struct connections *c, usec_t now);

DECLS_END
#endif
