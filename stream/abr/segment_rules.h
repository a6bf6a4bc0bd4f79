// SPDX-License-Identifier: GPL-2.0-or-later
// Rules of players that request whole segments, as dash.js has them (Spiteri, Sitaraman, Sparacio:
// From Theory to Practice, ACM TOMM 2019, sections 4.2 and 5).
//
//   Throughput    of a segment: its bytes over the time after its first byte. Two exponentially
//                 weighted means with half-lives of 3 and 8 s; the lower one counts. The latency to
//                 the first byte in the same way, by number of segments; the higher one counts.
//   Level         the highest whose segment arrives within its own duration
//   Insufficient  the segment must arrive before the buffer is empty, with a safety factor that
//   buffer        falls from .9 to .5, or it is a lower level's
//   Abandonment   when a segment will take 1.8 times its duration, and another level has fewer
//                 bytes than are still to come
//
// Durations are in seconds here. Pure.
#ifndef WEIR_STREAM_ABR_SEGMENT_RULES_H
#define WEIR_STREAM_ABR_SEGMENT_RULES_H

#include "common/base/decls.h"
#include "stream/abr/abr_policy.h"

DECLS_BEGIN

struct segment_rules {
    struct abr_config config;
    int levels;
    double segment_s;
    double rate_means[2], rate_weight_s; // the time of all segments
    double latency_means[2], segments;
    double safety; // of the next decision's insufficient buffer rule
};

void segment_rules_init(struct segment_rules *r, const struct abr_config *config);
// Takes a whole segment; ignores one that was abandoned.
void segment_rules_add(struct segment_rules *r, const struct abr_group *g);
bool segment_rules_know(const struct segment_rules *r); // true after the first segment
double segment_rules_bps(const struct segment_rules *r);
double segment_rules_latency(const struct segment_rules *r);
// Returns the level of a throughput of `bps`.
int segment_rules_level(const struct segment_rules *r, double bps);
// Returns `level`, or the lower one that the buffer suffices for. Call it once a decision.
int segment_rules_sufficient(struct segment_rules *r, int level, double buffer_s);
// Returns the level to abandon the segment for, or ABR_NO_LEVEL.
int segment_rules_abandon(const struct segment_rules *r, const struct abr_progress *g);

DECLS_END
#endif
