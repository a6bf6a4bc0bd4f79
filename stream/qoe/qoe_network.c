// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_network.h"

#include <math.h>

void qoe_network_init(struct qoe_network *n)
{
    *n = (struct qoe_network){.capacity = NAN, .before.second_bytes = -1};
    hist_init(&n->rtt);
}

void qoe_network_reconnect(struct qoe_network *n)
{
    n->before = n->receiver;
    n->repair_before = n->repair;
}

void qoe_network_packet(struct qoe_network *n, size_t bytes, usec_t now)
{
    if (n->packets++ == 0)
        n->first = now;
    n->last = now;
    n->bytes += bytes;
}

// Bytes of several connections, of which some had no second path (-1).
static int64_t add_known(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 ? a : a + b;
}

void qoe_network_receiver(struct qoe_network *n, const struct qoe_receiver *e)
{
    const struct qoe_receiver *b = &n->before;
    bool marks = e->ecn_marked >= 0 && b->ecn_marked >= 0;
    n->has_receiver = true;
    n->receiver =
        (struct qoe_receiver){.expected = b->expected + e->expected,
                              .lost = b->lost + e->lost,
                              .reordered = b->reordered + e->reordered,
                              .loss_events = b->loss_events + e->loss_events,
                              .ecn_marked = marks ? b->ecn_marked + e->ecn_marked : -1,
                              .second_bytes = add_known(b->second_bytes, e->second_bytes)};
}

void qoe_network_repair(struct qoe_network *n, const struct qoe_repair *e)
{
    const struct qoe_repair *b = &n->repair_before;
    bool known = e->invalidations >= 0 && b->invalidations >= 0;
    n->has_repair = true;
    n->repair =
        (struct qoe_repair){.resent = b->resent + e->resent,
                            .duplicated = b->duplicated + e->duplicated,
                            .fec_packets = b->fec_packets + e->fec_packets,
                            .fec_recovered = b->fec_recovered + e->fec_recovered,
                            .invalidations = known ? b->invalidations + e->invalidations : -1,
                            .repair_bytes = b->repair_bytes + e->repair_bytes,
                            .media_bytes = b->media_bytes + e->media_bytes};
}

void qoe_network_rtt(struct qoe_network *n, double seconds)
{
    if (isfinite(seconds))
        hist_add(&n->rtt, (usec_t)llround(seconds * 1e6));
}

static void read_repair(const struct qoe_network *n, struct qoe_json *out)
{
    const struct qoe_repair *r = &n->repair;
    out->repair.is_known = n->has_repair;
    out->repair.resent = (double)r->resent;
    out->repair.duplicated = (double)r->duplicated;
    out->repair.fec_packets = (double)r->fec_packets;
    out->repair.fec_recovered = (double)r->fec_recovered;
    out->repair.invalidations = r->invalidations >= 0 ? (double)r->invalidations : NAN;
    out->repair.overhead = qoe_ratio((double)r->repair_bytes, (double)r->media_bytes);
}

double qoe_network_seconds(const struct qoe_network *n)
{
    return usec_to_sec(n->last - n->first);
}

void qoe_network_read(const struct qoe_network *n, struct qoe_json *out)
{
    read_repair(n, out);
    bool any = n->packets > 0;
    double time = qoe_network_seconds(n);
    const struct qoe_receiver *r = &n->receiver;
    double expected = n->has_receiver ? (double)r->expected : NAN;
    out->network.bytes_received = any ? (double)n->bytes : NAN;
    out->network.packets_received = any ? (double)n->packets : NAN;
    out->network.throughput = qoe_ratio((double)n->bytes * 8, time);
    out->network.goodput = qoe_ratio((double)n->good_bytes * 8, time);
    out->network.packets_lost = n->has_receiver ? (double)r->lost : NAN;
    out->network.loss_rate = qoe_ratio((double)r->lost, expected);
    // RFC 5348, 5: loss events, not lost packets, divided by the packets expected.
    out->network.loss_event_rate = qoe_ratio((double)r->loss_events, expected);
    out->network.packets_reordered = n->has_receiver ? (double)r->reordered : NAN;
    out->network.ecn_marked = n->has_receiver && r->ecn_marked >= 0 ? (double)r->ecn_marked : NAN;
    out->network.second_path_bytes =
        n->has_receiver && r->second_bytes >= 0 ? (double)r->second_bytes : NAN;
    out->network.rtt_mean = hist_mean_us(&n->rtt) / 1e3;
    out->network.rtt_p95 = hist_quantile_us(&n->rtt, 0.95) / 1e3;
    out->network.capacity_estimate = n->capacity;
}
