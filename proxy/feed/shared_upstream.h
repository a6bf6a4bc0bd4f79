// SPDX-License-Identifier: GPL-2.0-or-later
// One session with the origin of a live stream, for all viewers of one size: a *flow*. Each viewer
// has a seat in the flows that it takes frames of. What they ask of the origin together is in
// flow_demand.h and key_requests.h.
//
//   Life    The session begins with the first seat. When the last one has been left, it goes on for
//           SHARED_UPSTREAM_LINGER: for a viewer that returns, or the next one.
//   Outage  As origin_life.h says; then the media ends for all seats. Live media has no end of its
//           own: if the origin ends it, it is lost. Frame numbers continue (shared_numbers.h).
//
// Loop thread only.
#ifndef WEIR_PROXY_FEED_SHARED_UPSTREAM_H
#define WEIR_PROXY_FEED_SHARED_UPSTREAM_H

#include "common/base/decls.h"
#include "media/coded/coded_audio.h"
#include "proxy/bridge/recent_frames.h"
#include "proxy/feed/relay_origin.h"
#include "proxy/policy/flow_demand.h"
#include "proxy/policy/shared_numbers.h"

DECLS_BEGIN

#define SHARED_UPSTREAM_LINGER (3 * USEC_PER_SEC)

struct shared_upstream; // opaque
struct flow_seat;

// All are required. In these calls the seat's owner may leave or join other flows, not this one.
struct flow_seat_ops {
    void (*on_playing)(struct flow_seat *s, usec_t now);
    // The origin is lost. on_playing follows if it returns, else on_over.
    void (*on_lost)(struct flow_seat *s);
    // The origin refused, or did not return: the seat has been left, `u` is NULL.
    void (*on_refused)(struct flow_seat *s, const struct media_refusal *why, usec_t now);
    void (*on_over)(struct flow_seat *s, const struct media_refusal *why, usec_t now);
    // The frames from now on are those of another session with the origin.
    void (*on_restart)(struct flow_seat *s, usec_t now);
    // Frame and packet are borrowed.
    void (*on_frame)(struct flow_seat *s, struct shared_frame *f, usec_t now);
    void (*on_audio)(struct flow_seat *s, struct coded_audio *c, usec_t now);
    void (*on_nacked)(struct flow_seat *s, usec_t now);
    void (*on_clock)(struct flow_seat *s, usec_t now);
};

struct flow_seat {
    const struct flow_seat_ops *ops; // these are the owner's. Static
    void *ctx;                       // borrowed
    int flow;                        // the size whose flow this is
    struct flow_demand demand;       // call shared_upstream_demand after a change
    // shared_upstream.c alone writes these.
    struct shared_upstream *u; // NULL: not joined
    struct flow_seat *next;
};

// `origin` and `numbers`, which are of all flows of the stream, are borrowed. NULL: no memory.
struct shared_upstream *shared_upstream_new(const struct relay_origin *origin,
                                            struct shared_numbers *numbers);
// All seats must have been left. NULL is fine.
void shared_upstream_free(struct shared_upstream *u);

// Takes a seat, and connects if there is no session. Returns 0, or ERR_NO_MEMORY.
int shared_upstream_join(struct shared_upstream *u, struct flow_seat *s, usec_t now);
void shared_upstream_leave(struct flow_seat *s, usec_t now); // nothing if it is in none
void shared_upstream_demand(struct shared_upstream *u, usec_t now);
// The viewers need a key frame. `repeats`: see key_requests.h.
void shared_upstream_want_key(struct shared_upstream *u, bool repeats, usec_t now);
// The reflection of a viewer that has the flow alone; of others it has no effect.
void shared_upstream_mark(struct flow_seat *s, int packets);
void shared_upstream_hold(struct flow_seat *s, bool hold, usec_t now);

int shared_upstream_seats(const struct shared_upstream *u);
bool shared_upstream_is_open(const struct shared_upstream *u); // it has a session, or seeks one
bool shared_upstream_plays(const struct shared_upstream *u);
// Returns true if this session has brought a key frame.
bool shared_upstream_runs(const struct shared_upstream *u);
// Returns true if the origin's clock is known, or never will be.
bool shared_upstream_has_clock(const struct shared_upstream *u, usec_t *ahead);
// See recent_frames_after; of this session.
int shared_upstream_recent(const struct shared_upstream *u, int64_t number,
                           struct shared_frame *out[RECENT_FRAMES]);
// NULL: there is no session. For its stats.
const struct upstream *shared_upstream_session(const struct shared_upstream *u);
usec_t shared_upstream_rtt(const struct shared_upstream *u); // 0: unknown
// Returns the time since the origin was lost, or 0 if it is not lost.
usec_t shared_upstream_away(const struct shared_upstream *u, usec_t now);

DECLS_END
#endif
