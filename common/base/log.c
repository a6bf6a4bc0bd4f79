// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static log_sink_fn *log_sink;
static enum log_level log_max = LOG_INFO;

void log_to(log_sink_fn *sink, enum log_level max)
{
    log_sink = sink;
    log_max = max;
}

void log_write(enum log_level level, const char *format, ...)
{
    if (!log_sink || level > log_max)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    log_sink(level, text);
}
