// SPDX-License-Identifier: GPL-2.0-or-later
// SETUP of a viewer's tracks (RFC 2326, 10.4), in any order. Selects a transport from the request's
// Transport header for the first track, makes the session, and gives each track its path. The
// second track uses the same transport. A player that names Weir's transports gets both tracks in
// one flow; other players get separate channels or ports for each track. Loop thread only.
#ifndef WEIR_SERVER_RTSP_TRACK_SETUP_H
#define WEIR_SERVER_RTSP_TRACK_SETUP_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/rtsp_session.h"
#include "server/rtsp/rtsp_response.h"
#include "server/session/session.h"

DECLS_BEGIN

struct mtp_raw;
struct tcp_conn;
struct track_setup; // opaque

struct track_setup_config {
    uv_loop_t *loop;                          // borrowed, like the pointers below
    struct tcp_conn *tcp;                     // the RTSP connection
    struct mtp_raw *raw;                      // NULL: none
    const char *name;                         // the viewer's address, for the log
    struct rtsp_session *state;               // SETUP changes its state
    void (*on_placed)(void *ctx, usec_t now); // these as struct session_config says
    void (*on_stuck)(void *ctx, const char *why);
    void (*on_broken)(void *ctx, const char *why, usec_t now);
    void *ctx;
    bool srtp; // media beside the RTSP connection is SRTP only, even if that is not encrypted
};

struct track_setup *track_setup_new(const struct track_setup_config *config); // NULL: no memory
void track_setup_free(struct track_setup *t, usec_t now);                     // ends the session

struct track_setup_request {
    struct text transport; // the header's value; .at == NULL: none
    enum media_track track;
    struct stream *stream; // borrowed; outlives the session
    int level;             // the initial level
    bool is_level_known;   // true if the level of the URL exists
};
// Serves one SETUP; `a` has status 200 and is otherwise empty.
void track_setup_serve(struct track_setup *t, const struct track_setup_request *r,
                       struct rtsp_response *a, usec_t now);
// The session was set up by a SETUP with these headers. Opens a second path for its media, if that
// is live, and adds the header to `a`: RTSP_BESIDE_HEADER if the media takes the connection, else
// RTSP_SECOND_HEADER. Without the header, or if it is refused, there is no such path.
void track_setup_beside(struct track_setup *t, struct stream *stream, struct text beside,
                        struct text second, struct rtsp_response *a, usec_t now);
// As session_move. ERR_UNSUPPORTED, too: there is no session.
int track_setup_move(struct track_setup *t, usec_t now);
// Ends the session, if there is one, and closes its ports; another SETUP may follow.
void track_setup_teardown(struct track_setup *t, usec_t now);

// NULL before the first SETUP. Owned by `t`.
struct session *track_setup_session(const struct track_setup *t);
// Of a session: returns true if both tracks are set up.
bool track_setup_has_both(const struct track_setup *t);
// An interleaved frame arrived. The session processes frames on its tracks' RTCP channels; others
// are dropped.
void track_setup_interleaved(struct track_setup *t, int channel, const uint8_t *data, size_t len,
                             usec_t now);
// Sends the packet pair `number` to the media's destination, when that address is validated. 0;
// ERR_UNSUPPORTED: there is no session, or its media is not sent in datagrams.
int track_setup_send_pair(struct track_setup *t, uint32_t number);

DECLS_END
#endif
