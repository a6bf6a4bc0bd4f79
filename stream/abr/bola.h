// SPDX-License-Identifier: GPL-2.0-or-later
// BOLA's choice (Spiteri, Urgaonkar, Sitaraman: BOLA: Near-Optimal Bitrate Adaptation for Online
// Videos, IEEE/ACM ToN 2020): with a buffer of Q seconds take the level m with the largest
//
//     (V (u_m + gp) - Q) / bitrate_m,    u_m = ln(bitrate_m / bitrate_0) + u_0
//
// V and gp, both with the dimension of the buffer here, say from how much buffer on which level is
// chosen. Pure.
#ifndef WEIR_STREAM_ABR_BOLA_H
#define WEIR_STREAM_ABR_BOLA_H

#include "common/base/decls.h"
#include "stream/abr/abr_policy.h"

DECLS_BEGIN

struct bola {
    int levels;
    double bitrates[LADDER_MAX_LEVELS];  // bit/s
    double utilities[LADDER_MAX_LEVELS]; // ascending
    double v, gp;
};

// `lowest`: u_0. The caller sets v and gp.
void bola_init(struct bola *b, const struct abr_config *config, double lowest);
double bola_score(const struct bola *b, int level, double buffer_s); // relative to its bitrate
int bola_level(const struct bola *b, double buffer_s);
// Returns the buffer from which on no lower level is preferred to this one.
double bola_min_buffer(const struct bola *b, int level);
// Returns the buffer from which on it is better to request nothing than this level.
double bola_max_buffer(const struct bola *b, int level);

DECLS_END
#endif
