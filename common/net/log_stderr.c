// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/log_stderr.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log_json.h"
#include "common/base/log_limit.h"
#include "common/base/utf8.h"
#include "common/net/clock.h"

enum { PATIENCE_MS = 50 };

static const char *program_name;
static log_sink_fn *write_entry; // write_text() or write_json()
static atomic_uint lost;         // number of lines that stderr did not take
static pthread_mutex_t limit_lock = PTHREAD_MUTEX_INITIALIZER; // guards `limit`
static struct log_limit limit;

// Uses one call, as stdio keeps the output of one call together.
static void write_text(const struct log_entry *e)
{
    static const char *const words[] = {"error: ", "warning: ", "", "debug: "};
    char text[LOG_TEXT];
    utf8_copy(e->text, text, sizeof(text));
    fprintf(stderr, "%s: %s%s\n", program_name, words[e->level], text);
}

static void write_json(const struct log_entry *e)
{
    usec_t now = clock_wall();
    time_t seconds = now / USEC_PER_SEC;
    struct tm utc;
    char date[32];
    char ts[48];
    gmtime_r(&seconds, &utc);
    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(ts, sizeof(ts), "%s.%06dZ", date, (int)(now % USEC_PER_SEC)); // RFC 3339
    char line[8192]; // a message's 1023 bytes grow at most sixfold
    struct put p = put_into(line, sizeof(line));
    log_json(&p, e, ts);
    fprintf(stderr, "%s\n", line);
}

static bool is_taken(void)
{
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&p, 1, atomic_load(&lost) ? 0 : PATIENCE_MS) != 0;
}

// The reader of stderr may block, such as a pager or a stopped terminal. The first line waits for
// it for PATIENCE_MS; later lines are dropped, so that viewers do not wait.
static void write_or_lose(const struct log_entry *e)
{
    unsigned count = atomic_load(&lost) && is_taken() ? atomic_exchange(&lost, 0) : 0;
    if (count) {
        char text[LOG_TEXT];
        snprintf(text, sizeof(text), "%u log lines dropped: the reader of stderr is too slow",
                 count);
        write_entry(&(struct log_entry){.level = LOG_WARN, .module = e->module, .text = text});
    }
    if (is_taken())
        write_entry(e);
    else
        atomic_fetch_add(&lost, 1);
}

static void write_summaries(usec_t now)
{
    char text[LOG_TEXT];
    char module[LOG_MODULE];
    struct log_entry e;
    for (;;) {
        pthread_mutex_lock(&limit_lock);
        bool due = log_limit_summary(&limit, text, &e, now);
        if (due)
            // Copied, because its entry may be reused after the unlock.
            snprintf(module, sizeof(module), "%s", e.module);
        pthread_mutex_unlock(&limit_lock);
        if (!due)
            return;
        e.module = module;
        write_or_lose(&e);
    }
}

void log_stderr_tick(usec_t now)
{
    write_summaries(now);
}

static void write_last_summaries(void)
{
    write_summaries(USEC_NEVER);
}

// Debug lines are not limited: the user requested each of them.
static void sink(const struct log_entry *e)
{
    if (e->level < LOG_DEBUG) {
        usec_t now = clock_now();
        write_summaries(now);
        pthread_mutex_lock(&limit_lock);
        bool pass = log_limit_pass(&limit, e, now);
        pthread_mutex_unlock(&limit_lock);
        if (!pass)
            return;
    }
    write_or_lose(e);
}

void log_to_stderr_as(const char *program, const struct log_options *options)
{
    program_name = program;
    write_entry = options->json ? write_json : write_text;
    atexit(write_last_summaries);
    log_to(sink, options->filter);
}

void log_to_stderr(const char *program, enum log_level max)
{
    log_to_stderr_as(program, &(struct log_options){.filter = log_all(max)});
}
