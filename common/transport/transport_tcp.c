// SPDX-License-Identifier: GPL-2.0-or-later
// `tcp`: the kernel decides alone. A write is admitted whenever the socket takes one.
//
// `tcp:notsent=BYTES`: the same with a fixed TCP_NOTSENT_LOWAT, the usual remedy for a long send
// buffer. The kernel's wake-up honours the mark: it comes when less than half of it waits. Its
// write does so only where it begins a new buffer of up to 64 KB, so the mark is looked at here
// before each packet: at most one packet stands above it.
//
// `tcp:sndbuf=BYTES`: the same with a send buffer of a fixed size, as sockets had before the kernel
// sized their buffers itself.
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/congestion/params.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_info.h"
#include "common/transport/interleaved.h"

enum { NOTSENT_MAX = 16 << 20, SNDBUF_MIN = 4096, SNDBUF_MAX = 16 << 20 };

struct tcp_limits { // bytes; 0: none
    uint32_t notsent;
    int sndbuf;
};

struct tcp_transport {
    struct interleaved stream;
    struct tcp_limits limits;
    transport_room_fn *on_room;
    void *ctx;    // borrowed
    bool blocked; // a write was, or would be, refused; the socket has not become writable since
};

static bool is_above_mark(const struct tcp_transport *tcp)
{
    return tcp->limits.notsent &&
           tcp_notsent_bytes(tcp_conn_fd(tcp->stream.conn)) >= tcp->limits.notsent;
}

static bool tcp_room(struct media_transport *t, usec_t now)
{
    (void)now;
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    if (tcp_conn_has_backlog(tcp->stream.conn) || is_above_mark(tcp))
        tcp->blocked = true;
    if (tcp->blocked)
        tcp_conn_want_room(tcp->stream.conn, true);
    return !tcp->blocked;
}

static int tcp_send(struct media_transport *t, enum media_track track, const struct media_packet *p,
                    usec_t now)
{
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    int err = interleaved_send(t, track, p, now);
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

static void set_limits(const struct tcp_transport *tcp)
{
    if (tcp->limits.notsent)
        tcp_set_notsent_lowat(tcp_conn_fd(tcp->stream.conn), tcp->limits.notsent);
    if (tcp->limits.sndbuf)
        tcp_set_send_buffer(tcp_conn_fd(tcp->stream.conn), tcp->limits.sndbuf);
}

static void tcp_on_reconnected(struct transport *t, usec_t now)
{
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    (void)now;
    tcp->blocked = false;
    tcp_conn_want_room(tcp->stream.conn, false);
    set_limits(tcp);
}

static void tcp_free(struct transport *t)
{
    struct tcp_transport *tcp = (struct tcp_transport *)t;
    interleaved_destroy(&tcp->stream);
    if (tcp->limits.notsent)
        tcp_set_notsent_lowat(tcp_conn_fd(tcp->stream.conn), 0); // the system's default
    if (tcp->limits.sndbuf)
        tcp_set_send_buffer(tcp_conn_fd(tcp->stream.conn), 0);
    free(tcp);
}

static const struct transport_ops tcp_ops = {
    .media.room = tcp_room,
    .media.send = tcp_send,
    .send_rtcp = interleaved_send_rtcp,
    .media.info = interleaved_info,
    .on_writable = tcp_on_writable,
    .on_reconnected = tcp_on_reconnected,
    .free = tcp_free,
};

static int parse(const char *params, struct tcp_limits *limits)
{
    double notsent = 0, sndbuf = 0;
    const struct param table[] = {
        {"notsent", &notsent, 1, NOTSENT_MAX, NULL},
        {"sndbuf", &sndbuf, SNDBUF_MIN, SNDBUF_MAX, NULL},
    };
    int err = *params ? params_read(params, table, sizeof(table) / sizeof(*table), NULL) : 0;
    *limits = (struct tcp_limits){(uint32_t)notsent, (int)sndbuf};
    bool is_whole = limits->notsent == notsent && limits->sndbuf == sndbuf;
    return err ? err : is_whole ? 0 : ERR_MALFORMED;
}

static int tcp_check(const struct transport_kind *kind, const char *params)
{
    (void)kind;
    struct tcp_limits limits;
    return parse(params, &limits);
}

static struct transport *tcp_create(const struct transport_kind *kind, const char *params,
                                    const struct transport_path *path, usec_t now)
{
    (void)kind;
    (void)now;
    struct tcp_transport *tcp = calloc(1, sizeof(*tcp));
    if (!tcp)
        return NULL;
    parse(params, &tcp->limits); // checked before
    tcp->stream.base.ops = &tcp_ops;
    tcp->on_room = path->on_room;
    tcp->ctx = path->ctx;
    interleaved_init(&tcp->stream, path);
    set_limits(tcp);
    return &tcp->stream.base;
}

const struct transport_kind transport_tcp = {
    .name = "tcp",
    .help = "plain kernel TCP, the baseline; tcp:notsent=1..16777216 bounds the unsent bytes, "
            "tcp:sndbuf=4096..16777216 the send buffer",
    .plain_rtp = true,
    .reliable = true,
    .holds_back = true,
    .measures = true,
    .check = tcp_check,
    .create = tcp_create,
};
