// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer's side of an RTSP session (RFC 2326), without I/O: requests, responses and deadlines.
// Received bytes go in through rtsp_client_input; bytes to send leave through rtsp_client_link,
// which the owner of the connection implements; rtsp_client_events tell the viewer what happened.
//
// Round trips from the connection to media: DESCRIBE | SETUP | parameters + PLAY. Requests that do
// not depend on each other leave together, except to third-party servers, which get one at a time.
// A client that follows another on its connection sends TEARDOWN, DESCRIBE, SETUP and PLAY in one
// round trip (Pipelined-Requests, RFC 7826, 18.33), with the transport of the client before.
// Whether the network passes a transport of a list is learnt while PLAY is under way, except by a
// viewer that controls the speed. If it does not, TEARDOWN + SETUP follow (transport_fallback.h).
// Live media over the connection moves beside it and back (path_mover.h), within its session.
//
// Deadlines: 8 s for each response until the media plays, 32 s until a transport is set up. From
// then on each whole message and each media packet shows that the server is alive. Without any for
// 10 s the server counts as lost. With media in datagrams the limit is 15 s: the sender waits 13 s
// for reports, so a session survives an outage of 10 s. A request each second, or every 5 s to a
// third-party server, causes responses and keeps the session from expiring. The viewer checks that
// media arrives, because it knows of pauses and ends.
//
// After every call the owner reads rtsp_client_next_timeout again.
#ifndef WEIR_PROTOCOL_RTSP_CLIENT_H
#define WEIR_PROTOCOL_RTSP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/attach_watch.h"
#include "common/protocol/rtsp_auth.h"
#include "common/protocol/rtsp_params.h"
#include "common/protocol/server_dialect.h"
#include "common/protocol/transport_names.h"
#include "common/wire/sdp.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum { RTSP_CLIENT_HASHES = 64, RTSP_CLIENT_PING = 8192 };
// Max time from rtsp_client_leave to on_end.
#define RTSP_CLIENT_LEAVE_TIME (500 * USEC_PER_MSEC)

enum rtsp_client_end {
    RTSP_CLIENT_REFUSED,  // the server cannot be reached, or refuses
    RTSP_CLIENT_LOST,     // the server vanished after the media began to play
    RTSP_CLIENT_INTERNAL, // no memory, no ports ...
    RTSP_CLIENT_LEFT,     // after rtsp_client_leave
    RTSP_CLIENT_LISTED,   // the URL is of a folder, not of a stream; after on_list, or on_body
};

enum { RTSP_CLIENT_LIST_BYTES = 1 << 18, RTSP_CLIENT_LIST_PARTS = 64 };

// What a client hands to the next one on its connection, which plays another stream of that server.
struct rtsp_client_before {
    int cseq; // of the last request: responses up to it are the previous clients'
    unsigned group;
    bool pipelines;                     // the server serves requests before it has answered SETUP
    struct rtsp_auth auth;              // the server's last challenge
    char transport[TRANSPORT_MAX_NAME]; // empty: none was set up
    struct sdp sdp;                     // with which it was set up
    usec_t rtt;
};

struct rtsp_client_config {
    struct url url;
    struct transport_list transports;
    struct transport_list standard_transports; // used instead of `transports` if the server does
                                               // not support Weir's (server_dialect.h)
    const char *adapt; // value of the parameter `adapt`: "sender" or "none", static; NULL: not
                       // sent
    const char *only;  // value of the parameter `only` (frame_ranges.h), borrowed until on_playing;
                       // NULL: not sent. A server that does not know it ends the client
    bool controls_speed; // rtsp_client_begin sends PLAY, with a Speed; false: the client sends PLAY
                         // itself
    int live_latency_ms; // value of the parameter `latency` for live media, ms; 0: not sent
    int stored_latency_ms; // for a film; 0: its server drops no frame
    usec_t silence;     // silence after which the server counts as lost; 0: the transport's default
    const char *accept; // the type that is asked for in place of a description, static; no session
                        // follows. NULL: a description
    bool has_audio;     // the viewer requests audio
    bool takes_other_codecs; // the viewer decodes a third party's H.265, VP9 and JPEG, and the
                             // audio of sdp_other_audio.h
    bool seconds;    // the owner has a second network: offers a path over it (RTSP_SECOND_HEADER)
    const char *via; // value of the Via header of the first request (RFC 2326, 12.43), borrowed;
                     // NULL: none
    // The description of a URL without a query, which is known: the first request is SETUP. If it
    // is refused, DESCRIBE follows. Borrowed until on_setup; NULL: not known.
    const struct sdp *known;
    // Another client may follow on this connection (rtsp_client_hand_over): asks in SETUP whether
    // the server serves requests before it has answered SETUP.
    bool may_be_followed;
    // The session can be continued on another connection of the owner: asks in SETUP for the secret
    // (rtsp_client_can_attach).
    bool attaches;
    // A session with this third party seems to have expired (rtsp_client_expired): keep-alives are
    // of both kinds in turn.
    bool keeps_alive_in_turn;
    // What the client before on the same connection handed over, borrowed until
    // rtsp_client_connected; NULL: this client is the connection's first.
    const struct rtsp_client_before *before;
    // Returns true if a redirect to this URL may be followed; NULL: to any.
    bool (*may_follow)(const void *ctx, const struct url *to);
    const void *follow_ctx; // borrowed
    rtsp_hash_fn *hash;
    uint64_t seed; // seed of the nonces for authentication
};

