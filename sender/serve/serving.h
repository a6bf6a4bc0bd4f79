// SPDX-License-Identifier: GPL-2.0-or-later
// All that weir-send serves with its options, on a loop: the sources and their catalog, the RTSP
// server, and what the options add: HTTP, a push, a recording, stats. The program makes one and
// runs its loop; the library makes one on the loop of each sender's thread. It watches no signal,
// and ends no process. Loop thread only.
#ifndef WEIR_SENDER_SERVE_SERVING_H
#define WEIR_SENDER_SERVE_SERVING_H

#include <stdbool.h>
#include <uv.h>

#include "common/base/decls.h"
#include "sender/options/options.h"

DECLS_BEGIN

struct serving; // opaque

struct serving_config {
    uv_loop_t *loop;               // borrowed
    const struct options *options; // borrowed; serving_reload may put others in their place
    // URLs with a key for viewers go to stdout (server_urls.h); false: none are made.
    bool prints_keys;
    // Called once, if the media of a single source has ended for good and its viewers have left, or
    // had 10 s to do so; the caller calls serving_stop. NULL: what is served stays.
    void (*on_over)(void *ctx);
    void *ctx; // borrowed
    // The process serves this only: CAP_NET_RAW is dropped by all its threads after its use.
    bool owns_process;
};

// Opens the sources, which may block for as long as a slow disk does (30 s at most), and listens.
// NULL on failure (logged): the loop must run until its handles are closed. *err: ERR_TIMED_OUT: a
// thread may still read, and uses the options and the loop; none of them may be freed.
struct serving *serving_new(const struct serving_config *config, int *err);
// Logs what is served and where, but for the last line, with the URL, which it returns: the caller
// logs it. Call it once.
const char *serving_announce(struct serving *s);
// Returns the URL without a key; "" before serving_announce.
const char *serving_url(const struct serving *s);
// Applies what a running server can change, and logs what it cannot. Returns true if the sources
// took over `next`, which is then as options_destroy and free have it.
bool serving_reload(struct serving *s, struct options *next);
// Returns all stats as JSON, as /status.json of --metrics has them; the caller frees the text with
// free(). NULL: no memory.
char *serving_stats(struct serving *s);
// Ends the push and all sessions, and calls `on_stopped` when the viewers have left: within
// RTSP_RECORDER_LEAVE and SERVER_STOP_TIME. Call it once.
void serving_stop(struct serving *s, void (*on_stopped)(void *ctx), void *ctx);
// May be called in `on_stopped`. The loop must run until its handles are closed. NULL is fine.
void serving_free(struct serving *s);

DECLS_END
#endif
