// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tcp_info.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "lab/traffic/model/onoff.h"
#include "lab/traffic/model/request.h"
#include "lab/traffic/watch.h"

enum {
    CHUNK = 256 * 1024,    // bytes per write
    WRITES = 8,            // max writes per wake-up, before other work gets its turn
    DATAGRAMS = 64,        // max datagrams per wake-up, before other work gets its turn
    SEND_BUFFER = 1 << 20, // bytes of datagrams that may wait for the device
};

static const uint8_t nothing[CHUNK]; // payload of all traffic

struct conn {
    uv_loop_t *loop;   // borrowed
    struct watch *tcp; // owned; NULL once closed
    usec_t deadline;   // USEC_NEVER once there is a request
    char line[REQUEST_MAX];
    size_t line_len;
    struct request request;
    int64_t left; // GET: bytes still to send, if limited
    int udp;      // datagrams: a socket connected to the client's port; -1: none
    struct onoff onoff;
    struct timer *pace; // owned; NULL: none
    conn_end_fn *on_end;
    void *ctx; // borrowed
};

static void end(struct conn *c, bool abort)
{
    watch_close(c->tcp, abort);
    c->tcp = NULL;
    c->on_end(c->ctx, c);
}

static void refuse(struct conn *c, const char *reason)
{
    struct sockaddr_storage peer = {0};
    socklen_t len = sizeof(peer);
    char text[64];
    getpeername(watch_fd(c->tcp), (struct sockaddr *)&peer, &len);
    sockaddr_text((struct sockaddr *)&peer, text, sizeof(text));
    log_warn("request of %s refused: %s", text, reason);
    end(c, true);
}

static void send_bytes(struct conn *c)
{
    bool endless = c->request.bytes == 0;
    for (int i = 0; i < WRITES; i++) {
        size_t len = endless || c->left > CHUNK ? CHUNK : (size_t)c->left;
        ssize_t n = send(watch_fd(c->tcp), nothing, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            end(c, true); // the client has gone
            return;
        }
        c->left -= endless ? 0 : n;
        if (!endless && c->left == 0) {
            end(c, false); // the kernel delivers the waiting bytes, then the end of the stream
            return;
        }
        if ((size_t)n < len)
            return; // the kernel's buffer is full
    }
}

static void on_pace(void *ctx, usec_t now)
{
    struct conn *c = ctx;
    int64_t due = onoff_due(&c->onoff, now);
    for (int i = 0; i < due && i < DATAGRAMS; i++) {
        if (send(c->udp, nothing, (size_t)c->request.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
            (errno == EAGAIN || errno == ENOBUFS)) {
            timer_set(c->pace, now + USEC_PER_MSEC);
            return;
        }
        // Other errors concern an earlier datagram (ICMP) or the route: the datagram is lost.
        onoff_on_sent(&c->onoff);
    }
    timer_set(c->pace, onoff_next_timeout(&c->onoff));
}

// Opens a datagram socket from our end of the connection to the client's `port`. All these sockets
// share the address and port that the server listens on; each is connected to its own peer. Returns
// -1 with errno on failure.
static int open_udp(int tcp, int port)
{
    struct sockaddr_storage local = {0}, peer = {0};
    socklen_t local_len = sizeof(local), peer_len = sizeof(peer);
    if (getsockname(tcp, (struct sockaddr *)&local, &local_len) != 0 ||
        getpeername(tcp, (struct sockaddr *)&peer, &peer_len) != 0)
        return -1;
    sockaddr_set_port((struct sockaddr *)&peer, port);
    int fd = socket(local.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int one = 1, bytes = SEND_BUFFER;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    if (bind(fd, (struct sockaddr *)&local, local_len) == 0 &&
        connect(fd, (struct sockaddr *)&peer, peer_len) == 0)
        return fd;
    close(fd);
    return -1;
}

static void begin_datagrams(struct conn *c, usec_t now)
{
    c->udp = open_udp(watch_fd(c->tcp), c->request.port);
    if (c->udp < 0) {
        refuse(c, strerror(errno));
        return;
    }
    c->pace = timer_new(c->loop, on_pace, c);
    if (!c->pace) {
        end(c, true);
        return;
    }
    const struct request *r = &c->request;
    struct onoff_config config = {.size_bytes = r->size,
                                  .rate_bps = r->rate_bps,
                                  .on = r->on_us,
                                  .off = r->off_us,
                                  .shape = r->shape / 1000.0,
                                  .seed = (uint64_t)r->seed};
    onoff_init(&c->onoff, &config, now);
    timer_set(c->pace, now);
}

static void begin(struct conn *c, usec_t now)
{
    c->deadline = USEC_NEVER;
    if (c->request.kind != REQUEST_GET) {
        begin_datagrams(c, now);
        return;
    }
    if (tcp_set_cc(watch_fd(c->tcp), c->request.cc) != 0) {
        refuse(c, "cannot set its congestion control (see tcp_allowed_congestion_control)");
        return;
    }
    c->left = c->request.bytes;
    watch_events(c->tcp, UV_WRITABLE);
    send_bytes(c);
}

// Reads at most the size of a request: a client sends nothing after it.
static void read_request(struct conn *c, usec_t now)
{
    ssize_t n =
        recv(watch_fd(c->tcp), c->line + c->line_len, REQUEST_MAX - c->line_len, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        end(c, true);
        return;
    }
    c->line_len += (size_t)n;
    int used = request_parse(c->line, c->line_len, &c->request);
    if (used == ERR_AGAIN)
        return;
    if (used < 0 || (size_t)used != c->line_len)
        refuse(c, "not a request of weir-traffic");
    else
        begin(c, now);
}

static void on_ready(void *ctx, usec_t now)
{
    struct conn *c = ctx;
    if (c->deadline != USEC_NEVER)
        read_request(c, now);
    else if (c->request.kind == REQUEST_GET)
        send_bytes(c);
    else if (recv(watch_fd(c->tcp), c->line, sizeof(c->line), MSG_DONTWAIT) >= 0 ||
             (errno != EAGAIN && errno != EINTR))
        end(c, true); // the end of the connection, or unexpected data
}

struct conn *conn_new(uv_loop_t *loop, int fd, usec_t deadline, conn_end_fn *on_end, void *ctx)
{
    struct conn *c = calloc(1, sizeof(*c));
    if (!c) {
        log_error("out of memory for a connection");
        close(fd);
        return NULL;
    }
    *c = (struct conn){.loop = loop, .deadline = deadline, .udp = -1, .on_end = on_end, .ctx = ctx};
    watch_keepalive(fd);
    c->tcp = watch_new(loop, fd, UV_READABLE, on_ready, c);
    if (!c->tcp) {
        free(c);
        return NULL;
    }
    return c;
}

void conn_free(struct conn *c)
{
    watch_close(c->tcp, true);
    timer_free(c->pace);
    if (c->udp >= 0)
        close(c->udp);
    free(c);
}

usec_t conn_deadline(const struct conn *c)
{
    return c->deadline;
}