struct rtsp_client_setup {
    const char *transport; // the negotiated transport
    const char *why;       // the reason for it; empty: the list had one entry
    bool datagram;         // media comes beside the control connection, and may be lost
    bool pairs;            // media arrives in datagrams, so packet pairs can be requested
    usec_t rtt;            // the shortest round trip so far
};

struct rtsp_client_start {
    int level;    // -1: the server's choice
    usec_t start; // start position of stored media; < 0: of live media, before the present
};

struct rtsp_client_place { // where PLAY begins
    double seconds;        // of stored media; NaN: not reported
    int64_t first;         // number of the first frame sent; -1: not reported
    int64_t show;          // number of the frame at `seconds`; earlier frames are only decoded; -1:
                           // not reported
    bool ahead;            // the server first sends faster than the media's own pace
    int64_t until;         // number of the frame at which the server awaits a level; 0: at none
    bool sought;           // rtsp_client_seek or rtsp_client_scale requested it
    bool paused;           // the server was paused before it
    double scale;          // of the play; 1: normal (RFC 2326, 12.34)
    double speed;          // that the server granted (12.35); 0: not reported
    double behind;         // seconds between the present of live media and frame `show`
    double back;           // seconds that the server can go back in live media; 0: not at all
    int seq;               // number of the video's first packet (RTP-Info); -1: not reported
};

struct rtsp_client_answer { // response to one request for the sender's parameters
    struct rtsp_params params;
    usec_t rtt; // round-trip time of the request
    usec_t asked_wall;
    usec_t received_wall;
};

// Calls to the viewer. on_described and on_end are required; NULL: not needed. They may call
// rtsp_client_* functions, except new and free.
struct rtsp_client_events {
    void (*on_connected)(void *ctx, usec_t now);
    // `sdp` is valid for the client's life. Returns false if the stream cannot be played: the
    // client then ends with RTSP_CLIENT_REFUSED, and *why says the reason.
    bool (*on_described)(void *ctx, const struct sdp *sdp, const char **why, usec_t now);
    // config.accept: the body of that type, and how many seconds it may be kept. The end follows.
    // Required only with config.accept.
    void (*on_body)(void *ctx, struct text body, int max_age, usec_t now);
    // The URL names a folder. `list`: its files, one line each. What a server gives in parts is
    // whole, up to RTSP_CLIENT_LIST_BYTES.
    void (*on_list)(void *ctx, struct text list, usec_t now);
    void (*on_setup)(void *ctx, const struct rtsp_client_setup *setup, usec_t now);
    // Media comes over another of the session's paths from now on: beside the connection, or over
    // it again, or to another address of the viewer; `why` says which. NULL: media does not move.
    void (*on_moved)(void *ctx, const struct rtsp_client_setup *setup, usec_t now);
    void (*on_audio)(void *ctx); // the server sends audio, too
    // Fills in where the first PLAY begins. NULL: at the server's choice of level, from the start.
    void (*on_start)(void *ctx, struct rtsp_client_start *out);
    void (*on_ready)(void *ctx, usec_t now); // controls_speed: rtsp_client_begin may be called
    // A response to PLAY: the first, and one after each pause or seek.
    void (*on_playing)(void *ctx, const struct rtsp_client_place *place, usec_t now);
    void (*on_answer)(void *ctx, const struct rtsp_client_answer *answer, usec_t now);
    void (*on_pair_refused)(void *ctx, usec_t now);
    // The response to rtsp_client_ask_values, borrowed; empty: refused.
    void (*on_values)(void *ctx, struct text body, usec_t now);
    // the result of rtsp_client_set_level
    void (*on_level)(void *ctx, int level, bool accepted, usec_t now);
    void (*on_pause_refused)(void *ctx, usec_t now); // the server continues to send
    void (*on_seek_refused)(void *ctx, usec_t now);  // the server keeps its position
    // The last call. `text`: for people; empty for RTSP_CLIENT_LEFT and RTSP_CLIENT_LISTED.
    void (*on_end)(void *ctx, enum rtsp_client_end end, const char *text, usec_t now);
};

