// SPDX-License-Identifier: GPL-2.0-or-later
// What the files client*.c share; nobody else includes it. client.c: connection, deadlines, life;
// client_ask.c: requests; client_answer.c: what the server answers; client_setup.c: the transport.
#ifndef WEIR_PLAYER_RTSP_CLIENT_STATE_H
#define WEIR_PLAYER_RTSP_CLIENT_STATE_H

#include "common/net/tcp_conn.h"
#include "common/net/timer.h"
#include "common/protocol/pending_requests.h"
#include "player/receive/media_receiver.h"
#include "player/rtsp/client.h"
#include "player/rtsp/resolver.h"
#include "player/rtsp/rtsp_auth.h"
#include "player/rtsp/transport_fallback.h"

#ifdef __cplusplus
extern "C" {
#endif

enum step {
    STEP_CONNECTING,
    STEP_MOVING, // to where the server sends us
    STEP_DESCRIBING,
    STEP_SETTING_UP,
    STEP_PROVING, // the transport's path
    STEP_STARTING,
    STEP_PLAYING,
    STEP_LEAVING,
    STEP_OVER
};

struct client {
    uv_loop_t *loop;                    // borrowed
    const struct play_options *options; // borrowed
    const struct client_ops *ops;       // static
    void *ctx;                          // borrowed
    enum step step;
    struct url url; // as the options have it, or where a server sent us
    int moves;
    bool withheld;             // a redirect led away from the origin that the password is for
    struct resolver *resolver; // owned
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    int address_count;
    int address_next;
    struct tcp_conn *conn;     // owned
    struct timer *timer;       // owned
    struct media_mtp_raw *raw; // borrowed; NULL: not wanted, or not possible
    bool torn_down;            // TEARDOWN was answered
    struct media_receiver path;
    bool path_ready; // path is to be destroyed
    struct transport_fallback choice;
    usec_t deadline; // STEP_CONNECTING, STEP_MOVING, STEP_PROVING, STEP_LEAVING
    usec_t started;  // when this client was made
    usec_t heard;    // last whole message from the server
    usec_t next_ask;
    int cseq;
    struct pending_requests questions;
    // What the viewer wants while a question of its kind is open: asked when that is answered, so
    // that keys pressed behind a stalled network do not pile up.
    int wanted_level;   // -1: nothing more
    int wanted_latency; // ms; likewise
    double wanted_speed;
    double speed; // as asked last
    bool paused;  // as asked last
    bool wants_pause;
    double wanted_seek;      // seconds; NaN: none
    char session[128];       // Session header's id; empty before SETUP
    char base[URL_MAX_TEXT]; // of the presentation
    uint32_t ssrc;           // ours
    struct sdp sdp;
    struct rtsp_auth auth;
    bool gets_parameters;   // GET_PARAMETER is among what the server says it does
    bool denies_parameters; // but it does not
    usec_t session_timeout; // as it says, or RFC 2326's 60 s
    usec_t rtt;             // the least of DESCRIBE's and SETUP's
};

// ---- client.c

void client_end_as(struct client *c, enum client_end why, const char *text, usec_t now);
void client_end_with(struct client *c, enum client_end why, usec_t now, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// What an end of the connection means depends on how far we came.
enum client_end client_gone(const struct client *c);
void client_arm(struct client *c); // sets the timer for the next deadline
// Describes the stream at `location` instead, as soon as the loop comes to it.
void client_move(struct client *c, struct text location, usec_t now);

// ---- client_ask.c

struct ask {
    enum question question;
    const char *uri;     // NULL: the presentation
    const char *headers; // NULL: none
    const char *body;    // NULL: none
    int level;           // ASK_LEVEL
    bool sought;         // ASK_PLAY
    bool paused;         // likewise: the server is
};

void client_ask(struct client *c, const struct ask *a, usec_t now);
// The same, with what the server wants to know of us by now.
void client_ask_again(struct client *c, const struct pending *p, usec_t now);
void client_ask_describe(struct client *c, usec_t now);
void client_ask_start(struct client *c, usec_t now); // after SETUP
void client_ask_measures(struct client *c, usec_t now);
void client_ask_wanted(struct client *c, usec_t now); // what waited for an answer

// ---- client_answer.c

// A message's body in one printable line; returns its length.
size_t client_body_text(const struct rtsp_item *r, char *out, size_t cap);
void client_on_response(struct client *c, const struct rtsp_item *r, usec_t now);

// ---- client_setup.c

// Offers the transports that are left.
void client_ask_setup(struct client *c, usec_t now);
void client_set_up(struct client *c, const struct rtsp_item *r, usec_t now); // the answer
// The one called `name`, which is tried, does not do, `why`.
void client_next_transport(struct client *c, const char *name, const char *why, usec_t now);
// The way of the sound, for --no-audio and without one none; then what plays.
void client_audio_settled(struct client *c, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
