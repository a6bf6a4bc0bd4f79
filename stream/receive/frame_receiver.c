// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/frame_receiver.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/seq.h"
#include "media/rtp/h264_payload.h"
#include "media/rtp/hevc_payload.h"
#include "media/rtp/jpeg_payload.h"
#include "media/rtp/vp9_payload.h"
#include "stream/receive/frame_assembler.h"

struct frame_receiver {
    struct frame_receiver_config config;
    struct rtp_receiver rtp;
    struct depacketiser *depacketiser; // owned
    struct frame_assembler *assembler; // owned; NULL: the sender is Weir's
    struct repair_receiver *repair;    // borrowed; NULL: lost packets stay lost
    uint64_t packets;
    uint64_t malformed;
    uint64_t strange;
    int64_t first_timestamp; // extended
    int64_t last_timestamp;  // extended
    usec_t least_delay;
    double delay_sum; // sum since the last call of frame_receiver_queue
    int delay_count;
};

struct frame_receiver *frame_receiver_new(const struct frame_receiver_config *c)
{
    struct frame_receiver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *c;
    r->least_delay = USEC_NEVER;
    rtp_receiver_init(&r->rtp);
    r->depacketiser = depacketiser_new(c->codec == SDP_VP9    ? &vp9_payload_format
                                       : c->codec == SDP_HEVC ? &hevc_payload_format
                                       : c->codec == SDP_JPEG ? &jpeg_payload_format
                                                              : &h264_payload_format);
    r->assembler = c->third_party ? frame_assembler_new(c->codec, c->fps) : NULL;
    bool has_all = r->depacketiser && (r->assembler || !c->third_party);
    if (has_all && (!c->third_party || depacketiser_widen(r->depacketiser) == 0))
        return r;
    frame_receiver_free(r);
    return NULL;
}

void frame_receiver_free(struct frame_receiver *r)
{
    if (!r)
        return;
    depacketiser_free(r->depacketiser);
    frame_assembler_free(r->assembler);
    free(r);
}

void frame_receiver_set_repair(struct frame_receiver *r, struct repair_receiver *repair)
{
    r->repair = repair;
}

int frame_receiver_wait(struct frame_receiver *r)
{
    r->rtp.max_dropout = RTP_MAX_AWAITED;
    return depacketiser_widen(r->depacketiser);
}

static void note_timestamp(struct frame_receiver *r, const struct rtp_packet *p)
{
    int64_t timestamp = seq32_extend(r->last_timestamp, p->timestamp);
    if (!r->packets)
        r->first_timestamp = r->last_timestamp = p->timestamp;
    else if (timestamp > r->last_timestamp)
        r->last_timestamp = timestamp;
}

static usec_t delay_of(const struct frame_receiver *r, const struct rtp_packet *p,
                       usec_t wall_ahead, usec_t arrived)
{
    usec_t wall = wall_ahead + arrived + r->config.clock->offset;
    return wall - seq32_extend(wall, p->adu.written_us);
}

// Returns the protocol latency: from the sender's write to our read (MIN_BUF TCP, section 3).
// `resent`: the time of writing is that of the lost packet, so it is not the path's delay.
static usec_t measure_delay(struct frame_receiver *r, const struct rtp_packet *p, bool resent,
                            usec_t wall_ahead, usec_t arrived)
{
    if (!p->has_adu)
        return QOE_UNKNOWN;
    usec_t delay = delay_of(r, p, wall_ahead, arrived);
    if (!resent) {
        r->least_delay = usec_min(r->least_delay, delay);
        r->delay_sum += (double)delay;
        r->delay_count++;
    }
    return r->config.clock->known ? delay : QOE_UNKNOWN;
}

// Returns the time between capture and writing of a packet that has both.
static usec_t written_after_capture(const struct rtp_packet *p)
{
    return seq32_extend(p->capture_wall, p->adu.written_us) - p->capture_wall;
}

static void emit_packet(const struct frame_receiver *r, const struct rtp_packet *p, size_t len,
                        usec_t latency, usec_t arrived, usec_t now)
{
    // The sender's times are comparable with ours only on a shared clock.
    bool shared = r->config.clock->shared && latency != QOE_UNKNOWN;
    struct viewing_packet packet = {.figures = {.bytes = len, .latency = latency},
                                    .adu = r->config.adus && p->has_adu,
                                    .number = p->adu.frame,
                                    .size_id = p->adu.size_id,
                                    .captured = shared && p->has_capture
                                                    ? arrived - latency - written_after_capture(p)
                                                    : QOE_UNKNOWN,
                                    .written = shared ? arrived - latency : QOE_UNKNOWN,
                                    .read = shared ? arrived : QOE_UNKNOWN};
    struct viewing_event e = {.kind = VIEWING_PACKET, .at = now, .packet = packet};
    viewing_emit(&r->config.sink, &e);
}

// Passes on a packet, which has an adu.
static void take_packet(struct frame_receiver *r, const struct rtp_packet *p, int64_t ext_seq,
                        usec_t arrived, usec_t now)
{
    r->config.on_packet(r->config.ctx, p, ext_seq, arrived, now);
    (void)depacketiser_push(r->depacketiser, p, ext_seq, arrived); // counts malformed packets
}

static void assemble(struct frame_receiver *r, const struct rtp_packet *p, int64_t ext_seq,
                     usec_t arrived, usec_t now)
{
    frame_assembler_push(r->assembler, p, ext_seq, arrived);
    for (struct foreign_packet f; frame_assembler_pull(r->assembler, &f);) {
        take_packet(r, &f.packet, f.ext_seq, f.arrived, now);
        free((void *)(uintptr_t)f.packet.payload);
    }
}

