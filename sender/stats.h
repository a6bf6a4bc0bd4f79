// SPDX-License-Identifier: GPL-2.0-or-later
// `weir-send --stats FILE`: one JSON object a line, a second and a session, and one at the end.
#ifndef WEIR_SENDER_STATS_H
#define WEIR_SENDER_STATS_H

#include "sender/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stats; // opaque

struct stats *stats_open(const char *path); // NULL: the file cannot be written (logged)
void stats_close(struct stats *s);          // NULL is fine
void stats_write(struct stats *s, const struct figures *f, const struct session_figures *session);
// The last line: what the whole program, which is so old, has used.
void stats_end(struct stats *s, usec_t age);

#ifdef __cplusplus
}
#endif
#endif
