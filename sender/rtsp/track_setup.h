// SPDX-License-Identifier: GPL-2.0-or-later
// SETUP of a viewer's tracks (RFC 2326, 10.4), in any order: picks a transport from the request's
// Transport header for the first one, makes the session, and gives each track its path. A second
// track takes the same transport: a player that names Weir's transports gets both tracks in one
// flow, any other gets channels or ports of its own for each. Loop thread only.
#ifndef WEIR_SENDER_RTSP_TRACK_SETUP_H
#define WEIR_SENDER_RTSP_TRACK_SETUP_H

#include <uv.h>

#include "common/protocol/rtsp_session.h"
#include "sender/rtsp/rtsp_response.h"
#include "sender/session/session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mtp_raw;
struct tcp_conn;
struct track_setup; // opaque

struct track_setup_config {
    uv_loop_t *loop;                              // borrowed, as all that follows
    struct tcp_conn *tcp;                         // the RTSP connection
    struct mtp_raw *raw;                          // NULL: none
    const char *name;                             // of the viewer, for the log
    struct rtsp_session *state;                   // SETUP applies its change of state
    void (*on_stuck)(void *ctx, const char *why); // as struct session_config says
    void *ctx;
};

struct track_setup *track_setup_new(const struct track_setup_config *config); // NULL: no memory
void track_setup_free(struct track_setup *t, usec_t now);                     // ends the session

struct track_setup_request {
    struct text transport; // the header's value; .at == NULL: none
    enum media_track track;
    struct stream *stream; // borrowed; outlives the session
    int level;             // to begin with
    bool is_level_known;   // the level that the URL names is one of the stream's
};
// Serves one SETUP; `a` has status 200 and is else empty.
void track_setup_serve(struct track_setup *t, const struct track_setup_request *r,
                       struct rtsp_response *a, usec_t now);
// Ends the session, if there is one, and closes its ports: SETUP may come again.
void track_setup_teardown(struct track_setup *t, usec_t now);

// NULL before the first SETUP. Owned by `t`.
struct session *track_setup_session(const struct track_setup *t);
// Of a session: returns true if both tracks are set up.
bool track_setup_has_both(const struct track_setup *t);
// An interleaved frame came. One on a track's channel for RTCP is the session's; any other is
// dropped.
void track_setup_interleaved(struct track_setup *t, int channel, const uint8_t *data, size_t len,
                             usec_t now);
// Sends the packet pair `number` where the media goes, once that address is validated. 0;
// ERR_UNSUPPORTED: there is no session, or its media does not go in datagrams.
int track_setup_send_pair(struct track_setup *t, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
