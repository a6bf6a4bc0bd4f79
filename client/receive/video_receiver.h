// SPDX-License-Identifier: GPL-2.0-or-later
// Packets in, complete frames out: connects the pure units of one stream (frame_receiver.h,
// rtcp_exchange.h) with the network and the events of the viewing. Malformed packets are counted
// and dropped. Loop thread only.
#ifndef WEIR_CLIENT_RECEIVE_VIDEO_RECEIVER_H
#define WEIR_CLIENT_RECEIVE_VIDEO_RECEIVER_H

#include <uv.h>

#include "common/base/decls.h"
#include "common/protocol/media_transport.h"
#include "common/repair/repair_stats.h"
#include "common/wire/sdp.h"
#include "media/rtp/depacketiser.h"
#include "stream/audio/av_sync.h"
#include "stream/qoe/viewing_event.h"
#include "stream/receive/clock_sync.h"

DECLS_BEGIN

// What becomes of the video. on_frame is required; NULL: not needed. No call may free the receiver.
struct video_receiver_ops {
    // A packet of a frame arrived; it is not a duplicate.
    void (*on_packet)(void *ctx, const struct rtp_packet *p, int64_t ext_seq, usec_t arrived,
                      usec_t now);
    void (*on_frame)(void *ctx, struct received_frame *f, usec_t now); // takes over the frame
    void (*on_nacked)(void *ctx, usec_t now);                          // lost packets were reported
    void (*on_bye)(void *ctx, usec_t now); // again, if the sender repeats it
    // Without a packet, video_receiver_oldest has changed: one was given up.
    void (*on_given_up)(void *ctx, usec_t now);
    // A sender report: the wall-clock time (NTP format) of an RTP timestamp.
    void (*on_report)(void *ctx, uint64_t ntp, uint32_t timestamp);
};

// The way back to the sender.
struct stream_return {
    // Sends a compound about the video or the audio.
    void (*send_rtcp)(void *ctx, enum media_track track, const uint8_t *data, size_t len);
    // Returns the number of media packets that routers marked; -1: unknown. NULL: unknown.
    int64_t (*ecn_marked)(void *ctx);
    // Bytes of RTP over a second network; -1: there is none. NULL: there is none.
    int64_t (*second_bytes)(void *ctx);
    void *ctx; // borrowed
};

struct video_receiver_config {
    uv_loop_t *loop;                // borrowed
    const struct sdp *sdp;          // borrowed
    const struct clock_sync *clock; // borrowed; NULL: the sender's is not known
    struct viewing_sink sink;       // events of packets; without a qoe no counts are passed on
    uint64_t random;                // for SSRC and CNAME
    struct stream_return back;
    const struct video_receiver_ops *ops; // static
    void *ctx;                            // borrowed
};

// How lost packets are repaired, after SETUP.
struct video_repair {
    bool datagram;           // packets can get lost
    enum repair_mode wanted; // by the viewer
    enum repair_mode agreed; // by the server; REPAIR_MODE_OFF: it repairs nothing
    usec_t patience;         // as struct repair_receiver_config has it
};

struct video_receiver_stats { // since the last call; NaN = not measured
    double rate_bps;          // that arrived
    double loss;              // fraction of packets
    double queue;             // seconds: one-way delay above the min seen
    uint64_t lost;            // packets
    uint64_t loss_events;
};

struct video_receiver;

struct video_receiver *
video_receiver_new(const struct video_receiver_config *config); // NULL: no memory
void video_receiver_free(struct video_receiver *in);            // NULL is fine
// Passes the sender reports to the audio's `sync`, too, borrowed.
void video_receiver_set_sync(struct video_receiver *in, struct av_sync *sync);
void video_receiver_packet(struct video_receiver *in, bool rtcp, const uint8_t *data, size_t len,
                           usec_t arrived, usec_t now);
// Call it once a second: sends the report to the sender, passes the counts to QoE, fills in `out`.
void video_receiver_second(struct video_receiver *in, struct video_receiver_stats *out, usec_t now);
void video_receiver_send_pli(struct video_receiver *in, usec_t now);
// Requests a max rate of the sender, bit/s, by TMMBR; 0: no limit. Returns false if the sender's
// description does not say that it takes such requests.
bool video_receiver_limit(struct video_receiver *in, double bps, usec_t now);
void video_receiver_report(struct video_receiver *in); // passes the counts so far to QoE
// At the end: sends BYE to the sender, passes the last counts to QoE.
void video_receiver_send_bye(struct video_receiver *in, usec_t now);
// The path's round trip; 0 = unknown. Separates loss events, and times requests.
void video_receiver_set_rtt(struct video_receiver *in, usec_t rtt, usec_t now);
// From now on lost packets are requested (NACK) and recovered. Without it they are not. It may be
// called again, when media moves to another path. Returns 0 or ERR_NO_MEMORY.
int video_receiver_set_repair(struct video_receiver *in, const struct video_repair *repair);
// How long after it was noticed a missing packet is of use.
void video_receiver_set_keep(struct video_receiver *in, usec_t keep);
// PLAY was answered: media begins with this packet (RTP-Info), or, if it `jumps`, continues
// elsewhere.
void video_receiver_begin(struct video_receiver *in, uint16_t seq, bool jumps, usec_t now);
// The extended number of the first packet that is missing and requested; INT64_MAX: none.
int64_t video_receiver_oldest(const struct video_receiver *in);
// Returns true if nothing is missing of what the sender is known to have sent.
bool video_receiver_is_complete(const struct video_receiver *in);
// The number of packets of this stream, and the duration of their media.
uint64_t video_receiver_packets(const struct video_receiver *in);
usec_t video_receiver_media_span(const struct video_receiver *in);
// What was added to the time stamp of the newest picture (frame_assembler_shift).
uint32_t video_receiver_shift(const struct video_receiver *in);

DECLS_END
#endif
