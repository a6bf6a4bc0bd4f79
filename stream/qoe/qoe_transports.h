// SPDX-License-Identifier: GPL-2.0-or-later
// Which transports carried the session's media, from when to when. Of more than
// QOE_MAX_TRANSPORTS changes the last ones are kept. Pure.
#ifndef WEIR_QOE_QOE_TRANSPORTS_H
#define WEIR_QOE_QOE_TRANSPORTS_H

#include "common/base/decls.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

struct qoe_transports { // all zero at first
    int count;
    struct qoe_carried list[QOE_MAX_TRANSPORTS];
};

// The media comes over `name` from `at` on: seconds of the session. `why`: it has moved, maybe to
// another address of the same transport; empty: it has begun, maybe once more.
void qoe_transports_set(struct qoe_transports *t, const char *name, const char *why, double at);
// The last one carries the media until `end`.
void qoe_transports_read(const struct qoe_transports *t, struct qoe_json *out, double end);

DECLS_END
#endif
