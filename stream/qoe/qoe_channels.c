// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_channels.h"

#include <math.h>
#include <stdio.h>

#include "stream/qoe/qoe_latency.h"

void qoe_channels_init(struct qoe_channels *c)
{
    c->count = 0;
    c->waits = false;
    hist_init(&c->wait);
}

// Returns the entry of the newest choice; NULL: it is not listed, or it has an outcome.
static struct qoe_channel_entry *waiting(struct qoe_channels *c)
{
    bool waits = c->waits;
    c->waits = false;
    return waits && c->count <= QOE_MAX_CHANNELS ? &c->list[c->count - 1] : NULL;
}

void qoe_channels_chosen(struct qoe_channels *c, int number, const char *url, double at)
{
    c->waits = true;
    if (c->count++ >= QOE_MAX_CHANNELS)
        return;
    struct qoe_channel_entry *e = &c->list[c->count - 1];
    *e = (struct qoe_channel_entry){.number = number, .at = at, .wait = NAN};
    snprintf(e->url, sizeof(e->url), "%s", url);
}

void qoe_channels_shown(struct qoe_channels *c, usec_t wait)
{
    if (!c->waits)
        return;
    hist_add(&c->wait, wait);
    struct qoe_channel_entry *e = waiting(c);
    if (e)
        e->wait = usec_to_msec(wait);
}

void qoe_channels_failed(struct qoe_channels *c, const char *error)
{
    struct qoe_channel_entry *e = waiting(c);
    if (e)
        snprintf(e->error, sizeof(e->error), "%s", error);
}

void qoe_channels_read(const struct qoe_channels *c, struct qoe_json *out)
{
    out->channels.count = (double)c->count;
    out->channels.wait = qoe_quantiles_of(&c->wait);
    out->channels.listed = (int)(c->count < QOE_MAX_CHANNELS ? c->count : QOE_MAX_CHANNELS);
    out->channels.list = c->list;
}
