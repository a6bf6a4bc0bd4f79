// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/qoe/qoe_latency.h"

void qoe_latency_init(struct qoe_latency *l)
{
    struct hist *hists[] = {&l->protocol,        &l->frame,       &l->frame_encoder,
                            &l->frame_transport, &l->display,     &l->buffer,
                            &l->decoder,         &l->last,        &l->shown_encoder,
                            &l->shown_transport, &l->targets,     &l->frame_backbone,
                            &l->frame_proxy,     &l->frame_access};
    l->backbone = l->proxy = 0;
    for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++)
        hist_init(hists[i]);
    l->within_200 = l->within_500 = 0;
}

static void add_known(struct hist *h, usec_t value)
{
    if (value != QOE_UNKNOWN)
        hist_add(h, value);
}

void qoe_latency_packet(struct qoe_latency *l, usec_t latency)
{
    if (latency == QOE_UNKNOWN)
        return;
    hist_add(&l->protocol, latency);
    l->within_200 += latency <= 200 * USEC_PER_MSEC;
    l->within_500 += latency <= 500 * USEC_PER_MSEC;
}

void qoe_latency_relay(struct qoe_latency *l, usec_t backbone, usec_t proxy)
{
    l->backbone = backbone;
    l->proxy = proxy;
}

// Behind a proxy the first write is the proxy's: moves the way to it from the encoder's part to the
// transport's. Returns what was moved.
static usec_t move_relayed(const struct qoe_latency *l, usec_t *encoder, usec_t *transport)
{
    if (*encoder == QOE_UNKNOWN || *transport == QOE_UNKNOWN)
        return 0;
    usec_t moved = usec_max(0, usec_min(l->backbone + l->proxy, *encoder));
    *encoder -= moved;
    *transport += moved;
    return moved;
}

void qoe_latency_frame(struct qoe_latency *l, const struct qoe_frame *e)
{
    usec_t encoder = e->encoder, transport = e->transport;
    usec_t moved = move_relayed(l, &encoder, &transport);
    add_known(&l->frame, e->latency);
    add_known(&l->frame_encoder, encoder);
    add_known(&l->frame_transport, transport);
    if (!moved)
        return;
    usec_t proxy = usec_min(l->proxy, moved);
    hist_add(&l->frame_backbone, moved - proxy);
    hist_add(&l->frame_proxy, proxy);
    add_known(&l->frame_access, e->transport);
}

void qoe_latency_shown(struct qoe_latency *l, const struct qoe_shown *e)
{
    add_known(&l->display, e->latency);
    add_known(&l->buffer, e->buffer);
    add_known(&l->decoder, e->decoder);
    add_known(&l->last, e->display);
    usec_t encoder = e->encoder, transport = e->transport;
    (void)move_relayed(l, &encoder, &transport);
    add_known(&l->shown_encoder, encoder);
    add_known(&l->shown_transport, transport);
}

void qoe_latency_target(struct qoe_latency *l, usec_t target)
{
    hist_add(&l->targets, target);
}

struct qoe_quantiles qoe_quantiles_of(const struct hist *h)
{
    return (struct qoe_quantiles){
        .count = (double)h->count,
        .mean = hist_mean_us(h) / 1e3,
        .stddev = hist_stddev_us(h) / 1e3,
        .p50 = hist_quantile_us(h, 0.50) / 1e3,
        .p95 = hist_quantile_us(h, 0.95) / 1e3,
        .p99 = hist_quantile_us(h, 0.99) / 1e3,
        .max = hist_max_us(h) / 1e3,
    };
}

void qoe_latency_read(const struct qoe_latency *l, struct qoe_json *out)
{
    double samples = (double)l->protocol.count;
    out->latency.protocol = qoe_quantiles_of(&l->protocol);
    out->latency.d200 = qoe_ratio((double)l->within_200, samples);
    out->latency.d500 = qoe_ratio((double)l->within_500, samples);
    out->latency.samples = samples;
    out->latency.frame = qoe_quantiles_of(&l->frame);
    out->latency.display = qoe_quantiles_of(&l->display);
    out->latency.parts.encoder = qoe_quantiles_of(&l->frame_encoder);
    out->latency.parts.transport = qoe_quantiles_of(&l->frame_transport);
    out->latency.parts.backbone = qoe_quantiles_of(&l->frame_backbone);
    out->latency.parts.proxy = qoe_quantiles_of(&l->frame_proxy);
    out->latency.parts.access = qoe_quantiles_of(&l->frame_access);
    out->latency.parts.buffer = qoe_quantiles_of(&l->buffer);
    out->latency.parts.decoder = qoe_quantiles_of(&l->decoder);
    out->latency.parts.display = qoe_quantiles_of(&l->last);
    out->latency.budget.targets = qoe_quantiles_of(&l->targets);
    out->latency.budget.spent_encoder = hist_mean_us(&l->shown_encoder) / 1e3;
    out->latency.budget.spent_transport = hist_mean_us(&l->shown_transport) / 1e3;
}
