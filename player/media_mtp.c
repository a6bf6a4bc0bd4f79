// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/media_mtp.h"

#include <stdlib.h>

#include "common/net/timer.h"
#include "common/protocol/mtp_sink.h"
#include "common/protocol/mtp_udp_ack.h"

// NATs may forget a UDP flow after two minutes of silence (RFC 4787, REQ-5); many do so far sooner.
#define KEEP_ALIVE (15 * USEC_PER_SEC)

struct media_mtp {
    struct media_mtp_config config;
    struct timer *timer; // owned
    usec_t sent_at;      // the last acknowledgement
    struct mtp_sink sink;
};

// Not delayed: the sender counts acknowledgements, and each lets a packet out.
static void acknowledge(struct media_mtp *m, usec_t now)
{
    uint8_t out[MTP_UDP_ACK_MAX];
    struct mtp_ack ack;
    mtp_receiver_ack(&m->sink.receiver, &ack);
    struct iovec part = {out, mtp_udp_ack_encode(&ack, m->config.token, out)};
    (void)udp_socket_send(m->config.socket, m->config.to, &part, 1); // or it is lost
    m->sent_at = now;
}

static void on_timer(void *ctx, usec_t now)
{
    struct media_mtp *m = ctx;
    if (now - m->sent_at >= KEEP_ALIVE)
        acknowledge(m, now);
    timer_set(m->timer, m->sent_at + KEEP_ALIVE);
}

struct media_mtp *media_mtp_new(const struct media_mtp_config *config, usec_t now)
{
    struct media_mtp *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->config = *config;
    m->sent_at = now;
    mtp_sink_init(&m->sink, config->token);
    m->timer = timer_new(config->loop, on_timer, m);
    if (!m->timer) {
        free(m);
        return NULL;
    }
    timer_set(m->timer, now + KEEP_ALIVE);
    return m;
}

void media_mtp_free(struct media_mtp *m)
{
    if (!m)
        return;
    timer_free(m->timer);
    free(m);
}

void media_mtp_datagram(struct media_mtp *m, const struct datagram *d, usec_t now)
{
    const uint8_t *payload;
    size_t len;
    enum mtp_sink_result got = mtp_sink_record(&m->sink, d->data, d->len, &payload, &len);
    if (got == MTP_SINK_NOTHING)
        return;
    acknowledge(m, now);
    if (got == MTP_SINK_RTP)
        m->config.on_rtp(m->config.ctx, payload, len, d->arrived, now);
}
