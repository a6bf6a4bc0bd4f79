// SPDX-License-Identifier: GPL-2.0-or-later
// The channels that the viewer chose during a viewing, and how long each took: the report's
// `channels`. The wait is from the request to the first picture of the channel.
#ifndef WEIR_STREAM_QOE_QOE_CHANNELS_H
#define WEIR_STREAM_QOE_QOE_CHANNELS_H

#include "common/base/decls.h"
#include "common/base/hist.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

enum { QOE_MAX_CHANNELS = 256 }; // that are listed; all are counted

struct qoe_channels { // qoe_channels.c alone writes the fields
    uint64_t count;
    struct hist wait;
    bool waits; // the newest one has neither a picture nor an error yet
    struct qoe_channel_entry list[QOE_MAX_CHANNELS];
};

void qoe_channels_init(struct qoe_channels *c);
// `number`: of the channel, from 1. `at`: seconds since the start of the session.
void qoe_channels_chosen(struct qoe_channels *c, int number, const char *url, double at);
void qoe_channels_shown(struct qoe_channels *c, usec_t wait);
void qoe_channels_failed(struct qoe_channels *c, const char *error);
void qoe_channels_read(const struct qoe_channels *c, struct qoe_json *out);

DECLS_END
#endif
