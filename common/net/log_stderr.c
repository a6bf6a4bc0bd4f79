// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/log_stderr.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log_json.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"

static const char *program_name;

// One call: stdio keeps lines whole.
static void sink_text(const struct log_entry *e)
{
    static const char *const words[] = {"error: ", "warning: ", "", "debug: "};
    char text[LOG_TEXT];
    utf8_copy(e->text, text, sizeof(text));
    fprintf(stderr, "%s: %s%s\n", program_name, words[e->level], text);
}

static void sink_json(const struct log_entry *e)
{
    usec_t now = clock_wall();
    time_t seconds = now / USEC_PER_SEC;
    struct tm utc;
    char date[32];
    char ts[48];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(ts, sizeof(ts), "%s.%06dZ", date, (int)(now % USEC_PER_SEC)); // RFC 3339
    char line[8192]; // a message's 1023 bytes grow sixfold at most
    struct put p = put_into(line, sizeof(line));
    log_json(&p, e, ts);
    fprintf(stderr, "%s\n", line);
}

// Of a program that was started without standard streams, what it opens next would be in their
// place, and the log would go there: to a viewer, or into the loop's own pipe.
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd < STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

void log_to_stderr_as(const char *program, const struct log_options *options)
{
    fill_standard_streams();
    program_name = program;
    log_to(options->json ? sink_json : sink_text, options->filter);
}

void log_to_stderr(const char *program, enum log_level max)
{
    log_to_stderr_as(program, &(struct log_options){.filter = log_all(max)});
}
