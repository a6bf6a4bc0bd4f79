// SPDX-License-Identifier: GPL-2.0-or-later
// The parameters of the Goddard client with their published defaults (Chung, Claypool, Kinicki:
// MTP, 2005, Figure 7), and their reader for "NAME=VALUE,...".
#ifndef WEIR_STREAM_GODDARD_GODDARD_PARAMS_H
#define WEIR_STREAM_GODDARD_GODDARD_PARAMS_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

// The names are those of the paper. Intervals and thresholds are in seconds, loss rates are
// fractions, 0 .. 1.
struct goddard_params {
    double pkp_timeout_interval;      // packet-pair timeout interval
    double buf_factor;                // buffering rate factor
    double play_buf_thresh;           // buffered media at which playout starts
    double loss_monitor_interval;     // loss window, and min time between decisions by loss
    double downscale_frame_loss_rate; // above this rate, scale down one level
    double upscale_interval;          // min time since the last decision to scale up
    double upscale_frame_loss_rate;   // below this rate, scale up one level
    double upscale_limit_time_factor; // upscale_intervals until the limit rises
};

enum { GODDARD_PARAMS_ERROR = 256 }; // bytes; every error text fits

// Returns the name of parameter `i`; NULL after the last one. Sets *help to NULL, as the parameters
// have no help texts.
const char *goddard_params_name(int i, const char **help);

void goddard_params_init(struct goddard_params *p); // the published defaults

// Reads "NAME=VALUE,..." into *p, in any order, each name at most once; an empty text changes
// nothing. Returns 0, or ERR_MALFORMED or ERR_RANGE: *p is unchanged and `error` states the allowed
// values.
int goddard_params_read(const char *text, struct goddard_params *p, char *error, size_t error_cap);

// Returns how long a frame may wait at the sender at the start, which a client with this buffer
// requests (the session's `latency` parameter): 500 ms more than the buffer, at least 1 s.
usec_t goddard_params_sender_wait(usec_t buffer);

DECLS_END
#endif
