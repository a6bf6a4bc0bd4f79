// SPDX-License-Identifier: GPL-2.0-or-later
// Goddard's client policy (--adapt goddard) for one connection: reports what the connection
// receives to the policy (stream/goddard), and requests the policy's decisions from the server.
// Loop thread only.
#ifndef WEIR_PLAYER_SESSION_GODDARD_SESSION_H
#define WEIR_PLAYER_SESSION_GODDARD_SESSION_H

#include <uv.h>

#include "client/rtsp/rtsp_link.h"
#include "common/base/decls.h"
#include "player/report/trace.h"
#include "player/session/level_policy.h"
#include "stream/goddard/goddard_params.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct goddard_session_config {
    uv_loop_t *loop; // these are borrowed
    struct rtsp_link *link;
    const struct ladder *ladder;
    const struct goddard_params *params;
    struct qoe *qoe;
    struct trace *events; // may be NULL
    // The policy decided for `level`. Returns true if it differs from the last requested level.
    bool (*choose_level)(void *ctx, int level, const char *reason);
    void *ctx;
};

struct level_policy *goddard_session_new(const struct goddard_session_config *config); // or NULL

DECLS_END
#endif
