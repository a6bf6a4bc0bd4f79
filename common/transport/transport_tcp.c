// SPDX-License-Identifier: GPL-2.0-or-later
// `tcp`: the kernel decides alone. A write is admitted whenever the socket takes one.
#include <stdlib.h>

#include "common/base/err.h"
#include "common/net/tcp_conn.h"
#include "common/transport/interleaved.h"
#include "common/transport/kinds.h"

struct tcp_transport {
    struct interleaved stream;
    transport_room_fn *on_room;
    void *ctx;    // borrowed
    bool blocked; // the last write was refused, and the socket has not become writable since
};

static bool tcp_room(struct transport *t, usec_t now)
{
    (void)now;
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    if (tcp_conn_has_backlog(tcp->stream.conn))
        tcp->blocked = true;
    if (tcp->blocked)
        tcp_conn_want_room(tcp->stream.conn, true);
    return !tcp->blocked;
}

static int tcp_send(struct transport *t, const struct iovec *parts, int count, usec_t now)
{
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    int err = interleaved_send(t, parts, count, now);
    if (err == ERR_AGAIN) {
        tcp->blocked = true;
        tcp_conn_want_room(tcp->stream.conn, true);
    }
    return err;
}

static void tcp_on_writable(struct transport *t, usec_t now)
{
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    tcp->blocked = false;
    tcp_conn_want_room(tcp->stream.conn, false);
    tcp->on_room(tcp->ctx, now);
}

static void tcp_free(struct transport *t)
{
    interleaved_destroy((struct interleaved *)t);
    free(t);
}

static const struct transport_ops tcp_ops = {
    .room = tcp_room,
    .send = tcp_send,
    .send_rtcp = interleaved_send_rtcp,
    .info = interleaved_info,
    .on_writable = tcp_on_writable,
    .free = tcp_free,
};

struct transport *transport_tcp_create(const struct transport_kind *kind, const char *params,
                                       const struct transport_path *path, usec_t now)
{
    (void)kind;
    (void)params;
    (void)now;
    struct tcp_transport *tcp = calloc(1, sizeof(*tcp));
    if (!tcp)
        return NULL;
    tcp->stream.base.ops = &tcp_ops;
    tcp->on_room = path->on_room;
    tcp->ctx = path->ctx;
    interleaved_init(&tcp->stream, path);
    return &tcp->stream.base;
}
