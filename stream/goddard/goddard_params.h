// SPDX-License-Identifier: GPL-2.0-or-later
// The parameters of the Goddard client with their published defaults (Chung, Claypool, Kinicki:
// MTP, 2005, Figure 7), and how they are read from "NAME=VALUE,...".
#ifndef WEIR_STREAM_GODDARD_GODDARD_PARAMS_H
#define WEIR_STREAM_GODDARD_GODDARD_PARAMS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Under the paper's names. Intervals and thresholds are seconds, rates of loss fractions of 1.
struct goddard_params {
    double pkp_timeout_interval;      // packet-pair timeout interval
    double buf_factor;                // buffering rate factor
    double play_buf_thresh;           // media held when playout starts
    double loss_monitor_interval;     // over which loss is watched; between decisions by loss
    double downscale_frame_loss_rate; // above it: one level down
    double upscale_interval;          // without a decision, before one level up
    double upscale_frame_loss_rate;   // below it: one level up
    double upscale_limit_time_factor; // x upscale_interval: the limit on scaling up is relaxed
};

enum { GODDARD_PARAMS_ERROR = 256 }; // room that every error text fits in

// The name of the `i`th, *help is NULL; NULL behind the last.
const char *goddard_params_name(int i, const char **help);

void goddard_params_init(struct goddard_params *p); // the published defaults

// Reads "NAME=VALUE,...", in any order, each name at most once, into *p; an empty text changes
// nothing. 0, or ERR_MALFORMED or ERR_RANGE: *p is unchanged, and `error` says what is allowed.
int goddard_params_read(const char *text, struct goddard_params *p, char *error, size_t error_cap);

#ifdef __cplusplus
}
#endif
#endif
