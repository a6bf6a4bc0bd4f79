// SPDX-License-Identifier: GPL-2.0-or-later
// A log for people, one line a message. Where it goes is wired by the program; until then nowhere.
// An error is logged once, where it is born, and says what to do when there is something to do.
#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

#include "common/base/log_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LOG_TEXT = 1024 }; // bytes of a message with its end

struct log_entry { // all borrowed for the call
    enum log_level level;
    const char *module;
    const char *text;        // no newline, shorter than LOG_TEXT
    const char *key, *value; // what the message is about, for machines; NULL: nothing
    const void *place;       // where in the code it is born: equal for equal formats
};

// Called from any thread; must be safe for that.
typedef void log_sink_fn(const struct log_entry *e);

// Before any other thread starts. Messages that do not pass are not formatted. NULL: no output.
void log_to(log_sink_fn *sink, struct log_filter filter);

void log_write(enum log_level level, const char *file, const char *key, const char *value,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

#define log_at(level, ...) log_write(level, __FILE__, NULL, NULL, __VA_ARGS__)
#define log_error(...)     log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)      log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)      log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...)     log_at(LOG_DEBUG, __VA_ARGS__)
// With a field: log_of(LOG_INFO, "viewer", name, "viewer %s plays", name).
#define log_of(level, key, value, ...) log_write(level, __FILE__, key, value, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
