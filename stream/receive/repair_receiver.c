// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/receive/repair_receiver.h"

#include <stdlib.h>
#include <string.h>

#include "common/repair/loss_detector.h"
#include "stream/qoe/qoe.h"

static const usec_t RTT_WINDOW = 10 * USEC_PER_SEC;

struct repair_receiver {
    struct repair_receiver_config config;
    struct loss_detector *detector; // owned; NULL: nothing is requested
    struct fec_decoder *decoder;    // owned; NULL: without parity
    struct loss_detector_path path;
    struct windowed_min min_rtt;
    struct repair_stats stats;
};

struct repair_receiver *repair_receiver_new(const struct repair_receiver_config *config)
{
    struct repair_receiver *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->config = *config;
    windowed_min_init(&r->min_rtt, RTT_WINDOW);
    r->detector = config->requests ? loss_detector_new() : NULL;
    r->decoder = config->takes_parity ? fec_decoder_new() : NULL;
    bool failed = (config->requests && !r->detector) || (config->takes_parity && !r->decoder);
    if (!failed && r->detector && config->patience)
        failed = loss_detector_wait(r->detector, config->patience) != 0;
    if (failed) {
        repair_receiver_free(r);
        return NULL;
    }
    if (r->detector && !config->repeats)
        loss_detector_set_keep(r->detector, 0);
    return r;
}

void repair_receiver_free(struct repair_receiver *r)
{
    if (!r)
        return;
    loss_detector_free(r->detector);
    fec_decoder_free(r->decoder);
    free(r);
}

// RFC 6298, 2.3, of values that are smoothed already: the first one is not half of its variation.
void repair_receiver_set_rtt(struct repair_receiver *r, usec_t rtt, usec_t now)
{
    if (rtt <= 0 || !r->detector)
        return;
    windowed_min_add(&r->min_rtt, rtt, now);
    usec_t change = rtt > r->path.rtt ? rtt - r->path.rtt : r->path.rtt - rtt;
    r->path.rtt_variation =
        r->path.rtt ? r->path.rtt_variation + (change - r->path.rtt_variation) / 4 : rtt / 8;
    r->path.rtt = rtt;
    r->path.min_rtt = windowed_min_read(&r->min_rtt);
    loss_detector_set_path(r->detector, &r->path);
}

void repair_receiver_set_keep(struct repair_receiver *r, usec_t keep)
{
    if (r->detector && r->config.repeats)
        loss_detector_set_keep(r->detector, keep);
}

void repair_receiver_begin(struct repair_receiver *r, int64_t first, usec_t now)
{
    if (r->detector)
        loss_detector_begin(r->detector, first, now);
}

void repair_receiver_sent(struct repair_receiver *r, int64_t last)
{
    if (r->detector)
        loss_detector_sent(r->detector, last);
}

int64_t repair_receiver_oldest(const struct repair_receiver *r)
{
    return r->detector ? loss_detector_oldest(r->detector) : INT64_MAX;
}

bool repair_receiver_is_complete(const struct repair_receiver *r)
{
    return !r->detector || loss_detector_is_complete(r->detector);
}

// ---- What arrives

void repair_receiver_heard(struct repair_receiver *r, usec_t now)
{
    if (r->detector)
        loss_detector_heard(r->detector, now);
}

// A copy carries the original's time of writing. What was requested too early, such as the tail of
// a frame that the sender sends slowly, arrives as young as any packet.
bool repair_receiver_is_resent(const struct repair_receiver *r, int64_t seq, usec_t delay,
                               usec_t now)
{
    bool young = delay >= 0 && delay < r->path.min_rtt - r->path.min_rtt / 4;
    return r->detector && !young && loss_detector_is_resent(r->detector, seq, now);
}

static void decode(struct repair_receiver *r, const uint8_t *data, size_t len, int64_t seq)
{
    uint8_t bytes[FEC_MAX_PACKET];
    if (len > sizeof(bytes)) // no parity covers it
        return;
    memcpy(bytes, data, len);
    (void)rtp_set_flow_number(bytes, len, r->config.ext, 0);
    fec_decoder_packet(r->decoder, seq, bytes, len);
}

void repair_receiver_packet(struct repair_receiver *r, const struct rtp_packet *p,
                            const uint8_t *data, size_t len, int64_t seq, bool resent, usec_t now)
{
    repair_stats_media(&r->stats, len, now);
    if (resent)
        repair_stats_copies(&r->stats, true, 1, len, now);
    if (seq < 0)
        return;
    bool says_left = p->has_adu && p->adu.has_left;
    if (r->detector)
        loss_detector_packet(r->detector, seq, says_left ? p->adu.left : LOSS_DETECTOR_TAIL_UNKNOWN,
                             now);
    if (r->decoder)
        decode(r, data, len, seq);
}

void repair_receiver_duplicate(struct repair_receiver *r, size_t len, usec_t now)
{
    repair_stats_copies(&r->stats, false, 1, len, now);
}

void repair_receiver_parity(struct repair_receiver *r, const struct rtp_packet *p, size_t len,
                            usec_t now)
{
    if (!r->decoder)
        return;
    repair_stats_parity(&r->stats, len, now);
    (void)fec_decoder_parity(r->decoder, p->payload, p->payload_len); // counts what is wrong
}

void repair_receiver_restart(struct repair_receiver *r)
{
    if (r->detector)
        loss_detector_restart(r->detector);
}

// ---- What follows from it

bool repair_receiver_recovered(struct repair_receiver *r, struct fec_recovered *out, usec_t now)
{
    if (!r->decoder || !fec_decoder_next(r->decoder, out))
        return false;
    if (r->detector)
        loss_detector_recovered(r->detector, out->seq, now);
    r->stats.fec_recovered++;
    repair_stats_media(&r->stats, out->len, now);
    return true;
}

usec_t repair_receiver_next_timeout(const struct repair_receiver *r)
{
    return r->detector ? loss_detector_next_timeout(r->detector) : USEC_NEVER;
}

int repair_receiver_requests(struct repair_receiver *r, struct rtcp_nack *out, int cap, usec_t now)
{
    return r->detector ? loss_detector_requests(r->detector, out, cap, now) : 0;
}

void repair_receiver_report(const struct repair_receiver *r, struct qoe *q)
{
    if (!r)
        return;
    struct repair_stats s = repair_receiver_read(r);
    struct qoe_repair e = {.resent = s.resent,
                           .duplicated = s.duplicated,
                           .fec_packets = s.fec_packets,
                           .fec_recovered = s.fec_recovered,
                           .invalidations = -1, // only the sender knows them
                           .repair_bytes = s.repair_bytes,
                           .media_bytes = s.media_bytes};
    qoe_on_repair(q, &e);
}

struct repair_stats repair_receiver_read(const struct repair_receiver *r)
{
    struct repair_stats out = r->stats;
    if (r->detector)
        out.lost = loss_detector_read(r->detector).holes;
    return out;
}
