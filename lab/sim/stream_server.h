// SPDX-License-Identifier: GPL-2.0-or-later
// The sending half of a simulated session, from weir-send's own parts: synthetic media at its
// times, the scheduler, the packetiser and RTP, over a carrier. What sender/session/session.c is to
// the program.
#ifndef WEIR_SIM_STREAM_SERVER_H
#define WEIR_SIM_STREAM_SERVER_H

#include "common/protocol/rtp_sender.h"
#include "lab/sim/frame_sizes.h"
#include "lab/sim/stream_carrier.h"
#include "media/coded/synthetic.h"
#include "media/rtp/packetiser.h"
#include "sender/policy/frame_clock.h"
#include "stream/send/scheduler.h"

#ifdef __cplusplus
extern "C" {
#endif

// Simulated time is no wall clock, whose 0 means unknown: both parties' walls show so much more.
#define STREAM_WALL (INT64_C(1000000000) * USEC_PER_SEC)

struct stream_server_config {
    const struct synthetic *media;   // borrowed
    const struct frame_sizes *sizes; // of its frames; borrowed; NULL: all alike
    usec_t length;                   // of the media
    usec_t latency;                  // how long a frame may wait for the carrier
    uint32_t fragment_bytes;         // of a frame in a packet
};

struct stream_server {
    struct stream_server_config config;
    struct stream_carrier *carrier; // borrowed
    struct rtp_sender rtp;
    struct frame_clock clock;
    struct scheduler scheduler;
    struct packetiser packets;         // over the frame that leaves
    const struct coded_frame *leaving; // the scheduler's begun frame; NULL: none
    bool has_packet;                   // `payload` waits to be sent
    struct rtp_payload payload;
    int level;     // asked for; -1: none yet
    int sent_size; // -1: none yet
    bool over;     // the media has ended; what waits still leaves
};

void stream_server_init(struct stream_server *s, const struct stream_server_config *config,
                        struct rng *rng);
void stream_server_destroy(struct stream_server *s);
// Its rtp is there to tell the carrier's SSRC and first sequence number; before anything else.
void stream_server_set_carrier(struct stream_server *s, struct stream_carrier *carrier);
// The first level begins the media.
void stream_server_wish(struct stream_server *s, int level, double speed, usec_t now);
// The media ends here.
void stream_server_end(struct stream_server *s);
// Frames that are due, then all that the carrier has room for.
void stream_server_run(struct stream_server *s, usec_t now);
usec_t stream_server_next(const struct stream_server *s);
void stream_server_pump(struct stream_server *s, usec_t now); // the carrier has room
bool stream_server_is_done(const struct stream_server *s);    // all left, or was dropped

#ifdef __cplusplus
}
#endif
#endif
