// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "common/base/log.h"
#include "lib/weir.h"

static weir_log_fn *receiver;
static void *receiver_ctx; // borrowed

static void pass_on(const struct log_entry *e)
{
    static const enum weir_log_level levels[] = {[LOG_ERROR] = WEIR_LOG_ERROR,
                                                 [LOG_WARN] = WEIR_LOG_WARN,
                                                 [LOG_INFO] = WEIR_LOG_INFO,
                                                 [LOG_DEBUG] = WEIR_LOG_DEBUG};
    receiver(receiver_ctx, levels[e->level], e->text);
}

void weir_log_to(weir_log_fn *fn, void *ctx, enum weir_log_level level)
{
    receiver = fn;
    receiver_ctx = ctx;
    log_to(fn ? pass_on : NULL, log_all((enum log_level)level));
}

const char *weir_version(void)
{
    return WEIR_VERSION;
}
