// SPDX-License-Identifier: GPL-2.0-or-later
// The layers of pictures (Fiksdal 2003, 5.1): a layer is valid if it and all smaller ones of its
// picture are there in time. The group `layers` of the report. Pure.
#ifndef WEIR_STREAM_QOE_QOE_LAYERS_H
#define WEIR_STREAM_QOE_QOE_LAYERS_H

#include "common/base/decls.h"
#include "stream/qoe/qoe_events.h"

DECLS_BEGIN

struct qoe_layers { // all zero to begin with; qoe_layers.c alone uses the fields
    uint64_t pictures;
    uint64_t valid; // layers of all pictures
    uint64_t changes;
    int last; // valid layers of the last picture that had any
    uint64_t whole_bytes;
    uint64_t valid_bytes;
};

void qoe_layers_whole(struct qoe_layers *l, size_t bytes);
void qoe_layers_picture(struct qoe_layers *l, const struct qoe_picture_layers *e);
// `seconds`: from the first packet to the last.
void qoe_layers_read(const struct qoe_layers *l, double seconds, struct qoe_json *out);

DECLS_END
#endif
