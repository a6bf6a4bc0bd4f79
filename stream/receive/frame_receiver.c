// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/frame_receiver.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/seq.h"
#include "stream/receive/frame_assembler.h"

struct frame_receiver {
    struct frame_receiver_config config;
    struct rtp_receiver rtp;
    struct depacketiser *depacketiser; // owned
    struct frame_assembler *assembler; // owned; NULL: the sender is Weir's
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
    r->depacketiser = depacketiser_new();
    r->assembler = c->third_party ? frame_assembler_new(c->fps) : NULL;
    if (r->depacketiser && (r->assembler || !c->third_party))
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

static void note_timestamp(struct frame_receiver *r, const struct rtp_packet *p)
{
    int64_t timestamp = seq32_extend(r->last_timestamp, p->timestamp);
    if (!r->packets)
        r->first_timestamp = r->last_timestamp = p->timestamp;
    else if (timestamp > r->last_timestamp)
        r->last_timestamp = timestamp;
}

// Returns the protocol latency: from the sender's write to our read (MIN_BUF TCP, section 3).
static usec_t measure_delay(struct frame_receiver *r, const struct rtp_packet *p, usec_t wall_ahead,
                            usec_t arrived)
{
    if (!p->has_adu)
        return QOE_UNKNOWN;
    usec_t wall = wall_ahead + arrived + r->config.clock->offset;
    usec_t delay = wall - seq32_extend(wall, p->adu.written_us);
    r->least_delay = usec_min(r->least_delay, delay);
    r->delay_sum += (double)delay;
    r->delay_count++;
    return r->config.clock->known ? delay : QOE_UNKNOWN;
}

static void emit_packet(const struct frame_receiver *r, const struct rtp_packet *p, size_t len,
                        usec_t latency, usec_t arrived, usec_t now)
{
    // The sender's times are comparable with ours only on a shared clock.
    bool shared = r->config.clock->shared && latency != QOE_UNKNOWN;
    struct viewing_packet packet = {.figures = {.bytes = len, .latency = latency},
                                    .adu = r->config.adus && p->has_adu,
                                    .number = p->adu.frame,
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

bool frame_receiver_packet(struct frame_receiver *r, const uint8_t *data, size_t len, usec_t rtt,
                           usec_t wall_ahead, usec_t arrived, usec_t now)
{
    struct rtp_packet p;
    if (rtp_decode(data, len, r->config.ext, &p) != 0) {
        r->malformed++;
        return false;
    }
    if (p.payload_type != r->config.payload_type) {
        r->strange++;
        return false;
    }
    int64_t ext_seq;
    enum rtp_verdict verdict = rtp_receiver_packet(&r->rtp, &p, rtt, &ext_seq, arrived);
    if (verdict == RTP_DISCARD)
        r->strange++;
    if (verdict == RTP_DISCARD || verdict == RTP_DUPLICATE)
        return false;
    note_timestamp(r, &p);
    r->packets++;
    emit_packet(r, &p, len, measure_delay(r, &p, wall_ahead, arrived), arrived, now);
    if (!r->config.frames)
        return true;
    if (r->assembler)
        assemble(r, &p, ext_seq, arrived, now);
    else if (p.has_adu)
        take_packet(r, &p, ext_seq, arrived, now);
    else
        r->malformed++;
    for (struct received_frame *f; (f = depacketiser_pull(r->depacketiser));)
        r->config.on_frame(r->config.ctx, f, now);
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
