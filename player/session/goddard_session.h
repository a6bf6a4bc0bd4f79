// SPDX-License-Identifier: GPL-2.0-or-later
// Goddard's client policy (--adapt goddard or auto) for one connection: reports what the connection
// receives to the policy (stream/goddard), and requests the policy's decisions from the server. It
// starts with goddard_session_ready and ends with the connection's media. Loop thread only.
#ifndef WEIR_PLAYER_SESSION_GODDARD_SESSION_H
#define WEIR_PLAYER_SESSION_GODDARD_SESSION_H

#include <uv.h>

#include "client/rtsp/rtsp_link.h"
#include "player/report/trace.h"
#include "stream/goddard/goddard_params.h"
#include "stream/qoe/qoe.h"

#ifdef __cplusplus
extern "C" {
#endif

struct goddard_session_config {
    uv_loop_t *loop; // these are borrowed
    struct rtsp_link *link;
    const struct ladder *ladder;
    const struct goddard_params *params;
    bool plays_early; // playing begins before params->play_buf_thresh is buffered (goddard.h)
    struct qoe *qoe;
    struct trace *events; // may be NULL
    // The policy decided for `level`. Returns true if it differs from the last requested level.
    bool (*choose_level)(void *ctx, int level, const char *reason);
    void *ctx;
};

struct goddard_path {
    const char *transport;
    bool pairs; // true if packet pairs can be requested, which measure the capacity
    usec_t rtt; // 0: unknown
};

struct goddard_session;

struct goddard_session *goddard_session_new(const struct goddard_session_config *config); // or NULL
void goddard_session_free(struct goddard_session *g); // NULL is fine

// If the session is NULL, the functions below do nothing. The transport is set up: the policy
// starts, and PLAY follows when it has chosen a level.
void goddard_session_ready(struct goddard_session *g, const struct goddard_path *path, usec_t now);
void goddard_session_pair(struct goddard_session *g, const struct capacity_packet *packet,
                          size_t bytes, usec_t arrived, usec_t now);
void goddard_session_no_pair(struct goddard_session *g,
                             usec_t now); // the server refused packet pairs
void goddard_session_packet(struct goddard_session *g, const struct rtp_packet *packet,
                            usec_t arrived, usec_t now);
// Frame `number` is complete; `buffered`: media that waits to be shown.
void goddard_session_frame(struct goddard_session *g, int64_t number, usec_t buffered, usec_t now);
void goddard_session_empty(struct goddard_session *g, usec_t now); // a stall begins
void goddard_session_pause(struct goddard_session *g, bool pause,
                           usec_t now); // false: playing resumes
// The position changed: frames of the new one arrive from now on. Of those below `show` the server
// sends only what is needed to decode it, so they do not count. The policy continues if the media
// had ended.
void goddard_session_seek(struct goddard_session *g, int64_t show, usec_t now);
// The user chose a level: the media comes at its pace, and the policy stands still
// until goddard_session_engage.
void goddard_session_release(struct goddard_session *g, usec_t now);
// The viewer lets the policy choose again, after goddard_session_release.
void goddard_session_engage(struct goddard_session *g, usec_t now);
// The media has ended or the connection was lost: no further requests.
void goddard_session_end(struct goddard_session *g);

#ifdef __cplusplus
}
#endif
#endif
