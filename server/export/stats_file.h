// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the file of `weir-send --stats FILE`: a line with a JSON object per second and session,
// one per second of the viewers of `--http`, and a last line at the end.
#ifndef WEIR_SERVER_EXPORT_STATS_FILE_H
#define WEIR_SERVER_EXPORT_STATS_FILE_H

#include "common/base/decls.h"
#include "server/stats/stats.h"

DECLS_BEGIN

struct stats_file; // opaque

struct stats_file *stats_file_open(const char *path); // returns NULL on failure, which it logs
void stats_file_close(struct stats_file *s);          // NULL is fine
void stats_file_write(struct stats_file *s, const struct stats *f,
                      const struct session_stats *session);
void stats_file_write_http(struct stats_file *s, const struct stats *f);
// Writes the last line, with the resource usage of the program. `age`: since the program began.
void stats_file_end(struct stats_file *s, usec_t age);

DECLS_END
#endif
