// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log_budget.h"

#include <stdio.h>
#include <string.h>

void log_budget_init(struct log_budget *b, usec_t now)
{
    *b = (struct log_budget){.left = LOG_BUDGET_LINES, .since = now};
}

void log_budget_advance(struct log_budget *b, usec_t now)
{
    int64_t due = (now - b->since) / LOG_BUDGET_EVERY;
    b->since += due * LOG_BUDGET_EVERY;
    b->left = (int)(due < LOG_BUDGET_LINES - b->left ? b->left + due : LOG_BUDGET_LINES);
}

bool log_budget_take(struct log_budget *b, enum log_level level, char *text)
{
    if (level == LOG_DEBUG)
        return true;
    if (!b->left) {
        b->left_out++;
        return false;
    }
    size_t len = strlen(text);
    if (b->left_out)
        len += (size_t)snprintf(text + len, LOG_TEXT - len, " (%llu messages were left out before)",
                                b->left_out);
    b->left_out = 0;
    if (--b->left == 0 && len < LOG_TEXT)
        snprintf(text + len, LOG_TEXT - len, " (further messages are left out for some minutes)");
    return true;
}
