// SPDX-License-Identifier: GPL-2.0-or-later
// The last two minutes of the stats, a moment a second, for a page that is opened later. Of each
// moment it keeps what the page's graphs and sums show. Pure; plain values, so that another thread
// can read a copy.
#ifndef WEIR_SERVER_STATS_STATS_HISTORY_H
#define WEIR_SERVER_STATS_STATS_HISTORY_H

#include "common/base/decls.h"
#include "server/stats/stats.h"

DECLS_BEGIN

enum { STATS_MOMENTS = 120 };

struct stats_moment_session {
    int number;
    char id[20];
    double rate_bps; // NaN: unknown, as are the next three
    double delay_ms; // of a frame that is encoded now
    double rtt_ms;
    double loss;      // the transport's own value
    bool is_reported; // the viewer reports its packets, `packets` of which `lost`
    uint64_t packets, lost;
    bool has_audio;
    uint64_t audio_octets;
};

struct stats_moment {
    usec_t age;         // of the program
    double cpu_seconds; // of the program since its start
    uint64_t octets;    // of payload, of all sessions since the start; the counts below likewise
    uint64_t dropped[DROP_CAUSES];
    uint64_t thinned, overload, audio_dropped;
    int session_count;
    struct stats_moment_session sessions[STATS_SESSIONS];
};

struct stats_history {
    int count; // of moments
    int next;  // index of the moment that is written next
    struct stats_moment moments[STATS_MOMENTS];
};

// Adds a moment; the oldest one leaves when there are STATS_MOMENTS.
void stats_history_add(struct stats_history *h, const struct stats *f, double cpu_seconds);
// Returns a moment, 0 <= i < count, the oldest first.
const struct stats_moment *stats_history_at(const struct stats_history *h, int i);

DECLS_END
#endif
