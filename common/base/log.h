// SPDX-License-Identifier: GPL-2.0-or-later
// A log for people, one line a message. Where it goes is wired by the program; until then nowhere.
// An error is logged once, where it is born, and says what to do when there is something to do.
#ifndef WEIR_BASE_LOG_H
#define WEIR_BASE_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

// Called from any thread; must be safe for that. `text` has no newline and is borrowed for the
// call.
typedef void log_sink_fn(enum log_level level, const char *text);

// Before any other thread starts. Messages above `max` are not formatted. NULL: no output.
void log_to(log_sink_fn *sink, enum log_level max);

void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
