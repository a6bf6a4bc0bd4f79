// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames of the shared flows one viewer takes. A flow is an origin's stream of one size, or
// of what the backbone leaves of it, for all viewers of that size.
//
//   The law.
//     - A viewer that joins a running flow starts at its next key frame.
//     - A viewer that changes to another flow stays in its own until that flow's next key frame, so
//       it misses nothing in between.
//     - Of a flow with more temporal layers than the viewer's level, the upper ones are left out:
//       at once, and back in from a frame of the base layer on. What is left tells the level that
//       it has.
//     - A size that is not the level's, which the origin chose, is taken whole.
//
// Pure.
#ifndef WEIR_PROXY_BRIDGE_FLOW_VIEWER_H
#define WEIR_PROXY_BRIDGE_FLOW_VIEWER_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "media/rtp/depacketiser.h"

DECLS_BEGIN

enum { FLOW_NONE = -1 };

struct flow_viewer {             // flow_viewer.c alone writes the fields
    const struct ladder *ladder; // borrowed
    int level;                   // that the viewer gets at most
    int current;                 // flow that it takes frames of; FLOW_NONE: none
    int next;                    // flow whose key frame it awaits; FLOW_NONE: none
    bool waits;                  // for the first key frame of `current`
    int top;                     // temporal layer up to which it takes frames of its size
};

void flow_viewer_init(struct flow_viewer *v, const struct ladder *ladder);
// From now on `level` is the highest. ladder_has_level.
void flow_viewer_set_level(struct flow_viewer *v, int level);
// Takes frames of `flow`: at once if there is no other, else from its next key frame on. `runs`:
// the flow has brought a key frame already, so the first frames to come may depend on others.
void flow_viewer_join(struct flow_viewer *v, int flow, bool runs);
// The flow starts again, with frames of a new session: of these, the first may be taken.
void flow_viewer_restart(struct flow_viewer *v, int flow);
// Takes no frames until it joins again.
void flow_viewer_leave(struct flow_viewer *v);
// Returns true if it needs a key frame of this flow.
bool flow_viewer_waits(const struct flow_viewer *v, int flow);

enum flow_verdict {
    FLOW_OTHER,    // not for this viewer
    FLOW_LEFT_OUT, // of a layer above its level
    FLOW_TAKEN,
    FLOW_STARTED,  // the same; it is the first one, a key frame
    FLOW_SWITCHED, // the same; `next` is now `current`, and the other flow is of no use any more
};

// Judges a frame of `flow`, which is not FLOW_NONE. `level`: of a frame that is taken, the level
// that it shall tell.
enum flow_verdict flow_viewer_take(struct flow_viewer *v, int flow, const struct received_frame *f,
                                   int *level);

DECLS_END
#endif