struct rtsp_client_path { // the media path that the server accepted
    char transport[TRANSPORT_MAX_NAME];
    bool datagram;  // media comes beside the control connection, and may be lost
    bool pairs;     // media arrives in datagrams
    bool validates; // rtsp_client_media_open follows when media can arrive
};

// Operations that the owner of the connection provides to the client. All are required.
struct rtsp_client_link {
    // Queues bytes for the connection, and sets *wall to the wall clock. Returns 0; after an error
    // the client ends.
    int (*send)(void *ctx, const char *data, size_t len, usec_t *wall);
    // A redirect: closes the connection, but not in this call, and connects to `to`, which is valid
    // until the next redirect. rtsp_client_connected or rtsp_client_fail follows.
    void (*redirect)(void *ctx, const struct url *to, usec_t now);
    // Returns why the transport cannot be used on this machine, valid until the next call; NULL: it
    // can be used.
    const char *(*impossible)(void *ctx, const char *name);
    // Opens the sockets that these transports need, and writes the value of a Transport header (RFC
    // 2326, section 12.39) to `out`. Returns 0; after an error the client ends.
    int (*offer)(void *ctx, const struct sdp *sdp, const struct transport_list *list, char *out,
                 size_t cap);
    // Accepts the server's choice. Returns 0; ERR_NO_MEMORY; ERR_IO (logged): its multicast group
    // cannot be joined; another error: the choice is not in `list`.
    int (*accept)(void *ctx, const struct transport_list *list, struct text answer,
                  struct rtsp_client_path *out, usec_t now);
    // Offers a second path for the media of the accepted one, of the transport `name`: writes the
    // value of a Transport header to `out`. Returns 0; after an error there is none.
    int (*offer_beside)(void *ctx, const char *name, char *out, size_t cap);
    // Takes the server's answer. Returns true if there is such a path.
    bool (*accept_beside)(void *ctx, struct text answer);
    // Sends tokens on it; rtsp_client_beside_open follows when the server is heard there.
    void (*try_beside)(void *ctx, usec_t now);
    // The same for a second path of media in datagrams, over another network; with `seconds` of the
    // config. An empty answer: the server offers none. on_second_open may follow.
    int (*offer_second)(void *ctx, char *out, size_t cap);
    bool (*accept_second)(void *ctx, struct text answer, usec_t now);
    // Offer and accept the audio track, which uses the accepted path. After an error there is no
    // audio.
    int (*offer_audio)(void *ctx, char *out, size_t cap);
    int (*accept_audio)(void *ctx, struct text answer);
    // Closes what `offer` and `accept` opened, because nothing arrives over it or the server ends
    // it.
    void (*abandon)(void *ctx, const char *why);
    // Returns true if media has a connection of its own that is not closed yet.
    bool (*media_is_open)(void *ctx);
    // A frame arrived on a channel of the control connection (RFC 2326, section 10.12).
    void (*on_interleaved)(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now);
    // The response to rtsp_client_ask_film_table, borrowed; empty: refused. NULL: never asked.
    void (*on_film_table)(void *ctx, struct text body, usec_t now);
};

struct rtsp_client;

// `config` is copied; `link` and `events` are static, the contexts borrowed. The owner connects to
// config->url and calls rtsp_client_connected. NULL: no memory.
struct rtsp_client *rtsp_client_new(const struct rtsp_client_config *config,
                                    const struct rtsp_client_link *link, void *link_ctx,
                                    const struct rtsp_client_events *events, void *ctx, usec_t now);
