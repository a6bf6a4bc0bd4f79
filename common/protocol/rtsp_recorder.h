// SPDX-License-Identifier: GPL-2.0-or-later
// The pushing side of an RTSP session (RFC 2326), without I/O: it announces a stream to a server
// and records it there. Received bytes go in through rtsp_recorder_input; bytes to send leave
// through rtsp_recorder_link, which the owner of the connection implements; rtsp_recorder_events
// tell the owner what happened.
//
//   OPTIONS -> ANNOUNCE (10.3) -> SETUP, mode=record, of each track -> RECORD (10.11) -> media
//
// One request at a time, as servers in use require. A 401 repeats the request with credentials
// (rtsp_auth.h). A server that refuses the type of the media (406, 415, 488) gets ANNOUNCE again
// with the next description of the list: other audio, or none. Where it refuses the SETUP of the
// audio, the recorder ends with RTSP_RECORDER_OTHER_AUDIO if there is other audio: few servers take
// ANNOUNCE twice in a session. Else it records without audio. A transport that it refuses (461) is
// followed by the next of the list. A redirect is refused: the media and the password go to the
// server of the URL, or nowhere.
//
// Deadlines: 8 s for each response, 32 s from the connection to RECORD's response. While it
// records, a request each 5 s, or each third of the session's timeout if that is less, keeps the
// session from expiring; a server from which no whole message comes for 20 s counts as lost.
//
// After every call the owner reads rtsp_recorder_next_timeout again. Pure.
#ifndef WEIR_PROTOCOL_RTSP_RECORDER_H
#define WEIR_PROTOCOL_RTSP_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/media_transport.h"
#include "common/protocol/rtsp_auth.h"
#include "common/protocol/transport_names.h"
#include "common/wire/text.h"
#include "common/wire/url.h"

DECLS_BEGIN

#define RTSP_RECORDER_RESPONSE  (8 * USEC_PER_SEC)
#define RTSP_RECORDER_HANDSHAKE (32 * USEC_PER_SEC)
#define RTSP_RECORDER_SILENCE   (20 * USEC_PER_SEC)
#define RTSP_RECORDER_LEAVE     (500 * USEC_PER_MSEC) // max time from leave to on_end

enum rtsp_recorder_end {
    RTSP_RECORDER_REFUSED,  // a further attempt would be refused, too: password, media, method ...
    RTSP_RECORDER_FAILED,   // the server cannot be reached, or does not record now
    RTSP_RECORDER_LOST,     // the server vanished, or ended the session, after RECORD
    RTSP_RECORDER_INTERNAL, // no memory, no ports ...
    RTSP_RECORDER_OTHER_AUDIO, // the server refuses this audio: announce without it from the start
    RTSP_RECORDER_LEFT,        // after rtsp_recorder_leave
};

// A description of the stream.
struct rtsp_recorder_offer {
    const char *sdp;   // borrowed for the recorder's life
    const char *audio; // static; name of its audio's codec; NULL: it has no audio
};
enum { RTSP_RECORDER_OFFERS = 3 };

struct rtsp_recorder_config {
    struct url url;
    const char *agent; // static: the program's name
    // What is announced, in order of preference; the last has no audio.
    struct rtsp_recorder_offer offers[RTSP_RECORDER_OFFERS];
    int offer_count;
    const char *control[TRACKS]; // static: each track's control URL in the SDP
    struct transport_list transports;
    rtsp_hash_fn *hash;
    uint64_t seed; // seed of the nonces for authentication
};

struct rtsp_recorder_start {
    const char *transport; // the name from the list, valid until the end
    const char *audio;     // of the offer that the server took; NULL: video only
};

// Calls to the owner. All are required. They may call rtsp_recorder_* functions, except new and
// free.
struct rtsp_recorder_events {
    // RECORD was accepted: media may be sent.
    void (*on_recording)(void *ctx, const struct rtsp_recorder_start *start, usec_t now);
    // The last call. `text`: for people; empty for RTSP_RECORDER_LEFT. It has no password.
    void (*on_end)(void *ctx, enum rtsp_recorder_end end, const char *text, usec_t now);
};

// Operations that the owner of the connection provides. All are required.
struct rtsp_recorder_link {
    // Queues bytes for the connection. Returns 0; after an error the recorder ends.
    int (*send)(void *ctx, const char *data, size_t len);
    // Opens what the transport requires for the track, and writes the value of a Transport header
    // (12.39), with mode=record, to `out`. Returns 0; after an error the recorder ends.
    int (*offer)(void *ctx, const char *transport, enum media_track track, char *out, size_t cap);
    // Accepts the server's choice for the track. Returns 0; ERR_MALFORMED: it was not offered.
    int (*accept)(void *ctx, const char *transport, enum media_track track, struct text answer);
    // Closes what `offer` opened for the track.
    void (*abandon)(void *ctx, enum media_track track);
    // A frame arrived on a channel of the connection (10.12).
    void (*on_interleaved)(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now);
};

struct rtsp_recorder;

// `config` is copied; `link` and `events` are static, the contexts borrowed. The owner connects to
// config->url and calls rtsp_recorder_connected. NULL: no memory.
struct rtsp_recorder *rtsp_recorder_new(const struct rtsp_recorder_config *config,
                                        const struct rtsp_recorder_link *link,
                                        const struct rtsp_recorder_events *events, void *ctx);
void rtsp_recorder_free(struct rtsp_recorder *r); // NULL is fine; not inside a callback

// ---- From the connection

void rtsp_recorder_connected(struct rtsp_recorder *r, usec_t now);
// Processes received bytes. Returns how many were consumed; the caller passes the rest again,
// together with later bytes. ERR_MALFORMED, ERR_TOO_BIG: the stream cannot be parsed; the caller
// closes the connection and calls rtsp_recorder_closed.
int rtsp_recorder_input(struct rtsp_recorder *r, const uint8_t *data, size_t len, usec_t now);
// The connection ended. `err`: as for tcp_conn_ops.on_close.
void rtsp_recorder_closed(struct rtsp_recorder *r, int err, usec_t now);
// Ends the recorder for a reason outside the protocol.
void rtsp_recorder_fail(struct rtsp_recorder *r, enum rtsp_recorder_end end, const char *text,
                        usec_t now);

usec_t rtsp_recorder_next_timeout(const struct rtsp_recorder *r); // USEC_NEVER: none
void rtsp_recorder_on_timeout(struct rtsp_recorder *r, usec_t now);

// ---- From the owner

// Sends TEARDOWN. Returns true if on_end(RTSP_RECORDER_LEFT) follows: when the server responds, or
// after RTSP_RECORDER_LEAVE. Returns false if the recorder has ended.
bool rtsp_recorder_leave(struct rtsp_recorder *r, usec_t now);
// Returns true if the recorder waits for a connection.
bool rtsp_recorder_is_connecting(const struct rtsp_recorder *r);
bool rtsp_recorder_is_over(const struct rtsp_recorder *r); // on_end was called

DECLS_END
#endif
