// SPDX-License-Identifier: GPL-2.0-or-later
// Which messages are logged. The modules of a message are the first word of its source file's name
// and each folder above that file: `viewer`, `sender` and `rtsp` of sender/rtsp/viewer_setup.c.
#ifndef WEIR_BASE_LOG_FILTER_H
#define WEIR_BASE_LOG_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum {
    LOG_MODULE = 24, // bytes of a module's name, with NUL
    LOG_RULES = 16,
};

struct log_rule {
    char module[LOG_MODULE];
    enum log_level level;
};

struct log_filter {
    enum log_level level; // of what no rule speaks of
    int count;
    struct log_rule rules[LOG_RULES]; // the last that fits holds
};

struct log_filter log_all(enum log_level level); // no rules
const char *log_level_name(enum log_level level);
// "LEVEL[,MODULE=LEVEL...]", in any order; without a LEVEL that of `f` stays. 0; ERR_MALFORMED;
// ERR_FULL: too many rules. After an error `f` is of no use.
int log_filter_parse(const char *text, struct log_filter *f);
// The module of a file, cut to fit: its name's first word.
void log_module(const char *file, char out[LOG_MODULE]);
bool log_filter_passes(const struct log_filter *f, enum log_level level, const char *file);

#ifdef __cplusplus
}
#endif
#endif
