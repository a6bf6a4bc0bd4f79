// SPDX-License-Identifier: GPL-2.0-or-later
// Where live media begins and ends on one connection, so that the report can count what an outage
// cost (outage_meter.h). An edge is dated from the nearest picture shown: by the media time between
// the picture's number and the edge's. Pure.
//
// The sender may stand still while its numbers go on, as after a suspend. The media stood still if
// its clock and the viewer's both show a gap of more than STALL_SILENCE that the numbers do not
// have. The sender's clock alone may have been set. The media's gap is longer than the viewer's by
// the latency that the viewer lost: at most what the last picture had waited here, and
// STALL_SILENCE for the changes in the sender and on the way.
#ifndef WEIR_STREAM_VIDEO_LIVE_EDGES_H
#define WEIR_STREAM_VIDEO_LIVE_EDGES_H

#include "common/base/decls.h"
#include "stream/playout/playout.h"
#include "stream/qoe/viewing_event.h"

DECLS_BEGIN

struct live_edges {               // live_edges.c alone reads and writes the fields
    struct qoe_media_edge newest; // the last picture
    int64_t newest_number;        // -1: none
    usec_t newest_waited;         // here, from its last packet to the screen
    int64_t first;                // where playing began, while no picture was shown; -1: one was
};

void live_edges_init(struct live_edges *l);
void live_edges_begin(struct live_edges *l, int64_t number); // playing begins at this frame
// Picture `number` was shown at e->shown, `waited` after its last packet arrived. Emits the edges
// that it shows.
void live_edges_shown(struct live_edges *l, const struct playout *playout,
                      const struct viewing_sink *sink, const struct qoe_media_edge *e,
                      int64_t number, usec_t waited);
// Nothing at or after frame `to` is shown any more. Emits where the media ended, if any was shown.
void live_edges_end(const struct live_edges *l, const struct playout *playout,
                    const struct viewing_sink *sink, int64_t to, usec_t now);

DECLS_END
#endif
