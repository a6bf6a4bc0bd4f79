// SPDX-License-Identifier: GPL-2.0-or-later
// The sessions of one feed with its origin, one after another: which phase they are in, and what
// follows when one ends. The feed has one viewer (relay_feed.h) or many (shared_upstream.h), and
// owns the session itself (upstream.h).
//
//   Outage  An origin that is lost while it plays is connected again, ORIGIN_RETRY after the last
//           attempt at the earliest, until it has been away for the time of --outage. Then the
//           media ends. An origin that returns and is lost again before it has sent a frame has
//           been away all that time.
//   Refusal The first session of a feed that had none is not repeated: what ends it is the answer.
//   Pause   A session that ends while it pauses, or after the media's end, is not missed until the
//           viewer plays again.
//
// Pure.
#ifndef WEIR_PROXY_POLICY_ORIGIN_LIFE_H
#define WEIR_PROXY_POLICY_ORIGIN_LIFE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define ORIGIN_RETRY USEC_PER_SEC

enum origin_phase {
    ORIGIN_IDLE,     // no session with the origin
    ORIGIN_STARTING, // its first PLAY has no answer yet
    ORIGIN_PLAYING,
    ORIGIN_PAUSED,
    ORIGIN_ENDED,     // the origin ended the media
    ORIGIN_AWAY,      // the origin was lost while it played
    ORIGIN_RETURNING, // and is being connected again
};

struct origin_life {
    enum origin_phase phase; // the feed sets it to PAUSED, ENDED and back, and to IDLE
    bool got;                // the feed sets it: this session has brought a frame
    bool is_over;            // the session has ended: the feed's timer frees it
    // origin_life.c alone writes these.
    const char *url; // borrowed; for the log
    usec_t outage;   // how long the origin may stay away
    bool connected;  // there is a session, maybe one that has ended
    usec_t second_at;
    usec_t away_since;   // 0: never
    char why[256];       // it is away: what was seen of it last
    usec_t connected_at; // the newest attempt
    usec_t retry_at;
};

void origin_life_init(struct origin_life *l, const char *url, usec_t outage);
// Returns true if the origin plays, or pauses: it takes requests.
bool origin_life_is_up(const struct origin_life *l);
// Returns the time since the origin was lost; 0: it is not lost.
usec_t origin_life_away(const struct origin_life *l, usec_t now);

// ---- The session

// The feed has freed the session, if there was one.
void origin_life_dropped(struct origin_life *l);
// The feed has made one. `phase`: STARTING or RETURNING.
void origin_life_connecting(struct origin_life *l, enum origin_phase phase, usec_t now);
void origin_life_playing(struct origin_life *l, usec_t now);
// The session says nothing more, although it is not freed yet: its media has ended before its time.
void origin_life_broke_off(struct origin_life *l, usec_t now);

// The session has ended, because of `why`. `wanted`: a request of the viewer waits. Returns true if
// the origin is lost now, and further attempts follow. Nothing follows a refusal: the feed was
// STARTING.
bool origin_life_ended(struct origin_life *l, const char *why, bool wanted, usec_t now);

// ---- Time

// Returns when the feed's timer is due: to free the session, for another attempt, for the session's
// second.
usec_t origin_life_next(const struct origin_life *l);
// Returns true if a second has passed since this was true last: the session reports.
bool origin_life_second(struct origin_life *l, usec_t now);

enum origin_due {
    ORIGIN_DUE_NOTHING,
    ORIGIN_DUE_ATTEMPT, // the feed connects: RETURNING
    ORIGIN_DUE_END,     // the origin did not return in time (logged): IDLE once the feed says so
};
enum origin_due origin_life_due(struct origin_life *l, usec_t now);

DECLS_END
#endif
