// SPDX-License-Identifier: GPL-2.0-or-later
// `weir-send --stats FILE`: one JSON object a line, a second and a session, and one at the end.
#ifndef WEIR_SENDER_EXPORT_STATS_FILE_H
#define WEIR_SENDER_EXPORT_STATS_FILE_H

#include "sender/stats/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stats_file; // opaque

struct stats_file *stats_file_open(const char *path); // NULL: the file cannot be written (logged)
void stats_file_close(struct stats_file *s);          // NULL is fine
void stats_file_write(struct stats_file *s, const struct stats *f,
                      const struct session_stats *session);
// The last line: what the whole program, which is so old, has used.
void stats_file_end(struct stats_file *s, usec_t age);

#ifdef __cplusplus
}
#endif
#endif
