// SPDX-License-Identifier: GPL-2.0-or-later
// The proxy's bridge between the two legs of one viewer: whole frames from the backbone go in,
// coded frames for the viewer's stream_sender come out, and what the access cannot carry is
// reflected to the origin (reflection.h). weir-proxy, the simulator and the tests build this
// object.
//
//   Order.  A frame is forwarded when the frames that it depends on have been: a key frame at once.
//           Until then it waits, as the backbone's repair may bring what is missing: two round
//           trips and BRIDGE_REPAIR. So frames leave in an order that can be decoded.
//   Badput. A frame whose reference or lower layer did not come in this time cannot be decoded. It
//           is dropped and counted (Fiksdal's thesis, 2003, sections 3.6 and 7.6). With
//           `keeps_badput` every frame is forwarded at once instead.
//   Loss.   What the backbone lost, and the badput, leave a gap in the sequence numbers towards the
//           viewer (`lost`), before the next frame. A frame that repair brings later is forwarded
//           nevertheless; the gap stays, as the backbone lost the packets.
//   Keys.   While the base layer cannot be decoded, key frames are requested from the origin
//           (reference_tracker.h).
//
// At most BRIDGE_MAX_HELD frames wait. Pure. After each call that takes the time, the owner sets
// its timer to bridge_next_timeout.
#ifndef WEIR_PROXY_BRIDGE_BRIDGE_H
#define WEIR_PROXY_BRIDGE_BRIDGE_H

#include "common/base/decls.h"
#include "media/coded/coded_frame.h"
#include "media/rtp/depacketiser.h"
#include "proxy/bridge/reflection.h"
#include "proxy/bridge/shared_frame.h"

DECLS_BEGIN

struct bridge; // opaque

enum { BRIDGE_MAX_HELD = 256 };
#define BRIDGE_REPAIR (50 * USEC_PER_MSEC)

// `ctx`: see bridge_config. These functions must not call the bridge.
struct bridge_ops {
    // A frame for the viewer's frame sink, which takes a reference if it keeps the frame.
    void (*forward)(void *ctx, struct coded_frame *f, usec_t now);
    // So many packets before the next frame do not reach the viewer (stream_sender_lost).
    void (*lost)(void *ctx, int packets, usec_t now);
    void (*request_key)(void *ctx, usec_t now); // of the origin
    // REFLECT_LIMIT: the origin shall send at most `bps`; 0: no limit.
    void (*limit)(void *ctx, double bps, usec_t now);
    // REFLECT_MARKS: the next `packets` packets of the backbone are reported as marked or lost.
    void (*mark)(void *ctx, int packets, usec_t now);
    // REFLECT_BLOCKING: stops or continues reading the backbone.
    void (*stop_reading)(void *ctx, bool stop, usec_t now);
};

struct bridge_config {
    const struct ladder *ladder; // borrowed
    bool is_annexb;              // frames are Annex B (H.264, filler); else one piece each
    enum reflect_mode reflect;
    usec_t target;     // what may wait for the viewer, in time; > 0
    double blocking;   // REFLECT_BLOCKING: part of the access's buffer that must be free, 0 .. 1
    bool keeps_badput; // frames that cannot be decoded are forwarded
    const struct bridge_ops *ops; // static; the operations of other modes may be NULL
    void *ctx;                    // borrowed
};

struct bridge *bridge_new(const struct bridge_config *config, usec_t now); // NULL: no memory
void bridge_free(struct bridge *b);                                        // NULL is fine

// The backbone's round-trip time; 0: unknown. Sets how long a frame may wait for its reference, and
// the pace of reflection.
void bridge_set_rtt(struct bridge *b, usec_t rtt);
// A frame came from the backbone; the bridge takes it over. `captured`: its capture, on the clock
// of `now`.
void bridge_frame(struct bridge *b, struct received_frame *f, usec_t captured, usec_t now);
// The same of a frame that several viewers share; the bridge takes a reference. This viewer is
// served `level`, which may be below the frame's.
void bridge_shared_frame(struct bridge *b, struct shared_frame *f, int level, usec_t now);
// A frame came that this viewer shall not get: it leaves no gap.
void bridge_leave_out(struct bridge *b, const struct received_frame *f);
// Lost packets were requested of the origin, so its repair is under way.
void bridge_nacked(struct bridge *b, usec_t now);
// The sequence numbers of the backbone start again: another session with the origin. Frames that
// wait are dropped.
void bridge_restart(struct bridge *b);
// The state of the access (reflection.h). Call it about every 20 ms; while the access is idle
// (reflection_is_idle), every 250 ms is enough, best before a frame.
void bridge_access(struct bridge *b, const struct reflect_access *access, usec_t now);
bool bridge_access_is_idle(const struct bridge *b);
void bridge_origin_forgot(struct bridge *b); // reflection_origin_forgot

usec_t bridge_next_timeout(const struct bridge *b);
void bridge_on_timeout(struct bridge *b, usec_t now);

struct bridge_stats {
    uint64_t frames, bytes;               // forwarded
    uint64_t badput_frames, badput_bytes; // could not be decoded, and were not forwarded
    uint64_t malformed; // frames that no packetiser can send, or that contradict the ladder
    uint64_t lost;      // packets of which the viewer sees a gap
    int held;           // frames that wait for a reference
    double limit_bps;   // the reflected limit: with REFLECT_LIMIT as sent to the origin; 0: none
    enum reflect_reason reason; // of it
    usec_t queue;               // for the viewer (reflection.h)
    double access_bps;          // rate of the access; 0: unknown
    uint64_t marks;             // packets to be reported as marked
    uint64_t stops;             // times that reading was stopped
};

void bridge_read(const struct bridge *b, struct bridge_stats *out);

DECLS_END
#endif
