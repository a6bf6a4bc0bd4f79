// SPDX-License-Identifier: GPL-2.0-or-later
// No congestion control: sends at the media's own rate, with even spacing.
//
//   The law: in any interval of length T at most  burst + R T  leaves (pacer.h), burst = two
//   nominal packets or 1 ms of R, whichever is more. R = the parameter `rate` (bit/s) if it is
//   given, else the media's rate, 1 Mbit/s until that is known; never above the configured maximum.
//   Loss, marks and delay change nothing. After a retransmission timeout the controller allows
//   nothing until feedback reports a packet again.
#ifndef WEIR_CONGESTION_FIXED_H
#define WEIR_CONGESTION_FIXED_H

#include "common/base/decls.h"
#include "common/congestion/controller.h"
#include "common/congestion/pacer.h"

DECLS_BEGIN

struct fixed {
    struct controller base;
    struct pacer pacer;
    bool given;  // true if the parameter sets the rate, not the media
    bool silent; // true from a timeout until the next feedback
};

int fixed_init(struct controller *c, const char *params, usec_t now);

#define CONTROLLER_FIXED                                                                           \
    {                                                                                              \
        .name = "fixed",                                                                           \
        .help = "the media's rate, whatever the network does; fixed:rate=BPS sets another",        \
        .bytes = sizeof(struct fixed), .init = fixed_init                                          \
    }

DECLS_END
#endif
