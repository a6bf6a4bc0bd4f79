// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the events of a session into the inputs of Goddard's policy (goddard.h says which, and
// when): pairs of packets, the rate of the first media, frames whole and lost.
//
// A pair counts when it is the one asked for last and both its packets came. Feed, then poll the
// policy. Pure, not thread-safe.
#ifndef WEIR_STREAM_GODDARD_GODDARD_INPUTS_H
#define WEIR_STREAM_GODDARD_GODDARD_INPUTS_H

#include "common/wire/capacity_pair.h"
#include "stream/goddard/frame_loss_counter.h"
#include "stream/goddard/goddard.h"
#include "stream/goddard/startup_rate.h"

#ifdef __cplusplus
extern "C" {
#endif

struct goddard_inputs {
    struct goddard policy;
    struct frame_loss_counter frames;
    uint32_t asked; // number of the pair asked for last
    bool came[2];
    struct goddard_pair pair;
    struct startup_rate rate;
};

struct goddard_media { // one packet of it
    uint32_t number;   // of its frame, modulo 2^32
    int reorder;       // of its frame (rtp.h)
    int level;
    size_t bytes; // of payload
    usec_t arrived;
};

// Whether frames may be missing by this transport, as SETUP named it: on the way, or because the
// sender's scheduler left them out, which the numbers of those that came tell over reliable
// transports, too. Over plain TCP all that was made comes, as the paper has it.
bool goddard_inputs_loses_frames(const char *transport);
// `config` as goddard_init has it; its ladder is borrowed. Pairs are numbered from `first_pair` on,
// which must be unpredictable for third parties.
void goddard_inputs_init(struct goddard_inputs *f, const struct goddard_config *config,
                         uint32_t first_pair, usec_t now);
// The path's round trip, as far as it is known before media comes.
void goddard_inputs_rtt(struct goddard_inputs *f, usec_t rtt);
// So much media was measured for the capacity; 0: none, as where pairs tell it.
usec_t goddard_inputs_span(const struct goddard_inputs *f);
// The number of the next pair, which is asked for now.
uint32_t goddard_inputs_ask(struct goddard_inputs *f);
// A packet of a pair; `bytes`: with all headers of the network layer.
void goddard_inputs_pair(struct goddard_inputs *f, const struct capacity_packet *p, size_t bytes,
                         usec_t arrived, usec_t now);
void goddard_inputs_media(struct goddard_inputs *f, const struct goddard_media *m, usec_t now);
// Frame `number` is whole; `held`: media in the buffer with it.
void goddard_inputs_whole(struct goddard_inputs *f, int64_t number, usec_t held, usec_t now);
// Call after a pause. Frames sent during the pause count as neither received nor lost.
void goddard_inputs_resume(struct goddard_inputs *f, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