static void take(struct frame_receiver *r, const struct rtp_packet *p, int64_t ext_seq,
                 usec_t arrived, usec_t now)
{
    if (!r->config.frames)
        return;
    if (r->assembler)
        assemble(r, p, ext_seq, arrived, now);
    else if (p->has_adu)
        take_packet(r, p, ext_seq, arrived, now);
    else
        r->malformed++;
}

static void hand_out_frames(struct frame_receiver *r, usec_t now)
{
    for (struct received_frame *f; (f = depacketiser_pull(r->depacketiser));)
        r->config.on_frame(r->config.ctx, f, now);
}

// ---- Repair

// Returns true if the packet was sent again; then it is known to be there from now on.
static bool take_resent(struct frame_receiver *r, const struct rtp_packet *p, usec_t rtt,
                        int64_t *ext_seq, usec_t wall_ahead, usec_t arrived)
{
    if (!r->repair || !r->rtp.started || p->ssrc != r->rtp.ssrc)
        return false;
    *ext_seq = seq16_extend(r->rtp.highest_seq, p->seq);
    usec_t delay = -1;
    if (p->has_adu && r->least_delay != USEC_NEVER)
        delay = usec_max(0, delay_of(r, p, wall_ahead, arrived) - r->least_delay);
    return repair_receiver_is_resent(r->repair, *ext_seq, delay, arrived) &&
           rtp_receiver_repaired(&r->rtp, *ext_seq, rtt, arrived);
}

// The bytes are those of a packet of this stream, unless somebody made wrong parity.
static void take_recovered(struct frame_receiver *r, usec_t rtt, usec_t now)
{
    struct fec_recovered f;
    while (r->repair && repair_receiver_recovered(r->repair, &f, now)) {
        struct rtp_packet p;
        if (rtp_decode(f.bytes, f.len, r->config.ext, &p) != 0 ||
            p.payload_type != r->config.payload_type || p.ssrc != r->rtp.ssrc) {
            r->malformed++;
        } else if (rtp_receiver_repaired(&r->rtp, f.seq, rtt, now)) {
            note_timestamp(r, &p);
            take(r, &p, f.seq, now, now);
        }
    }
}

static enum rtp_verdict receive(struct frame_receiver *r, const struct rtp_packet *p, size_t len,
                                usec_t rtt, int64_t *ext_seq, usec_t arrived)
{
    uint32_t ssrc = r->rtp.ssrc;
    int64_t highest = r->rtp.highest_seq;
    bool started = r->rtp.started;
    enum rtp_verdict verdict = rtp_receiver_packet(&r->rtp, p, rtt, ext_seq, arrived);
    if (!r->repair)
        return verdict;
    if (verdict == RTP_DUPLICATE)
        repair_receiver_duplicate(r->repair, len, arrived);
    else if (verdict == RTP_NEW && started &&
             (r->rtp.ssrc != ssrc || *ext_seq > highest + r->rtp.max_dropout))
        repair_receiver_restart(r->repair);
    return verdict;
}

bool frame_receiver_packet(struct frame_receiver *r, const uint8_t *data, size_t len, usec_t rtt,
                           usec_t wall_ahead, usec_t arrived, usec_t now)
{
    struct rtp_packet p;
    if (rtp_decode(data, len, r->config.ext, &p) != 0) {
        r->malformed++;
        return false;
    }
    if (r->repair)
        repair_receiver_heard(r->repair, now);
    if (p.payload_type == RTP_PT_FEC && r->repair && r->rtp.started) {
        repair_receiver_parity(r->repair, &p, len, arrived);
        take_recovered(r, rtt, now);
        hand_out_frames(r, now);
        return false;
    }
    if (p.payload_type != r->config.payload_type) {
        r->strange++;
        return false;
    }
    int64_t ext_seq;
    bool resent = take_resent(r, &p, rtt, &ext_seq, wall_ahead, arrived);
    enum rtp_verdict verdict = resent ? RTP_LATE : receive(r, &p, len, rtt, &ext_seq, arrived);
    if (verdict == RTP_DISCARD)
        r->strange++;
    if (verdict == RTP_DISCARD || verdict == RTP_DUPLICATE)
        return false;
    note_timestamp(r, &p);
    r->packets++;
    emit_packet(r, &p, len, measure_delay(r, &p, resent, wall_ahead, arrived), arrived, now);
    if (r->repair) // before the frames that it completes: a request may await what these lack
        repair_receiver_packet(r->repair, &p, data, len, ext_seq, resent, arrived);
    take(r, &p, ext_seq, arrived, now);
    take_recovered(r, rtt, now);
    hand_out_frames(r, now);
    return true;
}

struct rtp_receiver *frame_receiver_rtp(struct frame_receiver *r)
{
    return &r->rtp;
}

double frame_receiver_queue(struct frame_receiver *r)
{
    double queue = r->delay_count ? (r->delay_sum / r->delay_count - (double)r->least_delay) / 1e6
                                  : (double)NAN;
    r->delay_sum = 0;
    r->delay_count = 0;
    return queue;
}

uint64_t frame_receiver_packets(const struct frame_receiver *r)
{
    return r->packets;
}

usec_t frame_receiver_media_span(const struct frame_receiver *r)
{
    return rtp_usec(r->last_timestamp - r->first_timestamp, RTP_CLOCK_RATE);
}

uint32_t frame_receiver_shift(const struct frame_receiver *r)
{
    return r->assembler ? frame_assembler_shift(r->assembler) : 0;
}

uint64_t frame_receiver_malformed(const struct frame_receiver *r)
{
    return r->malformed + depacketiser_malformed(r->depacketiser);
}

uint64_t frame_receiver_strange(const struct frame_receiver *r)
{
    return r->strange;
}
