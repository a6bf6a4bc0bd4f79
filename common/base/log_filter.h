// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which messages are logged. A message belongs to several modules: the first word of its
// source file's name, and each folder above that file. server/rtsp/track_setup.c belongs to
// `track`, `server` and `rtsp`.
#ifndef WEIR_BASE_LOG_FILTER_H
#define WEIR_BASE_LOG_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum {
    LOG_MODULE = 24, // max bytes of a module's name, with NUL
    LOG_RULES = 16,
};

struct log_rule {
    char module[LOG_MODULE];
    enum log_level level;
};

struct log_filter {
    enum log_level level; // applies to modules without a rule
    int count;
    struct log_rule rules[LOG_RULES]; // the last matching rule applies
};

// A filter without rules.
struct log_filter log_all(enum log_level level);
const char *log_level_name(enum log_level level);
// Parses "LEVEL[,MODULE=LEVEL...]", in any order; without a LEVEL, f->level is unchanged. Returns
// 0, ERR_MALFORMED, or ERR_FULL (too many rules). After an error the contents of `f` are undefined.
int log_filter_parse(const char *text, struct log_filter *f);
// Writes the main module of a file, the first word of its name, truncated to fit.
void log_module(const char *file, char out[LOG_MODULE]);
bool log_filter_passes(const struct log_filter *f, enum log_level level, const char *file);

DECLS_END
#endif
