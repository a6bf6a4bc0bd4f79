// SPDX-License-Identifier: GPL-2.0-or-later
// How much parity (fec_encoder.h) a stream needs: the window in frames, and the parity packets
// after each frame.
//
//   window  w = floor(slack / frame interval), at least 1: a packet of frame i can be recovered
//           until frame i + w - 1 has arrived, and still be shown.
//   parity  the least m for which more than m of the window's k + m packets are lost with a
//           probability of at most 1e-3, by Gilbert's model (loss_estimate.h). The window slides by
//           a frame: m / w parity packets a frame.
//
// Pure.
#ifndef WEIR_REPAIR_FEC_PLAN_H
#define WEIR_REPAIR_FEC_PLAN_H

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    FEC_PLAN_MAX_WINDOW = 8, // frames
    FEC_PLAN_MAX_PARITY = 24 // packets for a window; a decoder keeps FEC_DECODER_PARITY
};

// Returns the window in frames; 0: there is no slack.
int fec_plan_window(usec_t slack, usec_t frame_interval);
// Returns the parity packets that `packets` media packets need, up to FEC_PLAN_MAX_PARITY.
int fec_plan_parity(int packets, double loss, double burst);

// How many parity packets leave after each frame, so that each window has its number.
struct fec_plan {
    double owed; // parity packets, below 1 between calls
};

void fec_plan_init(struct fec_plan *p);
// A frame has left: returns the parity packets to send now for a window of `window` frames with
// `packets` protected packets.
int fec_plan_frame(struct fec_plan *p, int window, int packets, double loss, double burst);

DECLS_END
#endif
