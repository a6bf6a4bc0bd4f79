// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/log_stderr.h"

#include <stdio.h>

static const char *program_name;

static void sink(enum log_level level, const char *text)
{
    static const char *const words[] = {"error: ", "warning: ", "", "debug: "};
    fprintf(stderr, "%s: %s%s\n", program_name, words[level],
            text); // one call: stdio keeps lines whole
}

void log_to_stderr(const char *program, enum log_level max)
{
    program_name = program;
    log_to(sink, max);
}
