// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/log_budget.h"

static log_sink_fn *log_sink;
static struct log_filter log_passing;
static _Thread_local struct log_errors *kept;
static _Thread_local struct log_budget *log_bounded;

void log_to(log_sink_fn *sink, struct log_filter filter)
{
    log_sink = sink;
    log_passing = filter;
}

void log_errors_keep(struct log_errors *e)
{
    kept = e;
}

struct log_errors *log_errors_kept(void)
{
    return kept;
}

void log_bound(struct log_budget *b)
{
    log_bounded = b;
}

void log_write(enum log_level level, const char *file, const char *key, const char *value,
               const char *format, ...)
{
    bool passes = log_sink && log_filter_passes(&log_passing, level, file);
    bool is_kept = level == LOG_ERROR && kept && !*kept->first;
    if (!passes && !is_kept)
        return;
    char text[LOG_TEXT];
    char module[LOG_MODULE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (is_kept)
        snprintf(kept->first, sizeof(kept->first), "%s", text);
    if (!passes || (log_bounded && !log_budget_take(log_bounded, level, text)))
        return;
    log_module(file, module);
    struct log_entry e = {.level = level,
                          .module = module,
                          .text = text,
                          .key = key,
                          .value = value,
                          .place = format};
    log_sink(&e);
}
