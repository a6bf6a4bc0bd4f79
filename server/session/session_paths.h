// SPDX-License-Identifier: GPL-2.0-or-later
// The paths of one session's media, and the transport on each: `home`, the one of the SETUP, and
// `away`, beside the connection, made again each time the media takes it. Moves the media between
// them at the viewer's request, when a path is lost (path_loss.h), and when the viewer's address
// changes (path_change.h). Loop thread only.
#ifndef WEIR_SERVER_SESSION_SESSION_PATHS_H
#define WEIR_SERVER_SESSION_SESSION_PATHS_H

#include "common/base/decls.h"
#include "common/transport/path_validation.h"
#include "common/transport/transport.h"
#include "stream/send/stream_sender.h"

DECLS_BEGIN

struct session_paths; // opaque
struct session_beside;

struct session_paths_config {
    struct stream_sender *sender; // borrowed, as all that follows
    const char *transport;        // of home; read once
    // Of home; copied. Its ssrc, on_room and ctx are those of the other path, too.
    const struct transport_path *path;
    const char *peer; // the viewer's address as a text, for the log
};

// Opens home, and attaches the sender to it. NULL: logged, or no memory.
struct session_paths *session_paths_new(const struct session_paths_config *config, usec_t now);
void session_paths_free(struct session_paths *p); // NULL is fine

// The transport that carries the media.
struct transport *session_paths_transport(const struct session_paths *p);
struct transport *session_paths_home(const struct session_paths *p);
// Copied. Once, before the media plays.
void session_paths_set_beside(struct session_paths *p, const struct session_beside *beside);
const struct session_beside *session_paths_beside(const struct session_paths *p);
// Opens a second path next to home, over datagrams, too: the media takes both (two_paths.h). Once,
// before the media plays. 0; ERR_UNSUPPORTED: not of such a session; ERR_NO_MEMORY.
int session_paths_set_second(struct session_paths *p, const struct session_beside *second,
                             usec_t now);
struct transport *session_paths_second(const struct session_paths *p); // NULL: there is none
// The figures of what carries the media: of one path, or of both.
void session_paths_info(const struct session_paths *p, struct transport_info *out, usec_t now);
// Reports came, or a path has room again; the caller then sends what waits.
void session_paths_on_event(struct session_paths *p, usec_t now);
void session_paths_send_rtcp(struct session_paths *p, enum media_track track, const uint8_t *data,
                             size_t len, usec_t now);
// How home's lost packets are repaired, as negotiated.
void session_paths_set_repair(struct session_paths *p, enum repair_mode mode);

// The viewer requests the move beside the connection: it comes with the next frame that has not
// begun to leave. 0; ERR_UNSUPPORTED: there is no such path, or its addresses are not validated.
int session_paths_request(struct session_paths *p, usec_t now);
// Call it about once a frame, before the frame: leaves the connection if the viewer wants it, and
// returns to it when the other path is lost.
void session_paths_check(struct session_paths *p, usec_t now);
usec_t session_paths_next_timeout(const struct session_paths *p);
void session_paths_on_timeout(struct session_paths *p, usec_t now);
// The viewer has responded to the session's request `number` over the connection: it runs.
void session_paths_responded(struct session_paths *p, int number, usec_t now);

// The RTSP connection has another socket. What left over the one before since `lost_since` may be
// lost: media that takes the connection goes on with frames that depend on none of it.
void session_paths_reconnected(struct session_paths *p, usec_t lost_since, usec_t now);

// Of the path that has the viewer's addresses:
// Returns true if another address of port `which` (0: RTP, 1: RTCP), which has responded, may take
// the place of the known one. Of RTP, four at once may, and then one a second.
bool session_paths_may_change(struct session_paths *p, int which, usec_t now);
// Returns true if the known address is to be challenged.
bool session_paths_is_doubted(const struct session_paths *p);
// The known address has responded; `before` is the one whose place it has taken, or itself.
void session_paths_answered(struct session_paths *p, const struct sockaddr *before,
                            const struct sockaddr *address, usec_t now);

DECLS_END
#endif
