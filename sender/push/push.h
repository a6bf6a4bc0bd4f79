// SPDX-License-Identifier: GPL-2.0-or-later
// Pushes a stream to a server, by one connection (push_link.h) after the other: after a loss it
// connects again, with growing waits (push_retry.h). It stops for good when the server refuses what
// a further attempt would not change: the password, the media, the method. Viewers of the stream
// are served all the time. Loop thread only.
#ifndef WEIR_SENDER_PUSH_PUSH_H
#define WEIR_SENDER_PUSH_PUSH_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/transport_names.h"
#include "common/wire/url.h"
#include "sender/policy/push_audio.h"
#include "server/session/stream.h"

DECLS_BEGIN

struct push;

struct push_config {
    uv_loop_t *loop;       // borrowed
    struct stream *stream; // borrowed; outlives the push
    struct url url;
    struct transport_list transports;
    struct push_audio audio;
    const char *agent; // static; the program's name
    int level;         // the highest level, whose size is announced
};

// Starts at once. NULL: no memory (logged).
struct push *push_new(const struct push_config *config, usec_t now);
void push_free(struct push *p, usec_t now); // NULL is fine; no callback afterwards
// Ends the session at the server; calls `on_left` within RTSP_RECORDER_LEAVE, not inside this call.
void push_leave(struct push *p, void (*on_left)(void *ctx), void *ctx, usec_t now);

DECLS_END
#endif
