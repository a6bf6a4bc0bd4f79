// SPDX-License-Identifier: GPL-2.0-or-later
// The sender's figures in Prometheus' text exposition format, version 0.0.4. A figure that cannot
// be known has no sample. Labels are bounded: a session's is its number, a path's the URL of one of
// the streams that are open (figures.h). Pure.
#ifndef WEIR_SENDER_METRICS_TEXT_H
#define WEIR_SENDER_METRICS_TEXT_H

#include <stddef.h>

#include "sender/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    METRICS_TEXT_BYTES = 64 * 1024 + FIGURES_SESSIONS * (8 * 1024 + FIGURES_PATH) +
                         FIGURES_STREAMS * 112 * (FIGURES_PATH + 128), // hold any of them
};

#define METRICS_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

// The length without its NUL, or ERR_FULL.
int metrics_text(const struct figures *f, const struct process_figures *p, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
