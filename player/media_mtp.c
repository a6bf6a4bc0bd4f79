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
    usec_t armed;        // no later than needed
    usec_t sent_at;      // the last acknowledgement
    struct mtp_sink sink;
};

static void acknowledge(struct media_mtp *m, usec_t now)
{
    uint8_t out[MTP_UDP_ACK_MAX];
    struct mtp_ack ack;
    mtp_sink_ack(&m->sink, &ack);
    struct iovec part = {out, mtp_udp_ack_encode(&ack, m->config.token, out)};
    (void)udp_socket_send(m->config.socket, m->config.to, &part, 1); // or it is lost
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
    mtp_sink_init(&m->sink, config->token);
    m->timer = timer_new(config->loop, on_timer, m);
    if (!m->timer) {
        free(m);
        return NULL;
    }
    m->armed = USEC_NEVER;
    arm(m);
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
    enum mtp_sink_result got = mtp_sink_record(&m->sink, d->data, d->len, &payload, &len, now);
    if (got == MTP_SINK_NOTHING)
        return;
    if (m->sink.ack_at <= now)
        acknowledge(m, now);
    else
        arm(m);
    if (got == MTP_SINK_RTP)
        m->config.on_rtp(m->config.ctx, payload, len, d->arrived, now);
}
