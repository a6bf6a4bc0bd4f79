// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log_limit.h"

#include <stdio.h>

static bool is_idle(const struct log_place *p, usec_t now)
{
    return !p->place || (!p->held && now - p->since >= USEC_PER_SEC);
}

static struct log_place *find(struct log_limit *l, const void *place, usec_t now)
{
    struct log_place *idle = NULL;
    for (int i = 0; i < LOG_LIMIT_PLACES; i++) {
        struct log_place *p = &l->places[i];
        if (p->place == place)
            return p;
        if (!idle && is_idle(p, now))
            idle = p;
    }
    if (!idle)
        return &l->places[LOG_LIMIT_PLACES - 1];
    *idle = (struct log_place){.place = place, .since = now};
    return idle;
}

bool log_limit_pass(struct log_limit *l, const struct log_entry *e, usec_t now)
{
    struct log_place *p = find(l, e->place, now);
    if (is_idle(p, now)) {
        p->since = now;
        p->lines = 0;
    }
    if (!p->held && p->lines < LOG_LIMIT_LINES) {
        p->lines++;
        return true;
    }
    p->held++;
    p->level = e->level;
    snprintf(p->module, sizeof(p->module), "%s", e->module);
    snprintf(p->text, sizeof(p->text), "%s", e->text);
    return false;
}

bool log_limit_summary(struct log_limit *l, char text[LOG_TEXT], struct log_entry *out, usec_t now)
{
    for (int i = 0; i < LOG_LIMIT_PLACES; i++) {
        struct log_place *p = &l->places[i];
        if (!p->held || (now != USEC_NEVER && now - p->since < USEC_PER_SEC))
            continue;
        snprintf(text, LOG_TEXT, "%llu more like this: %s", p->held, p->text);
        *out = (struct log_entry){
            .level = p->level, .module = p->module, .text = text, .place = p->place};
        p->held = 0;
        p->since = now;
        return true;
    }
    return false;
}
