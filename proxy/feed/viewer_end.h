// SPDX-License-Identifier: GPL-2.0-or-later
// The end towards its viewer that both kinds of feed have (relay_feed.h, shared_feed.h): the
// viewer's request for a place, which waits for the origin; the bridge of its access; and the
// frames that are given once the viewer plays.
//
//   Request  media_feed_ops.place returns MEDIA_WAITS until the origin has answered, and then its
//            place or its refusal. The answer waits for the origin's clock, CLOCK_WAIT at most.
//            Without one within MEDIA_PLACE_LIMIT the viewer is refused.
//   Frames   wait while the viewer pauses, or a request of its has no answer.
//
// Loop thread only.
#ifndef WEIR_PROXY_FEED_VIEWER_END_H
#define WEIR_PROXY_FEED_VIEWER_END_H

#include "common/base/decls.h"
#include "common/net/timer.h"
#include "proxy/feed/access_leg.h"
#include "proxy/feed/frame_store.h"
#include "server/session/frame_sink.h"

DECLS_BEGIN

struct viewer_end;

// All are required.
struct viewer_end_ops {
    // The viewer has a request for a place: viewer_end_answer or viewer_end_refuse follows, maybe
    // inside this call.
    void (*begin)(struct viewer_end *e, const struct media_seek *to, usec_t now);
    // The origin's clock is known or overdue: calls viewer_end_answer.
    void (*answer)(struct viewer_end *e, usec_t now);
    // The origin has not answered in time, and the viewer is refused.
    void (*give_up)(struct viewer_end *e, usec_t now);
    void (*arm)(struct viewer_end *e); // sets the timer
};

// Embedded first by each kind of feed, which itself writes `base` and `place` only.
struct viewer_end {
    struct media_feed base;           // first
    const struct viewer_end_ops *ops; // static
    struct frame_sink *sink;          // borrowed
    struct access_leg *leg;           // owned
    struct frame_store *store;        // owned
    struct timer *timer;              // owned
    bool plays;                       // the viewer plays
    bool released;                    // the stored frames may be given
    bool requested, answered;         // the viewer's request
    enum media_placed placed;
    struct media_place place; // the feed fills it in
    usec_t request_limit;
    usec_t clock_limit; // the answer waits for the origin's clock until then
};

struct viewer_end_config {
    const struct relay_origin *origin; // these are borrowed
    struct frame_sink *sink;
    const struct bridge_ops *bridge; // static; called with the viewer_end
    bool keeps;                      // as frame_store_new says
    timer_fn *on_timer;              // called with the viewer_end
};

// Initialises all but `base`. Returns false if there is no memory; call viewer_end_close then, too.
bool viewer_end_open(struct viewer_end *e, const struct viewer_end_ops *ops,
                     const struct viewer_end_config *config, usec_t now);
void viewer_end_close(struct viewer_end *e);

// media_feed_ops.place.
enum media_placed viewer_end_place(struct media_feed *feed, const struct media_seek *to,
                                   struct media_place *out, usec_t now);
// The viewer plays, or pauses.
void viewer_end_play(struct viewer_end *e, bool plays);
// Returns true if a request has no answer.
bool viewer_end_waits(const struct viewer_end *e);
// Answers the request, if one waits.
void viewer_end_answer(struct viewer_end *e, enum media_placed placed, usec_t now);
void viewer_end_refuse(struct viewer_end *e, const struct media_refusal *why, usec_t now);
// The origin plays: the answer to a request waits for its clock, if that is to come.
void viewer_end_await_clock(struct viewer_end *e, bool is_to_come, usec_t now);
// The origin's clock is known: answers the request that waits for it.
void viewer_end_on_clock(struct viewer_end *e, usec_t now);
// The origin is lost: a request that waits for its clock waits for the origin again.
void viewer_end_on_lost(struct viewer_end *e);
// Returns true if media that comes now is given.
bool viewer_end_takes(const struct viewer_end *e);

// A frame leaves the bridge; borrowed.
void viewer_end_forward(struct viewer_end *e, struct coded_frame *frame, usec_t now);
void viewer_end_lost(void *end, int packets, usec_t now); // bridge_ops.lost

// Of requests and stored frames, not of the leg; call viewer_end_on_timeout then.
usec_t viewer_end_next_timeout(const struct viewer_end *e);
void viewer_end_on_timeout(struct viewer_end *e, usec_t now);

DECLS_END
#endif
