// SPDX-License-Identifier: GPL-2.0-or-later
// A policy that chooses the level of each group of a stored film. The viewer drives it; it knows
// the film's table, what is buffered, and what arrived when.
//
// How a viewer drives a policy:
//   abr_policy_new       when the ladder and the table are known
//   abr_policy_rate      every 100 ms or so while media is requested: what arrived
//   abr_policy_group     a group is whole
//   abr_policy_progress  while a group arrives (policies of segments only): may abandon it
//   abr_policy_cut       every 100 ms or so while the last begun group is being sent: may cut it
//                        off, to be sent again at a lower level from where it has arrived
//   abr_policy_decide    the sender is about to begin a group: which one, at which level, how fast.
//                        The sender begins groups in the decided order. Until a decision arrives it
//                        goes on with the next group at the level of the last one; so a decision
//                        may be made again while its group waits, and costs nothing
//   abr_policy_resumes   playing has not begun, or has stalled: may it begin now?
//   abr_policy_waited    nothing was requested for so long, because the buffer is full
//   abr_policy_seek      the position has changed; the buffer holds what is still useful
//
// Pure, not thread-safe. No function but abr_policy_new allocates.
#ifndef WEIR_STREAM_ABR_ABR_POLICY_H
#define WEIR_STREAM_ABR_ABR_POLICY_H

#include "common/base/decls.h"
#include "stream/abr/film_table.h"
#include "stream/abr/rate_forecast.h"

DECLS_BEGIN

enum { ABR_NO_GROUP = -1, ABR_NO_LEVEL = -1 };

enum abr_reason {
    ABR_START,    // nothing is known of the path yet
    ABR_RATE,     // the path's rate permits this level and no higher one
    ABR_BUFFER,   // the buffer decides: it lets a higher level be tried, or is too short for one
    ABR_STALL,    // playing has stalled or is about to: the soonest picture
    ABR_REPAIR,   // what a buffered group lacks
    ABR_EXCHANGE, // a buffered group again, at a better level
    ABR_FIXED,    // there is no other level, or the viewer chose this one
};

struct abr_config {
    const struct film_table *table;      // borrowed as long as the policy
    int bitrates_bps[LADDER_MAX_LEVELS]; // the ladder's, ascending
    usec_t target;                       // max. media in the buffer
};

// What the viewer knows.
struct abr_state {
    int64_t next;          // the first group that the sender has not begun
    int64_t shown;         // the group at the position; <= next
    usec_t buffered;       // media after the position that has arrived, without a hole
    usec_t begun;          // media after the position that was begun: up to `next`
    int64_t pending_bytes; // of begun groups that have not arrived
    int64_t way_bytes;     // of these, what has left the sender: it comes in any case
    double recent_bps;     // at which the network carried what arrived last; 0: not
                           // known
    usec_t rtt;
    bool playing;
    // Level of group shown + i, for i < next - shown, as it has arrived or was begun. NULL: no
    // group can be exchanged.
    const uint8_t *levels;
    bool with_rest; // a buffered group is fetched again only with all behind it
    int64_t broken; // a begun group that lacks data which nobody resends; ABR_NO_GROUP: none
};

struct abr_decision {
    int64_t group; // `next`, or a buffered one: with all behind it, if abr_state.with_rest
    int level;
    double pace_bps; // at most; 0: as fast as the network carries it
    usec_t wait;     // before the request (policies of segments)
    enum abr_reason reason;
    double estimate_bps; // 0: not known
    double error;        // relative, of the estimate
};

struct abr_group { // a group has become whole, or was abandoned
    int64_t group;
    int level;
    int64_t bytes;     // that arrived
    usec_t first_byte; // from the request to the first byte
    usec_t duration;   // from the request to the last byte
    usec_t buffered;   // when the last byte had arrived, without this group
    bool is_exchange;  // a copy was buffered
    int abandoned_for; // this level; ABR_NO_LEVEL: the group is whole
};

struct abr_progress {
    int64_t group;
    int level;
    int64_t bytes;    // of the group
    int64_t received; // > 0
    usec_t first_byte;
    usec_t duration; // so far
    usec_t buffered;
};

struct abr_policy;

struct abr_policy_ops {
    const char *name;
    void (*free)(struct abr_policy *p);
    void (*decide)(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                   usec_t now);
    // NULL: a policy that these are of no use to.
    void (*rate)(struct abr_policy *p, const struct rate_sample *s, usec_t now);
    void (*group)(struct abr_policy *p, const struct abr_group *g, usec_t now);
    int (*progress)(struct abr_policy *p, const struct abr_progress *g, usec_t now);
    int (*cut)(struct abr_policy *p, const struct abr_state *s, usec_t now);
    bool (*resumes)(struct abr_policy *p, const struct abr_state *s, usec_t now);
    void (*waited)(struct abr_policy *p, usec_t duration);
    void (*seek)(struct abr_policy *p, int64_t group, usec_t now);
};

struct abr_policy { // first in every policy
    const struct abr_policy_ops *ops;
};

// Makes the policy of this name: auto, bola-e, dynamic, robust-mpc or throughput. 0;
// ERR_NOT_FOUND: no policy has this name; ERR_RANGE: the table has other levels than the ladder, or
// the target is below 4 s or above ABR_MAX_TARGET; ERR_NO_MEMORY.
#define ABR_MAX_TARGET (120 * USEC_PER_SEC)
int abr_policy_new(const char *name, const struct abr_config *config, struct abr_policy **out);
void abr_policy_free(struct abr_policy *p); // NULL is fine
// Returns the name of policy `i`, from 0; NULL: there are no more.
const char *abr_policy_name(int i);

void abr_policy_decide(struct abr_policy *p, const struct abr_state *s, struct abr_decision *out,
                       usec_t now);
void abr_policy_rate(struct abr_policy *p, const struct rate_sample *s, usec_t now);
void abr_policy_group(struct abr_policy *p, const struct abr_group *g, usec_t now);
// Returns true if the policy decides about a group again, with what it has heard since, while the
// group waits; false: one decision a group.
bool abr_policy_revises(const struct abr_policy *p);
// Returns the level to abandon the group for, or ABR_NO_LEVEL.
int abr_policy_progress(struct abr_policy *p, const struct abr_progress *g, usec_t now);
// Returns the level at which the last begun group is to be sent again, or ABR_NO_LEVEL.
int abr_policy_cut(struct abr_policy *p, const struct abr_state *s, usec_t now);
// Returns true if playing may begin. A policy without an opinion begins when a group is whole.
bool abr_policy_resumes(struct abr_policy *p, const struct abr_state *s, usec_t now);
void abr_policy_waited(struct abr_policy *p, usec_t duration);
void abr_policy_seek(struct abr_policy *p, int64_t group, usec_t now);

const char *abr_reason_name(enum abr_reason reason); // a word

DECLS_END
#endif
