// SPDX-License-Identifier: GPL-2.0-or-later
// One connection's request over HTTP for what was recorded of a stream: whether it is let in, the
// times, and the body, which a thread makes (clip_reader.h) and the loop sends as the client takes
// it. One request; the connection ends after it. Loop thread only.
#ifndef WEIR_SERVER_RTSP_CLIP_VISIT_H
#define WEIR_SERVER_RTSP_CLIP_VISIT_H

#include <sys/socket.h>
#include <uv.h>

#include "server/rtsp/path_guest.h"
#include "server/web/web_front.h"

#ifdef __cplusplus
extern "C" {
#endif

struct access;
struct catalog;
struct clip_visit; // opaque
struct tcp_conn;

// For the next piece of a recording; a disk that does not respond for longer ends the request.
#define CLIP_VISIT_LIMIT (20 * USEC_PER_SEC)

struct clip_visit_config {
    uv_loop_t *loop;
    struct catalog *catalog;                 // borrowed
    struct access *access;                   // borrowed; NULL: everybody may watch
    const struct sockaddr *peer;             // copied
    const char *name;                        // borrowed; the peer's address, for the log
    void (*on_ready)(void *ctx, usec_t now); // ask, or send, again
    void *ctx;
};

struct clip_visit *clip_visit_new(const struct clip_visit_config *config); // NULL: no memory
void clip_visit_free(struct clip_visit *v);                                // NULL is fine
// Returns false if the request has to wait: for a password and the disk. Else true: *out is valid
// as long as the visit.
bool clip_visit_ask(struct clip_visit *v, const struct path_query *q, struct web_clip *out,
                    usec_t now);
// Sends the body after the head of status 200. Returns 0: all was sent, or waits in the connection;
// ERR_AGAIN: on_ready follows, or the connection's on_room; ERR_TIMED_OUT, or another error: the
// rest does not come.
int clip_visit_send(struct clip_visit *v, struct tcp_conn *tcp, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
