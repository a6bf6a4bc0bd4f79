// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the frames of live media that were missed while the connection was lost. The missed time
// is the time between the last frame of one connection and the first frame of the next, by the
// sender's clock, without the viewer's pauses. If the sender's and the viewer's clocks differ by
// more than OUTAGE_MAX_LATENCY over that time, another server's clock is in use, and the viewer's
// clock counts. The time is converted to frames of the level before the outage. Pure.
#ifndef WEIR_STREAM_QOE_OUTAGE_METER_H
#define WEIR_STREAM_QOE_OUTAGE_METER_H

#include "common/base/decls.h"
#include "stream/qoe/qoe_events.h"

DECLS_BEGIN

#define OUTAGE_MAX_LATENCY (30 * USEC_PER_SEC)

struct outage_meter { // all zero to begin with; outage_meter.c alone writes the fields
    bool open;        // a connection ended while its media was live
    struct qoe_media_edge end;
    usec_t end_active;
    uint64_t frames; // frames missed so far
};

// `active`: time of the edge in active time (active_time.h).
void outage_meter_end(struct outage_meter *o, const struct qoe_media_edge *e, usec_t active);
void outage_meter_forget(struct outage_meter *o); // another stream follows: nothing is missed
// Returns how many frames were missed; 0 also if no outage is open.
uint64_t outage_meter_begin(struct outage_meter *o, const struct qoe_media_edge *e,
                            const struct ladder *ladder, usec_t active);

DECLS_END
#endif
