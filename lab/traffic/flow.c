// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/flow.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/net/tcp_info.h"
#include "common/net/udp_socket.h"
#include "lab/traffic/model/pareto.h"

enum {
    READ_BYTES = 256 * 1024,
    READS = 8,               // max receive calls per wake-up, before other work gets its turn
    BATCH = 64,              // datagrams per system call
    RECEIVE_BUFFER = 1 << 20 // bytes of datagrams that may wait in the socket
};

// Shape of the pauses: Barford, Crovella: Generating Representative Web Workloads for Network and
// Server Performance Evaluation, 1998: inactive OFF times are Pareto with alpha = 1.5.
#define OFF_SHAPE 1.5
#define OFF_MAX   (3600.0 * 1e6)

static void wait_until(struct flow *f, usec_t when)
{
    f->next = when;
    f->env->wake_at(f->env->ctx, when);
}

static void disconnect(struct flow *f, bool abort)
{
    watch_close(f->tcp, abort);
    watch_close(f->udp, true);
    f->tcp = f->udp = NULL;
    f->connected = false;
}

static void fail(struct flow *f, const char *reason, usec_t now)
{
    log_debug("%s: %s", f->spec->text, reason);
    disconnect(f, true);
    f->failed++;
    wait_until(f, now + FLOW_RETRY);
}

static void complete(struct flow *f, usec_t now)
{
    disconnect(f, false);
    f->completed++;
    double off = 0;
    if (f->spec->kind == SPEC_WEB)
        off = pareto_draw(&f->rng, (double)f->spec->off, OFF_SHAPE, OFF_MAX);
    wait_until(f, now + (usec_t)off);
}

static void on_datagrams(void *ctx, usec_t now)
{
    (void)now;
    struct flow *f = ctx;
    struct mmsghdr messages[BATCH] = {
        0}; // no payload buffers: only the datagrams' lengths are used
    for (int i = 0; i < READS; i++) {
        int n = recvmmsg(watch_fd(f->udp), messages, BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL);
        for (int k = 0; k < n; k++)
            f->bytes += messages[k].msg_len;
        if (n < BATCH)
            return; // nothing more, or an ICMP error: the TCP connection signals the end
    }
}

// Opens a datagram socket on the connection's local address that accepts only the server's packets.
// Returns its port, or -1.
static int open_udp(struct flow *f)
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof(at);
    getsockname(watch_fd(f->tcp), (struct sockaddr *)&at, &len);
    sockaddr_set_port((struct sockaddr *)&at, 0);
    int fd = socket(at.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int bytes = RECEIVE_BUFFER;
    // Exceeds rmem_max if permitted: losses must happen on the link, not in this socket.
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    const struct sockaddr *server = (const struct sockaddr *)&f->env->server;
    if (bind(fd, (struct sockaddr *)&at, len) != 0 ||
        connect(fd, server, sockaddr_len(server)) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0) {
        close(fd);
        return -1;
    }
    f->udp = watch_new(f->env->loop, fd, UV_READABLE, on_datagrams, f);
    return f->udp ? sockaddr_port((struct sockaddr *)&at) : -1;
}

static int64_t object_bytes(struct flow *f)
{
    const struct spec *s = f->spec;
    if (s->kind != SPEC_WEB)
        return s->bytes; // elephants: 0, unlimited
    double size = pareto_draw(&f->rng, s->mean, s->shape, (double)REQUEST_BYTES_MAX);
    return size < 1 ? 1 : (int64_t)size;
}

static void ask(struct flow *f, usec_t now)
{
    int err = 0;
    socklen_t err_len = sizeof(err);
    if (getsockopt(watch_fd(f->tcp), SOL_SOCKET, SO_ERROR, &err, &err_len) != 0 || err) {
        fail(f, strerror(err ? err : errno), now);
        return;
    }
    const struct spec *s = f->spec;
    f->received = 0;
    if (s->kind == SPEC_CBR || s->kind == SPEC_PARETO) {
        int port = open_udp(f);
        if (port < 0) {
            fail(f, "cannot open a UDP socket", now);
            return;
        }
        f->request = (struct request){
            .kind = REQUEST_CBR, .port = port, .rate_bps = s->rate_bps, .size = s->size};
        if (s->kind == SPEC_PARETO) {
            f->request.kind = REQUEST_PARETO;
            f->request.on_us = s->on;
            f->request.off_us = s->off;
            f->request.shape = (int)(s->shape * 1000 + 0.5);
            f->request.seed = (int64_t)(rng_unit(&f->rng) * (double)REQUEST_SEED_MAX);
        }
    } else {
        f->request = (struct request){.kind = REQUEST_GET, .bytes = object_bytes(f)};
        memcpy(f->request.cc, s->cc, sizeof(f->request.cc));
    }
    char line[REQUEST_MAX];
    int len = request_encode(&f->request, line);
    // A new connection's buffer is empty, so the whole line fits.
    if (send(watch_fd(f->tcp), line, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) != len) {
        fail(f, "the connection was lost", now);
        return;
    }
    f->connected = true;
    watch_events(f->tcp, UV_READABLE);
}

static void at_end(struct flow *f, usec_t now)
{
    if (f->request.bytes && f->received == f->request.bytes)
        complete(f, now);
    else
        fail(f, "the server closed the connection", now);
}

static void receive(struct flow *f, usec_t now)
{
    static uint8_t
        unused[READ_BYTES]; // with MSG_TRUNC, TCP discards the bytes without copying them (tcp(7))
    for (int i = 0; i < READS; i++) {
        ssize_t n = recv(watch_fd(f->tcp), unused, sizeof(unused), MSG_DONTWAIT | MSG_TRUNC);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            fail(f, strerror(errno), now);
            return;
        }
        if (n == 0) {
            at_end(f, now);
            return;
        }
        f->bytes += n;
        f->received += n;
    }
}

static void on_ready(void *ctx, usec_t now)
{
    struct flow *f = ctx;
    if (f->connected)
        receive(f, now);
    else
        ask(f, now);
}

static void begin(struct flow *f, usec_t now)
{
    const struct sockaddr *server = (const struct sockaddr *)&f->env->server;
    f->next = USEC_NEVER;
    int fd = socket(server->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        fail(f, strerror(errno), now);
        return;
    }
    // This side sends little, but some algorithms (DCTCP) also affect acknowledgements.
    tcp_set_cc(fd, f->spec->cc);
    watch_keepalive(fd);
    bool refused = connect(fd, server, sockaddr_len(server)) != 0 && errno != EINPROGRESS;
    int err = errno;
    f->tcp = watch_new(f->env->loop, fd, UV_WRITABLE, on_ready, f);
    if (!f->tcp || refused)
        fail(f, refused ? strerror(err) : "out of memory", now);
}

void flow_init(struct flow *f, const struct flow_env *env, const struct spec *spec, uint64_t seed,
               usec_t start)
{
    *f = (struct flow){.env = env, .spec = spec, .rng = rng_seeded(seed), .next = start};
    // Users do not start at the same instant: each starts at a random point of a pause.
    if (spec->kind == SPEC_WEB || spec->kind == SPEC_PARETO)
        f->next += (usec_t)(rng_unit(&f->rng) * (double)spec->off);
}

void flow_stop(struct flow *f)
{
    disconnect(f, true);
    f->next = USEC_NEVER;
}

usec_t flow_next_timeout(const struct flow *f)
{
    return f->next;
}

void flow_on_timeout(struct flow *f, usec_t now)
{
    if (now < f->next)
        return;
    assert(!f->tcp);
    begin(f, now);
}
