// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_transports.h"

#include <stdio.h>
#include <string.h>

void qoe_transports_set(struct qoe_transports *t, const char *name, const char *why, double at)
{
    struct qoe_carried *last = t->count ? &t->list[t->count - 1] : NULL;
    if (last && !*why && strcmp(last->name, name) == 0)
        return;
    if (last)
        last->to = at;
    if (t->count == QOE_MAX_TRANSPORTS)
        memmove(t->list, t->list + 1, (size_t)--t->count * sizeof(t->list[0]));
    struct qoe_carried *next = &t->list[t->count++];
    *next = (struct qoe_carried){.from = at};
    snprintf(next->name, sizeof(next->name), "%s", name);
    snprintf(next->why, sizeof(next->why), "%s", why);
}

void qoe_transports_read(const struct qoe_transports *t, struct qoe_json *out, double end)
{
    out->session.transport_count = t->count;
    memcpy(out->session.transports, t->list, sizeof(t->list));
    if (t->count)
        out->session.transports[t->count - 1].to = end;
}