void rtsp_client_free(struct rtsp_client *c); // NULL is fine; not inside a callback

// ---- From the connection

void rtsp_client_connected(struct rtsp_client *c, usec_t now);
// Processes received bytes. Returns how many were consumed; the caller passes the rest again,
// together with later bytes. ERR_MALFORMED, ERR_TOO_BIG: the stream cannot be parsed; the caller
// closes the connection and calls rtsp_client_closed. `wall`: the wall clock at reception.
int rtsp_client_input(struct rtsp_client *c, const uint8_t *data, size_t len, usec_t wall,
                      usec_t now);
// The connection ended. `err`: as for tcp_conn_ops.on_close (ERR_CLOSED, ERR_IO, ERR_TOO_BIG,
// ERR_MALFORMED).
void rtsp_client_closed(struct rtsp_client *c, int err, usec_t now);
// Ends the client for a reason outside the protocol.
void rtsp_client_fail(struct rtsp_client *c, enum rtsp_client_end end, const char *text,
                      usec_t now);
// A media packet was received. Returns true if the viewer accepts it: it arrived after PLAY and
// before the end.
bool rtsp_client_media_received(struct rtsp_client *c, usec_t now);
// Media can arrive outside the control connection (rtsp_client_path.validates).
void rtsp_client_media_open(struct rtsp_client *c, usec_t now);
// The server is heard on the path beside the connection.
void rtsp_client_beside_open(struct rtsp_client *c, usec_t now);
// Media comes over that path, or over the connection again: on_moved is called, unless the client
// knows.
void rtsp_client_media_moved(struct rtsp_client *c, bool beside, usec_t now);
// Media goes on in datagrams, to another address of the viewer.
void rtsp_client_address_changed(struct rtsp_client *c, usec_t now);
// The separate connection for media ended. `error`: the failure, for people; NULL: the server ended
// it.
void rtsp_client_media_closed(struct rtsp_client *c, const char *error, usec_t now);

// Returns true if the session can be continued on another connection: media plays, over datagrams
// or live, and the server gave a secret.
bool rtsp_client_can_attach(const struct rtsp_client *c);
// What the connection shows; only with rtsp_client_can_attach. is_gone is false.
void rtsp_client_signs(const struct rtsp_client *c, struct attach_signs *out);
// Writes the first request of that connection. Its response has status 200 if the session goes on
// there. Returns its length, or ERR_FULL, ERR_NO_MEMORY.
int rtsp_client_write_attach(struct rtsp_client *c, char out[RTSP_CLIENT_PING], usec_t now);
// The session goes on there: requests without a response are sent again.
void rtsp_client_attached(struct rtsp_client *c, usec_t now);

usec_t rtsp_client_next_timeout(const struct rtsp_client *c); // USEC_NEVER: none
void rtsp_client_on_timeout(struct rtsp_client *c, usec_t now);

// The owner stops or continues reading the connection. Silence meanwhile is its own, not the
// server's.
void rtsp_client_held(struct rtsp_client *c, bool held, usec_t now);
// `patient`: the viewer has media to play, so no silence ends the session yet.
void rtsp_client_set_patient(struct rtsp_client *c, bool patient);

// Writes a request, with this client's credentials, by which another connection to the server shows
// that it is in use. It belongs to no session. Returns its length, or ERR_FULL, ERR_NO_MEMORY.
int rtsp_client_write_ping(struct rtsp_client *c, int cseq, char out[RTSP_CLIENT_PING], usec_t now);

// ---- State

// Returns true if a client that follows can request a stream at once
// (rtsp_client_before.pipelines).
bool rtsp_client_can_be_followed(const struct rtsp_client *c);
// Returns true if the client waits for a connection.
bool rtsp_client_is_connecting(const struct rtsp_client *c);
bool rtsp_client_is_over(const struct rtsp_client *c); // on_end was called
// Returns true if the server works on the oldest request that has no response: 100 Continue came.
bool rtsp_client_is_told_to_wait(const struct rtsp_client *c);
// Returns the status of the response that ended the client; 0: no response did.
int rtsp_client_status(const struct rtsp_client *c);
// Returns true if the client is over, and a third party's session seems to have expired in spite of
// its keep-alives.
bool rtsp_client_expired(const struct rtsp_client *c);
// Returns true if the viewer accepts media.
bool rtsp_client_takes_media(const struct rtsp_client *c);
// Returns the max time without any input from the server while media plays.
usec_t rtsp_client_silence_limit(const struct rtsp_client *c);

