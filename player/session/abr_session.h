// SPDX-License-Identifier: GPL-2.0-or-later
// The policy of a stored film (--adapt auto) for one connection: reports what
// the connection receives to abr_viewer.h, which decides, and requests its decisions from the
// server. Loop thread only.
#ifndef WEIR_PLAYER_SESSION_ABR_SESSION_H
#define WEIR_PLAYER_SESSION_ABR_SESSION_H

#include <uv.h>

#include "client/rtsp/rtsp_link.h"
#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "player/report/trace.h"
#include "player/session/level_policy.h"
#include "stream/abr/abr_viewer.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct abr_session_ops {
    // The policy decided for `level`. Returns true if it differs from the last requested level.
    bool (*choose_level)(void *ctx, int level, const char *reason);
    // Reads what waits to be shown. Returns true if playing has stalled.
    bool (*read_buffer)(void *ctx, struct abr_buffer *out);
    // From now on playing goes on after a stall with so much media.
    void (*resume)(void *ctx, usec_t media, usec_t now);
    // A request for another level was made, playing has stalled, or begins at a level that stays:
    // level_policy_text tells why.
    void (*on_news)(void *ctx);
};

struct abr_session_config {
    uv_loop_t *loop; // these are borrowed
    struct rtsp_link *link;
    const struct sdp *sdp; // of a film with levels, or one level
    const char *policy;    // of abr_policy.h; static
    int level;             // that stays; -1: the policy chooses
    usec_t target;
    struct qoe *qoe;
    struct trace *events;              // may be NULL
    const struct abr_session_ops *ops; // static; all are required
    void *ctx;
};

struct level_policy *abr_session_new(const struct abr_session_config *config); // or NULL

DECLS_END
#endif
