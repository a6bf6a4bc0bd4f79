// SPDX-License-Identifier: GPL-2.0-or-later
// `weir-send --stats FILE`: one JSON object a line, a second and a session, and one at the end.
#ifndef WEIR_SENDER_STATS_H
#define WEIR_SENDER_STATS_H

#include "common/base/usec.h"
#include "sender/session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stats; // opaque

// NULL: the file cannot be written (logged). `now` is when t = 0.
struct stats *stats_open(const char *path, usec_t now);
void stats_close(struct stats *s); // NULL is fine
void stats_write(struct stats *s, struct session *session, usec_t now);
// The last line: what the whole program has used.
void stats_end(struct stats *s, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
