// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/transport_fallback.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void take_out(struct transport_list *list, int i)
{
    size_t after = (size_t)(--list->count - i);
    memmove(list->names[i], list->names[i + 1], after * sizeof(list->names[0]));
    memmove(&list->udp[i], &list->udp[i + 1], after * sizeof(list->udp[0]));
}

void transport_fallback_init(struct transport_fallback *c, const struct transport_list *list)
{
    *c = (struct transport_fallback){.left = *list, .single = list->count == 1};
}

struct transport_list transport_fallback_offer(const struct transport_fallback *c,
                                               bool alternatives)
{
    struct transport_list offered = c->left;
    if (!alternatives && offered.count > 1)
        offered.count = 1;
    return offered;
}

static void say(struct transport_fallback *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct transport_fallback *c, const char *format, ...)
{
    size_t used = strlen(c->why);
    va_list args;
    va_start(args, format);
    if (used)
        used += (size_t)snprintf(c->why + used, sizeof(c->why) - used, "; ");
    if (used < sizeof(c->why))
        vsnprintf(c->why + used, sizeof(c->why) - used, format, args);
    va_end(args);
}

static int find(const struct transport_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0)
            return i;
    return -1;
}

void transport_fallback_rule_out(struct transport_fallback *c, const char *name, const char *why)
{
    int i = find(&c->left, name);
    if (i < 0)
        return;
    say(c, "%s: %s", name, why);
    take_out(&c->left, i);
}

void transport_fallback_failed(struct transport_fallback *c, const char *why)
{
    bool udp = c->left.udp[0];
    transport_fallback_rule_out(c, c->left.names[0], why);
    for (int i = 0; udp && i < c->left.count;)
        if (c->left.udp[i])
            transport_fallback_rule_out(c, c->left.names[i], why);
        else
            i++;
}

// Returns how many more are tried if the first of those left fails.
static int tries_after(const struct transport_list *left)
{
    int tries = 0;
    for (int i = 1; i < left->count; i++)
        tries += !(left->udp[0] && left->udp[i]);
    return tries;
}

usec_t transport_fallback_given(struct transport_fallback *c, const char *name, usec_t rtt,
                                usec_t now)
{
    while (c->left.count && strcmp(c->left.names[0], name) != 0)
        transport_fallback_rule_out(c, c->left.names[0], "the server did not choose it");
    if (!c->until)
        c->until = now - rtt + TRANSPORT_FALLBACK_TIME;
    c->asked = now;
    int tries = tries_after(&c->left);
    if (!tries)
        return USEC_NEVER;
    usec_t share = (c->until - now - tries * rtt) / tries;
    return now + usec_max(usec_min(share, TRANSPORT_FALLBACK_WAIT), rtt + rtt / 2);
}

void transport_fallback_heard(struct transport_fallback *c, usec_t now)
{
    say(c, "%s: the server responded after %.0f ms", c->left.names[0],
        usec_to_sec(now - c->asked) * 1e3);
}

const char *transport_fallback_why(const struct transport_fallback *c)
{
    return c->single ? "" : c->why;
}
