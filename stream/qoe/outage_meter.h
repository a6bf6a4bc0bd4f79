// SPDX-License-Identifier: GPL-2.0-or-later
// What outages of live media cost. When a connection is lost, the media that the sender would have
// brought until another connection begins was missed: the time between the last frame of the one
// and the first of the other by the sender's clock (by the viewer's, if these differ by more than
// OUTAGE_MAX_LATENCY: then it is another server's clock), without the viewer's pauses, in frames of
// the level before. Pure.
#ifndef WEIR_STREAM_QOE_OUTAGE_METER_H
#define WEIR_STREAM_QOE_OUTAGE_METER_H

#include "stream/qoe/qoe_events.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OUTAGE_MAX_LATENCY (30 * USEC_PER_SEC)

struct outage_meter { // all zero to begin with; outage_meter.c alone writes the fields
    bool open;        // a connection ended while its media was live
    struct qoe_media_edge end;
    usec_t end_active;
    uint64_t frames; // missed so far
};

// `active`: the time of the edge by the clock that stops in pauses (active_time.h).
void outage_meter_end(struct outage_meter *o, const struct qoe_media_edge *e, usec_t active);
// Returns how many frames were missed; 0: no outage is open.
uint64_t outage_meter_begin(struct outage_meter *o, const struct qoe_media_edge *e,
                            const struct ladder *ladder, usec_t active);

#ifdef __cplusplus
}
#endif
#endif
