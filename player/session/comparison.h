// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the shown pictures of a viewing with their source and makes the contact sheet: one
// picture_compare thread for all connections, whose results go to QoE and trace.
#ifndef WEIR_PLAYER_SESSION_COMPARISON_H
#define WEIR_PLAYER_SESSION_COMPARISON_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"
#include "media/source/source.h"
#include "player/compare/contact_sheet.h"
#include "player/options/play_options.h"
#include "player/report/trace.h"
#include "player/video/play_frame.h"
#include "stream/qoe/qoe.h"

DECLS_BEGIN

struct comparison_config {
    uv_loop_t *loop; // these are borrowed
    const struct play_options *options;
    struct qoe *qoe;
    struct trace *events;     // may be NULL
    struct source *reference; // taken over, on failure too; may be NULL
};

struct comparison;

struct comparison *comparison_new(const struct comparison_config *config); // NULL: no memory
void comparison_free(struct comparison *c);                                // NULL is fine
// Loop thread. The stream is described: starts, unless there is nothing to compare with or an
// earlier connection has started it. Returns false if out of memory or threads.
bool comparison_open(struct comparison *c, const struct sdp *sdp);
// Main thread: a frame was shown.
void comparison_push(struct comparison *c, const struct play_frame *f);
// Main thread, after the loop thread has ended: waits for unfinished comparisons until `deadline`,
// and posts their results to the loop.
void comparison_finish(struct comparison *c, usec_t deadline);
const struct contact_sheet *comparison_sheet(const struct comparison *c); // NULL: not requested

DECLS_END
#endif
