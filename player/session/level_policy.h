// SPDX-License-Identifier: GPL-2.0-or-later
// A policy that chooses the level of one connection's stream, and how fast it is sent: the
// interface of goddard_session.h and abr_session.h. It makes its requests itself. It starts with
// level_policy_ready and ends with the connection's media. Loop thread only.
//
// All functions do nothing if the policy is NULL, or of no use to it.
#ifndef WEIR_PLAYER_SESSION_LEVEL_POLICY_H
#define WEIR_PLAYER_SESSION_LEVEL_POLICY_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/capacity_pair.h"
#include "common/wire/rtp.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

enum { LEVEL_POLICY_TEXT = 192 };

struct level_policy_path {
    const char *transport;
    bool pairs; // true if packet pairs can be requested, which measure the capacity
    usec_t rtt; // 0: unknown
};

struct level_policy_position { // where PLAY began, or goes on
    int64_t show;              // number of the frame at `seconds`; -1: not known
    double seconds;            // of the film
    double scale;              // of the play
    double speed;              // that the server granted; 0: not known
    int64_t until;             // the server awaits the level of this frame; 0: of none
    // The position changed, and frames of the new one arrive from now on. Of those below `show` the
    // server sends only what is needed to decode it.
    bool jumps;
};

struct level_policy;

struct level_policy_ops { // NULL: of no use to this policy; `free` is required
    void (*free)(struct level_policy *p);
    void (*ready)(struct level_policy *p, const struct level_policy_path *path, usec_t now);
    void (*pair)(struct level_policy *p, const struct capacity_packet *packet, size_t bytes,
                 usec_t arrived, usec_t now);
    void (*no_pair)(struct level_policy *p, usec_t now);
    void (*place)(struct level_policy *p, const struct level_policy_position *place, usec_t now);
    void (*table)(struct level_policy *p, struct film_table *table, usec_t now);
    void (*packet)(struct level_policy *p, const struct rtp_packet *packet, int64_t sequence,
                   usec_t arrived, usec_t now);
    void (*beside)(struct level_policy *p, size_t bytes, usec_t now);
    void (*rtt)(struct level_policy *p, usec_t rtt);
    void (*frame)(struct level_policy *p, int64_t number, usec_t buffered, usec_t now);
    void (*empty)(struct level_policy *p, usec_t now);
    void (*pause)(struct level_policy *p, bool pause, usec_t now);
    void (*pace)(struct level_policy *p, double pace, usec_t now);
    void (*release)(struct level_policy *p, int level, usec_t now);
    void (*engage)(struct level_policy *p, usec_t now);
    void (*end)(struct level_policy *p);
    void (*text)(const struct level_policy *p, char out[LEVEL_POLICY_TEXT]);
};

struct level_policy { // first in every policy
    const struct level_policy_ops *ops;
};

void level_policy_free(struct level_policy *p);
// The transport is set up: the policy starts, and PLAY follows when it has chosen a level.
void level_policy_ready(struct level_policy *p, const struct level_policy_path *path, usec_t now);
void level_policy_pair(struct level_policy *p, const struct capacity_packet *packet, size_t bytes,
                       usec_t arrived, usec_t now);
void level_policy_no_pair(struct level_policy *p, usec_t now); // the server refused packet pairs
// A response to PLAY. A policy that had ended with the media continues if the position changed.
void level_policy_place(struct level_policy *p, const struct level_policy_position *place,
                        usec_t now);
// The film's table came; takes it over in every case. NULL: there is none.
void level_policy_table(struct level_policy *p, struct film_table *table, usec_t now);
// A packet of video arrived. `sequence`: its extended sequence number.
void level_policy_packet(struct level_policy *p, const struct rtp_packet *packet, int64_t sequence,
                         usec_t arrived, usec_t now);
// A packet of the audio arrived in the video's flow.
void level_policy_beside(struct level_policy *p, size_t bytes, usec_t now);
void level_policy_rtt(struct level_policy *p, usec_t rtt); // the path's, at present
// Frame `number` is complete; `buffered`: media that waits to be shown.
void level_policy_frame(struct level_policy *p, int64_t number, usec_t buffered, usec_t now);
void level_policy_empty(struct level_policy *p, usec_t now);             // a stall begins
void level_policy_pause(struct level_policy *p, bool pause, usec_t now); // false: playing resumes
// The viewer plays the film `pace` times as fast as it was made.
void level_policy_pace(struct level_policy *p, double pace, usec_t now);
// The user chose a level, which the caller requests: the policy chooses none until
// level_policy_engage.
void level_policy_release(struct level_policy *p, int level, usec_t now);
void level_policy_engage(struct level_policy *p, usec_t now);
void level_policy_end(struct level_policy *p); // no media follows: no further requests
// What the policy does, for people; empty: nothing to say.
void level_policy_text(const struct level_policy *p, char out[LEVEL_POLICY_TEXT]);

DECLS_END
#endif
