// SPDX-License-Identifier: GPL-2.0-or-later
// The signals that end a program: SIGINT, SIGTERM and SIGHUP, the last not where it is ignored from
// the beginning (nohup(1)).
#ifndef WEIR_NET_STOP_SIGNALS_H
#define WEIR_NET_STOP_SIGNALS_H

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STOP_SIGNALS = 3 };

typedef void stop_signals_fn(void *ctx, const char *name); // "SIGTERM"

struct stop_signals {
    uv_signal_t handles[STOP_SIGNALS];
    stop_signals_fn *fn;
    void *ctx; // borrowed
};

// `fn` is called for the first of them only: then the system's own handling is back, and a second
// one ends the program at once.
void stop_signals_watch(struct stop_signals *s, uv_loop_t *loop, stop_signals_fn *fn, void *ctx);
// Once; the loop has to run on until the handles are closed.
void stop_signals_close(struct stop_signals *s);

#ifdef __cplusplus
}
#endif
#endif
