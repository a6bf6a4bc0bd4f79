// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/receive/media_mtp.h"

#include <stdlib.h>

#include "common/mtp/mtp_receive_flow.h"
#include "common/mtp/mtp_udp_ack.h"
#include "common/net/timer.h"

// NATs may forget a UDP flow after two minutes of silence (RFC 4787, REQ-5); many do so far sooner.
#define KEEP_ALIVE (15 * USEC_PER_SEC)

struct media_mtp {
    struct media_mtp_config config;
    struct timer *timer; // owned
    usec_t armed;        // no later than needed
    usec_t sent_at;      // the last acknowledgement
    struct mtp_receive_flow sink;
    int queued; // acknowledgements that wait for the flush
    uint8_t acks[UDP_SOCKET_BATCH][MTP_UDP_ACK_MAX];
    struct iovec queue[UDP_SOCKET_BATCH];
};

static void flush(struct media_mtp *m)
{
    if (m->queued == 1) // or they are lost
        (void)udp_socket_send(m->config.socket, m->config.to, m->queue, 1);
    else if (m->queued > 1)
        (void)udp_socket_send_batch(m->config.socket, m->config.to, m->queue, 1, m->queued);
    m->queued = 0;
}

static void on_idle(void *ctx, usec_t now)
{
    (void)now;
    flush(ctx);
}

static void acknowledge(struct media_mtp *m, usec_t now)
{
    uint8_t *out = m->acks[m->queued];
    struct mtp_ack ack;
    mtp_receive_flow_ack(&m->sink, &ack);
    m->queue[m->queued++] = (struct iovec){out, mtp_udp_ack_encode(&ack, m->config.token, out)};
    if (m->queued == UDP_SOCKET_BATCH || !udp_socket_is_receiving(m->config.socket))
        flush(m);
    m->sent_at = now;
}

// Each acknowledgement defers the next one: that is not a system call each.
static void arm(struct media_mtp *m)
{
    usec_t when = usec_min(m->sink.ack_at, m->sent_at + KEEP_ALIVE);
    if (when < m->armed) {
        m->armed = when;
        timer_set(m->timer, when);
    }
}

static void on_timer(void *ctx, usec_t now)
{
    struct media_mtp *m = ctx;
    m->armed = USEC_NEVER;
    if (now >= m->sink.ack_at || now - m->sent_at >= KEEP_ALIVE)
        acknowledge(m, now);
    arm(m);
}

struct media_mtp *media_mtp_new(const struct media_mtp_config *config, usec_t now)
{
    struct media_mtp *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->config = *config;
    m->sent_at = now;
    mtp_receive_flow_init(&m->sink, config->token);
    m->timer = timer_new(config->loop, on_timer, m);
    if (!m->timer) {
        free(m);
        return NULL;
    }
    udp_socket_set_idle(m->config.socket, on_idle, m);
    m->armed = USEC_NEVER;
    arm(m);
    return m;
}

void media_mtp_free(struct media_mtp *m)
{
    if (!m)
        return;
    udp_socket_set_idle(m->config.socket, NULL, NULL);
    timer_free(m->timer);
    free(m);
}

void media_mtp_datagram(struct media_mtp *m, const struct datagram *d, usec_t now)
{
    const uint8_t *payload;
    size_t len;
    enum mtp_receive_flow_result got =
        mtp_receive_flow_record(&m->sink, d->data, d->len, &payload, &len, now);
    if (got == MTP_RECEIVE_FLOW_NOTHING)
        return;
    if (m->sink.ack_at <= now)
        acknowledge(m, now);
    else
        arm(m);
    if (got == MTP_RECEIVE_FLOW_RTP)
        m->config.on_rtp(m->config.ctx, payload, len, d->arrived, now);
}
