// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/mtp_raw_receiver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/mtp/mtp_flow.h"
#include "common/mtp/mtp_receive_flow.h"
#include "common/mtp/mtp_tcp.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/raw_tcp.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"

struct mtp_raw_receiver {
    struct transport_receiver base;      // of the connection
    struct raw_tcp *v4, *v6;             // owned; NULL: not available
    struct raw_tcp *raw;                 // of the connection
    struct timer *timer;                 // owned
    usec_t armed;                        // no later than needed
    struct transport_receiver_path path; // of the connection
    bool connected;                      // tcp is to be destroyed
    bool over;                           // on_end was called
    struct mtp_tcp tcp;
    struct mtp_receive_flow sink;
};

static void send_segments(struct mtp_raw_receiver *m, usec_t now)
{
    struct tcp_segment s;
    while (mtp_tcp_pull(&m->tcp, &s, now))
        raw_tcp_send(m->raw, &s);
}

static const char *error_of(const struct mtp_tcp *c)
{
    switch (c->end) {
    case MTP_TCP_ENDED:
        return NULL;
    case MTP_TCP_REFUSED:
        return "the server's media port refuses TCP";
    case MTP_TCP_NO_ANSWER:
        return "the server's media port does not answer: TCP to it may be blocked";
    case MTP_TCP_RESET:
        return "the media connection was reset";
    case MTP_TCP_LOST:
        break;
    }
    return "the media connection was lost";
}

static void end(struct mtp_raw_receiver *m, usec_t now)
{
    if (m->over)
        return;
    m->over = true;
    m->path.on_end(m->path.ctx, error_of(&m->tcp), now);
}

// Call after each event. After FINs both ways the connection is closed, but its own end remains for
// a while to acknowledge a repeated FIN.
static void settle(struct mtp_raw_receiver *m, usec_t now)
{
    send_segments(m, now);
    raw_tcp_flush(m->raw);
    usec_t when = usec_min(mtp_tcp_next_timeout(&m->tcp), m->sink.ack_at);
    if (m->tcp.state == MTP_TCP_CLOSED || (m->tcp.peer_finished && m->tcp.fin_acked))
        end(m, now);
    if (m->tcp.state != MTP_TCP_CLOSED && when < m->armed) {
        m->armed = when;
        timer_set(m->timer, when);
    }
}

static void acknowledge(struct mtp_raw_receiver *m, usec_t now)
{
    struct mtp_ack ack;
    mtp_receive_flow_ack(&m->sink, &ack);
    mtp_tcp_acknowledge(&m->tcp, &ack);
    send_segments(m, now);
}

static void on_slot(struct mtp_raw_receiver *m, const uint8_t *record, uint8_t ecn, usec_t now)
{
    const uint8_t *payload;
    size_t len;
    enum mtp_receive_flow_result got = mtp_receive_flow_record(
        &m->sink, record, MTP_TCP_DATA - MTP_TCP_TAG, ecn, &payload, &len, now);
    if (got == MTP_RECEIVE_FLOW_NOTHING)
        return;
    if (m->sink.ack_at <= now)
        acknowledge(m, now);
    if (got == MTP_RECEIVE_FLOW_RTP)
        payload = srtp_guard_open_rtp(m->path.srtp, payload, &len);
    if (got == MTP_RECEIVE_FLOW_RTP && payload)
        m->path.on_rtp(m->path.ctx, payload, len, now, now);
}

static void on_segment(void *ctx, const struct tcp_segment *s, usec_t now)
{
    struct mtp_raw_receiver *m = ctx;
    struct mtp_ack unused;
    int64_t slot;
    const uint8_t *record;
    struct tcp_path back = tcp_path_reversed(&s->path);
    if (!m->connected || !tcp_path_same(&back, &m->tcp.path))
        return;
    unsigned news = mtp_tcp_input(&m->tcp, s, &unused, now);
    if (news & MTP_TCP_SLOTS)
        while (mtp_tcp_next(&m->tcp, &slot, &record))
            on_slot(m, record, s->ecn, now);
    if (news & MTP_TCP_IS_OPEN)
        m->path.on_open(m->path.ctx, now);
    if (news & MTP_TCP_FINISHED)
        mtp_tcp_close(&m->tcp, now);
}

