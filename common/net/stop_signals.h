// SPDX-License-Identifier: GPL-2.0-or-later
// The signals that end a program: SIGINT, SIGTERM and SIGHUP; SIGHUP only if it was not ignored at
// the start (nohup(1)).
#ifndef WEIR_NET_STOP_SIGNALS_H
#define WEIR_NET_STOP_SIGNALS_H

#include <uv.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { STOP_SIGNALS = 3 };

// `name` is the signal's name, such as "SIGTERM".
typedef void stop_signals_fn(void *ctx, const char *name);

struct stop_signals {
    uv_signal_t handles[STOP_SIGNALS];
    stop_signals_fn *fn;
    void (*on_hangup)(void *ctx); // NULL: SIGHUP ends the program, too
    void *ctx;                    // borrowed
};

// Calls `fn` for the first of the signals only. Then the default handling is restored, so a second
// signal ends the program at once.
void stop_signals_watch(struct stop_signals *s, uv_loop_t *loop, stop_signals_fn *fn, void *ctx);
// Holds back SIGHUP, which would end a program that does not watch it yet.
void stop_signals_hold_hangup(void);
// Gives SIGHUP its effect: the watch's, or the default one. Also one that was held back.
void stop_signals_release_hangup(void);
// From now on SIGHUP calls `fn`, each time, and ends nothing: for a service that reads its
// configuration again. `fn` gets stop_signals_watch's `ctx`.
void stop_signals_on_hangup(struct stop_signals *s, void (*fn)(void *ctx));
// Call once; the loop must run on until the handles are closed.
void stop_signals_close(struct stop_signals *s);

DECLS_END
#endif
