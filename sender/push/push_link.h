// SPDX-License-Identifier: GPL-2.0-or-later
// One connection to a server that a stream is pushed to: looks the host up, connects, runs
// rtsp_recorder.h (the protocol) on the socket, and gives the server a session (session.h) as a
// viewer has: the encoders are the stream's, shared with its other viewers. Loop thread only.
//
// Over TCP (`tcp`, `minbuf`) level and encoder follow the kernel's TCP_INFO, as for viewers; over
// `udp` the server's receiver reports (report_rate.h). The audio is Opus or AAC. NACK and PLI of
// the server are answered. The timeout to connect is 5 s; 2 s while the host has further addresses.
#ifndef WEIR_SENDER_PUSH_PUSH_LINK_H
#define WEIR_SENDER_PUSH_PUSH_LINK_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/rtsp_recorder.h"
#include "sender/policy/push_audio.h"
#include "server/session/stream.h"

DECLS_BEGIN

struct push_link;

struct push_link_config {
    uv_loop_t *loop;                             // borrowed, like the pointers below
    struct stream *stream;                       // outlives the link
    const struct url *url;                       // copied
    const struct transport_list *transports;     // copied
    const struct push_audio *audio;              // copied; what is offered, in this order
    const char *agent;                           // static; the program's name
    int level;                                   // the highest level, whose size is announced
    void (*on_recording)(void *ctx, usec_t now); // the server takes media
    // The last callback: the owner frees the link, in it or later. `text`: for people.
    // RTSP_RECORDER_LEFT: after push_link_leave, or at the end of the media.
    // RTSP_RECORDER_OTHER_AUDIO: a link that does not offer the first of `audio` may record.
    void (*on_end)(void *ctx, enum rtsp_recorder_end end, const char *text, usec_t now);
    void *ctx;
};

// Starts at once. NULL: no memory (logged).
struct push_link *push_link_new(const struct push_link_config *config, usec_t now);
void push_link_free(struct push_link *l, usec_t now); // NULL is fine; no callback afterwards
// Ends the session: BYE, TEARDOWN; on_end follows within RTSP_RECORDER_LEAVE.
void push_link_leave(struct push_link *l, usec_t now);

DECLS_END
#endif
