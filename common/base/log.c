// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>

static log_sink_fn *log_sink;
static struct log_filter log_passing;

void log_to(log_sink_fn *sink, struct log_filter filter)
{
    log_sink = sink;
    log_passing = filter;
}

void log_write(enum log_level level, const char *file, const char *key, const char *value,
               const char *format, ...)
{
    if (!log_sink || !log_filter_passes(&log_passing, level, file))
        return;
    char text[LOG_TEXT];
    char module[LOG_MODULE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    log_module(file, module);
    struct log_entry e = {.level = level,
                          .module = module,
                          .text = text,
                          .key = key,
                          .value = value,
                          .place = format};
    log_sink(&e);
}