static void on_idle(void *ctx, usec_t now)
{
    struct mtp_raw_receiver *m = ctx;
    if (m->connected)
        settle(m, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct mtp_raw_receiver *m = ctx;
    m->armed = USEC_NEVER;
    if (mtp_tcp_next_timeout(&m->tcp) <= now)
        mtp_tcp_timeout(&m->tcp, now);
    if (m->sink.ack_at <= now)
        acknowledge(m, now);
    settle(m, now);
}

static bool family_exists(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static struct raw_tcp *open_family(struct mtp_raw_receiver *m, uv_loop_t *loop, int family)
{
    struct sockaddr_storage any = {.ss_family = (sa_family_t)family};
    struct raw_tcp *raw = NULL;
    if (family_exists(family))
        (void)raw_tcp_open(loop, (struct sockaddr *)&any, on_segment, on_idle, m, &raw);
    return raw;
}

struct mtp_raw_receiver *mtp_raw_receiver_new(uv_loop_t *loop)
{
    struct mtp_raw_receiver *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->armed = USEC_NEVER;
    m->timer = timer_new(loop, on_timer, m);
    if (!m->timer)
        goto free_it;
    m->v4 = open_family(m, loop, AF_INET);
    if (!m->v4) // then IPv6 is not available either
        goto free_timer;
    m->v6 = open_family(m, loop, AF_INET6);
    return m;

free_timer:
    timer_free(m->timer);
free_it:
    free(m);
    return NULL;
}

int mtp_raw_receiver_connect(struct mtp_raw_receiver *m, const struct transport_receiver_path *path,
                             usec_t now)
{
    struct mtp_tcp_config tcp = {
        .token = path->token, .slot_bytes = MTP_TCP_DATA, .window = MTP_FLOW_WINDOW};
    struct sockaddr_storage local = {0};
    m->raw = path->server->sa_family == AF_INET6 ? m->v6 : m->v4;
    if (!m->raw)
        return ERR_UNSUPPORTED;
    if (!random_fill(&tcp.secret, sizeof(tcp.secret)))
        return ERR_NO_MEMORY;
    memcpy(&local, path->local, sockaddr_len(path->local));
    sockaddr_set_port((struct sockaddr *)&local, raw_tcp_port(m->raw));
    struct tcp_path way = raw_tcp_path((const struct sockaddr *)&local, path->server);
    if (m->connected)
        mtp_tcp_destroy(&m->tcp);
    m->connected = m->over = false;
    m->path = *path;
    mtp_receive_flow_init(&m->sink, path->token);
    if (mtp_tcp_connect(&m->tcp, &tcp, &way, now) != 0)
        return ERR_NO_MEMORY;
    m->connected = true;
    settle(m, now);
    return 0;
}

void mtp_raw_receiver_abort(struct mtp_raw_receiver *m)
{
    if (mtp_raw_receiver_is_over(m))
        return;
    m->over = true;
    mtp_tcp_abort(&m->tcp);
    send_segments(m, clock_now());
    raw_tcp_flush(m->raw);
}

bool mtp_raw_receiver_is_over(const struct mtp_raw_receiver *m)
{
    return !m->connected || m->over;
}

void mtp_raw_receiver_free(struct mtp_raw_receiver *m)
{
    if (!m)
        return;
    mtp_raw_receiver_abort(m);
    raw_tcp_free(m->v4);
    raw_tcp_free(m->v6);
    timer_free(m->timer);
    if (m->connected)
        mtp_tcp_destroy(&m->tcp);
    free(m);
}

// ---- As a transport's receiving end

static void free_connection(struct transport_receiver *r)
{
    mtp_raw_receiver_abort((struct mtp_raw_receiver *)r);
}

static int64_t connection_marked(const struct transport_receiver *r)
{
    return ((const struct mtp_raw_receiver *)r)->sink.marked;
}

static const struct transport_receiver_ops connection_ops = {.marked = connection_marked,
                                                             .free = free_connection};

int mtp_raw_receive(const struct transport_receiver_path *path, struct transport_receiver **out,
                    usec_t now)
{
    if (!path->raw || !path->has_token || !sockaddr_port(path->server))
        return ERR_UNSUPPORTED;
    path->raw->base = (struct transport_receiver){.ops = &connection_ops, .connects = true};
    *out = &path->raw->base; // even if it fails at once, the address cannot be used again
    return mtp_raw_receiver_connect(path->raw, path, now);
}
