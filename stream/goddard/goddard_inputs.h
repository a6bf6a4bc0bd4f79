// SPDX-License-Identifier: GPL-2.0-or-later
// Turns the events of a session into the inputs of Goddard's policy (goddard.h lists them): packet
// pairs, the rate of the first media, whole and lost frames.
//
// The first media tells a rate only if it arrives slower than it is played. Real video may need
// much less than its level's bitrate for a while, so bytes alone do not tell that the path is too
// slow.
//
// A pair counts if it is the pair requested last and both its packets arrived. Call an input, then
// poll the policy. Pure, not thread-safe.
#ifndef WEIR_STREAM_GODDARD_GODDARD_INPUTS_H
#define WEIR_STREAM_GODDARD_GODDARD_INPUTS_H

#include "common/base/decls.h"
#include "common/wire/capacity_pair.h"
#include "stream/goddard/frame_loss_counter.h"
#include "stream/goddard/goddard.h"
#include "stream/goddard/startup_rate.h"

DECLS_BEGIN

struct goddard_inputs {
    struct goddard policy;
    struct frame_loss_counter frames;
    uint32_t asked; // number of the pair requested last
    bool came[2];
    struct goddard_pair pair;
    struct startup_rate rate;
    int64_t first_slot; // of the first packet, in the order of sending; -1: none yet
};

struct goddard_media { // one packet of media
    uint32_t number;   // number of its frame, modulo 2^32
    int reorder;       // `reorder` field of its frame (rtp.h)
    int level;
    size_t bytes; // bytes of payload
    usec_t arrived;
};

// `config`: see goddard_init; its ladder is borrowed. Pairs are numbered from `first_pair` on,
// which must be unpredictable for third parties.
void goddard_inputs_init(struct goddard_inputs *f, const struct goddard_config *config,
                         uint32_t first_pair, usec_t now);
// Sets the path's round-trip time, if it is known before media arrives.
void goddard_inputs_rtt(struct goddard_inputs *f, usec_t rtt);
// Duration of media from which the capacity was measured; 0: none, as with packet pairs.
usec_t goddard_inputs_span(const struct goddard_inputs *f);
// Returns the number of the next pair; call it when the pair is requested.
uint32_t goddard_inputs_ask(struct goddard_inputs *f);
// A packet of a pair arrived. `bytes`: with all headers of the network layer.
void goddard_inputs_pair(struct goddard_inputs *f, const struct capacity_packet *p, size_t bytes,
                         usec_t arrived, usec_t now);
void goddard_inputs_media(struct goddard_inputs *f, const struct goddard_media *m, usec_t now);
// Frame `number` became whole. `held`: media in the buffer, this frame included.
void goddard_inputs_whole(struct goddard_inputs *f, int64_t number, usec_t held, usec_t now);
// Call after a pause. Frames sent during the pause count as neither received nor lost.
void goddard_inputs_resume(struct goddard_inputs *f, usec_t now);
// Call after a seek, before frames of the new position arrive: the frames between are not lost.
void goddard_inputs_seek(struct goddard_inputs *f, usec_t now);

DECLS_END
#endif
