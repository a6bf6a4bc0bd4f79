// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/library_log.h"

#include <pthread.h>
#include <stdio.h>

#include "common/base/log.h"
#include "lib/weir.h"

static struct {
    weir_log_fn *fn; // NULL: none
    void *ctx;
} receiver;

static _Thread_local struct {
    char *error; // borrowed; NULL: this thread captures nothing
    size_t cap;
} capture;

static void take(const struct log_entry *e)
{
    static const enum weir_log_level levels[] = {[LOG_ERROR] = WEIR_LOG_ERROR,
                                                 [LOG_WARN] = WEIR_LOG_WARN,
                                                 [LOG_INFO] = WEIR_LOG_INFO,
                                                 [LOG_DEBUG] = WEIR_LOG_DEBUG};
    if (e->level == LOG_ERROR && capture.error && capture.cap && !*capture.error)
        snprintf(capture.error, capture.cap, "%s", e->text);
    if (receiver.fn)
        receiver.fn(receiver.ctx, levels[e->level], e->text);
}

static void begin(void)
{
    if (!receiver.fn)
        log_to(take, log_all(LOG_ERROR));
}

void library_log_capture(char *error, size_t cap)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
    capture.error = error;
    capture.cap = cap;
}

void library_log_release(void)
{
    capture.error = NULL;
}

void weir_log_to(weir_log_fn *fn, void *ctx, enum weir_log_level level)
{
    receiver.fn = fn;
    receiver.ctx = ctx;
    log_to(take, log_all(fn ? (enum log_level)level : LOG_ERROR));
}

const char *weir_version(void)
{
    return WEIR_VERSION;
}
