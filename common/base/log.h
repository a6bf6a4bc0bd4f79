// SPDX-License-Identifier: GPL-2.0-or-later
// A log for people, one line per message. The program sets the destination with log_to(); before
// that, messages are discarded. An error is logged once, where it occurs, with what the user can do
// about it.
#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

#include "common/base/decls.h"
#include "common/base/log_filter.h"

DECLS_BEGIN

enum { LOG_TEXT = 1024 }; // max bytes of a message with NUL

struct log_entry { // all pointers are borrowed for the call
    enum log_level level;
    const char *module;
    const char *text;        // no newline, shorter than LOG_TEXT
    const char *key, *value; // subject of the message, for machines; NULL: none
    const void *place;       // identifies the call site: equal for equal formats
};

// Called from any thread, so an implementation must be thread-safe.
typedef void log_sink_fn(const struct log_entry *e);

// Call before other threads start. Messages that the filter rejects are not formatted. A NULL sink
// discards all messages.
void log_to(log_sink_fn *sink, struct log_filter filter);

struct log_errors {       // init with {0}
    char first[LOG_TEXT]; // the text of the first error; "": none
};

// Also keeps in *e, from now on, the first error that this thread logs, whatever the filter says;
// `e` is borrowed until another call on this thread. NULL: none are kept.
void log_errors_keep(struct log_errors *e);
// Returns what this thread keeps errors in: a thread that works for it keeps them there, too, while
// this one waits.
struct log_errors *log_errors_kept(void);

struct log_budget; // log_budget.h
// Bounds what the calling thread logs. Borrowed until the next call; NULL: not bounded.
void log_bound(struct log_budget *b);

void log_write(enum log_level level, const char *file, const char *key, const char *value,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

#define log_at(level, ...) log_write(level, __FILE__, NULL, NULL, __VA_ARGS__)
#define log_error(...)     log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)      log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...)      log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...)     log_at(LOG_DEBUG, __VA_ARGS__)
// Logs with a key and a value: log_of(LOG_INFO, "viewer", name, "viewer %s plays", name).
#define log_of(level, key, value, ...) log_write(level, __FILE__, key, value, __VA_ARGS__)

DECLS_END
#endif