// ---- From the viewer

// Call it in on_described. The viewer chooses level and speed of this stream, as with
// controls_speed, and requests `latency_ms`; 0: none.
void rtsp_client_control(struct rtsp_client *c, int latency_ms);
// Call it before rtsp_client_begin. Asks the server to send the first group as fast as the network
// takes it, and to await a level then (rtsp_client_place.until).
void rtsp_client_await_level(struct rtsp_client *c);
// Call it after on_ready. Requests a packet pair; both packets carry the number `pair`.
void rtsp_client_ask_pair(struct rtsp_client *c, uint32_t pair, usec_t now);
// Call it after on_playing. Requests the parameters of `body`, a line each: `group-hash`, of at
// most RTSP_CLIENT_HASHES lines, or `subtitles` (subtitle.h). Returns false if the server cannot
// know them, or others are awaited.
bool rtsp_client_ask_values(struct rtsp_client *c, const char *body, usec_t now);
// The same for a part of a film's table; rtsp_client_link.on_film_table follows.
bool rtsp_client_ask_film_table(struct rtsp_client *c, const char *body, usec_t now);
// Call it once, after on_ready. Sends PLAY with this level (-1: the server's choice) and speed.
void rtsp_client_begin(struct rtsp_client *c, int level, double speed, usec_t now);
// Call these after on_playing. The results of level, seek and pause are reported by their events.
void rtsp_client_set_speed(struct rtsp_client *c, double speed, usec_t now);
void rtsp_client_set_level(struct rtsp_client *c, int level, usec_t now);
// Requests that all from frame `from` on, which begins a group that was begun, is sent again at
// this level. The result is reported as that of a level.
void rtsp_client_send_again(struct rtsp_client *c, int64_t from, int level, usec_t now);
// A track of the SDP's x-weir-audio, from 1. Before PLAY it is sent with the other parameters.
// Does nothing if the stream has no choice.
void rtsp_client_set_audio_track(struct rtsp_client *c, int track, usec_t now);
void rtsp_client_set_latency(struct rtsp_client *c, int ms, usec_t now);
// Tells the server the wait from capture to shown that the viewer aims at.
void rtsp_client_set_playout(struct rtsp_client *c, int ms, usec_t now);
// Requests a max rate of all that the server sends, bit/s; 0: none. Returns false if the server
// does not know the parameter; nothing is sent then.
bool rtsp_client_set_max_rate(struct rtsp_client *c, int bps, usec_t now);
// `adapt`: as in rtsp_client_config, not NULL.
void rtsp_client_set_adapt(struct rtsp_client *c, const char *adapt, usec_t now);
// And continues playing. `seconds`: of live media, before the present.
void rtsp_client_seek(struct rtsp_client *c, double seconds, usec_t now);
// Seeks and sets the scale of the play (RFC 2326, 12.34): 1, more for fast forward, < 0 for rewind.
// The server may choose another scale (rtsp_client_place), and keeps it through seeks and pauses.
// The speed becomes 1 unless the scale does.
void rtsp_client_scale(struct rtsp_client *c, double seconds, double scale, usec_t now);
void rtsp_client_pause(struct rtsp_client *c, usec_t now);
void rtsp_client_resume(struct rtsp_client *c, usec_t now);
// Ends the client without on_end, so that another one plays another stream over the connection.
// Sends TEARDOWN if there may be a session, and does not wait for the response: the client that
// follows ignores it. Returns false if the connection cannot be used: then nothing has changed.
bool rtsp_client_hand_over(struct rtsp_client *c, struct rtsp_client_before *out, usec_t now);
// Sends TEARDOWN. Returns true if on_end(RTSP_CLIENT_LEFT) follows: when the server responds, or
// after RTSP_CLIENT_LEAVE_TIME. Returns false if the client has ended. The viewer gets no media
// afterwards.
bool rtsp_client_leave(struct rtsp_client *c, usec_t now);

DECLS_END
#endif
