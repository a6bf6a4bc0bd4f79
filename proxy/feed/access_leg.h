// SPDX-License-Identifier: GPL-2.0-or-later
// A feed's end towards its viewer: the bridge, whose frames leave through the viewer's sink, the
// readings of the access that the bridge needs, and how long frames stay here. Loop thread only.
#ifndef WEIR_PROXY_FEED_ACCESS_LEG_H
#define WEIR_PROXY_FEED_ACCESS_LEG_H

#include "common/base/decls.h"
#include "common/protocol/relay_info.h"
#include "proxy/bridge/bridge.h"
#include "proxy/feed/relay_origin.h"
#include "proxy/policy/level_choice.h"
#include "server/session/stream_media.h"

DECLS_BEGIN

struct access_leg; // opaque

struct access_leg_config {
    struct frame_sink *sink; // these pointers are borrowed
    const struct stream_media *media;
    const struct relay_choices *choices;
    const struct bridge_ops *ops; // static
    void *ctx;                    // of `ops`
};

struct access_leg *access_leg_new(const struct access_leg_config *config, usec_t now); // NULL: no
                                                                                       // memory
void access_leg_free(struct access_leg *l); // NULL is fine
struct bridge *access_leg_bridge(struct access_leg *l);
// Frames come from now on: the access is read.
void access_leg_begin(struct access_leg *l, usec_t now);
// A frame arrived at `arrived` and is about to enter the bridge.
void access_leg_before_frame(struct access_leg *l, usec_t arrived, usec_t now);
// Fills in what the last reading of the access found.
void access_leg_read(const struct access_leg *l, struct level_choice_inputs *out);
// Of the leg and its bridge; call access_leg_on_timeout while frames come.
usec_t access_leg_next_timeout(const struct access_leg *l);
void access_leg_on_timeout(struct access_leg *l, usec_t now);
// Call it about once a second. `rtt`: of the backbone; 0: unknown.
void access_leg_second(struct access_leg *l, usec_t rtt);
// Fills in the `proxy.` values of `out`.
void access_leg_info(const struct access_leg *l, struct relay_info *out);
// Fills in the `backbone.` values of `out`.
void access_leg_backbone(const struct upstream *u, struct relay_info *out);

// How long a frame may wait at the origin, ms, if the viewer leaves `ms` to its server. What it
// leaves is for the access; with less than 200 at the origin a large frame would never leave.
int access_leg_origin_latency(int ms);

// The time of a frame's capture on this machine's monotonic clock. `capture_wall`: on the origin's
// wall clock; 0: unknown, then it is `arrived`, as it is if it cannot be believed.
usec_t access_leg_captured(const struct upstream *u, usec_t capture_wall, usec_t arrived,
                           usec_t now);

DECLS_END
#endif
