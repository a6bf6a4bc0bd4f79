// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_conn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/udp_socket.h"

enum { FIRST_OUT_BYTES = 4096 };

struct tcp_conn {
    uv_poll_t poll;
    int fd;
    const struct tcp_conn_ops *ops; // static
    void *ctx;                      // borrowed
    bool connecting;
    bool closed; // true from the call of on_close
    bool freed;  // true from the call of tcp_conn_free()
    bool want_room;
    bool finishing;
    bool held;  // true while input waits for tcp_conn_resume()
    int events; // events that the poll watches
    struct sockaddr_storage peer;
    struct sockaddr_storage local;
    size_t in_cap;
    size_t in_len;
    size_t out_len;
    size_t out_at;  // bytes of `out` already written
    size_t out_cap; // at most twice TCP_CONN_OUT_BYTES
    uint8_t *in;    // owned, in_cap bytes
    uint8_t *out;   // owned; NULL while nothing waits, which is the usual case
};

static void on_event(uv_poll_t *poll, int status, int events);

static void update_events(struct tcp_conn *c)
{
    if (c->closed)
        return;
    int events = c->connecting ? UV_WRITABLE : c->held ? 0 : UV_READABLE;
    if (c->want_room || c->out_len)
        events |= UV_WRITABLE;
    if (events == c->events)
        return;
    c->events = events;
    uv_poll_start(&c->poll, events, on_event);
}

static void close_with(struct tcp_conn *c, int err, usec_t now)
{
    if (c->closed)
        return;
    c->closed = true;
    uv_poll_stop(&c->poll);
    c->ops->on_close(c->ctx, err, now);
}

static void learn_addresses(struct tcp_conn *c)
{
    socklen_t len = sizeof(c->peer);
    getpeername(c->fd, (struct sockaddr *)&c->peer, &len);
    len = sizeof(c->local);
    getsockname(c->fd, (struct sockaddr *)&c->local, &len);
}

// Passes the buffered input to the owner. Returns false if the connection has ended.
static bool deliver(struct tcp_conn *c, usec_t now)
{
    if (c->finishing) {
        c->in_len = 0;
        return true;
    }
    int used = c->ops->on_input(c->ctx, c->in, c->in_len, now);
    if (c->closed)
        return false;
    if (used < 0) {
        close_with(c, used, now);
        return false;
    }
    assert((size_t)used <= c->in_len);
    c->in_len -= (size_t)used;
    memmove(c->in, c->in + used, c->in_len);
    if (c->in_len == c->in_cap && !c->held) {
        close_with(c, ERR_TOO_BIG, now);
        return false;
    }
    return true;
}

static void read_some(struct tcp_conn *c, usec_t now)
{
    // Reads at most a few buffers per wake-up, so that a fast peer does not starve the rest of the
    // loop.
    for (int i = 0; i < 4; i++) {
        ssize_t n = recv(c->fd, c->in + c->in_len, c->in_cap - c->in_len, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            if (n < 0)
                log_debug("connection failed: %s", strerror(errno));
            close_with(c, n == 0 ? ERR_CLOSED : ERR_IO, now);
            return;
        }
        bool filled = (size_t)n == c->in_cap - c->in_len;
        c->in_len += (size_t)n;
        if (!deliver(c, now) || !filled || c->held)
            return;
    }
}

// Writes the waiting bytes. Returns false if the connection failed.
static bool flush(struct tcp_conn *c, usec_t now)
{
    while (c->out_at < c->out_len) {
        ssize_t n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL | MSG_EOR);
        if (n < 0) {
            if (errno == EAGAIN || errno == EINTR)
                return true;
            log_debug("connection failed: %s", strerror(errno));
            close_with(c, ERR_IO, now);
            return false;
        }
        c->out_at += (size_t)n;
    }
    free(c->out);
    c->out = NULL;
    c->out_at = c->out_len = c->out_cap = 0;
    if (c->finishing)
        shutdown(c->fd, SHUT_WR);
    return true;
}

static void finish_connect(struct tcp_conn *c, usec_t now)
{
    int error = 0;
    socklen_t len = sizeof(error);
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    if (error) {
        log_debug("cannot connect: %s", strerror(error));
        close_with(c, ERR_IO, now);
        return;
    }
    c->connecting = false;
    learn_addresses(c);
    update_events(c);
    c->ops->on_open(c->ctx, now);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct tcp_conn *c = poll->data;
    usec_t now = clock_now();
    if (c->connecting) {
        finish_connect(c, now);
        return;
    }
    if (status < 0) { // a reset; data received before it is still valid
        if (!c->held)
            read_some(c, now);
        if (!c->closed)
            close_with(c, ERR_IO, now);
        return;
    }
    if (events & UV_WRITABLE) {
        if (!flush(c, now))
            return;
        if (!c->out_len && c->want_room)
            c->ops->on_room(c->ctx, now);
        update_events(c);
    }
    if (!c->closed && !c->held && (events & UV_READABLE))
        read_some(c, now);
}

static struct tcp_conn *conn_new(uv_loop_t *loop, int fd, size_t in_cap,
                                 const struct tcp_conn_ops *ops, void *ctx, bool connecting)
{
    struct tcp_conn *c = calloc(1, sizeof(*c));
    if (!c)
        goto close_fd;
    c->in = malloc(in_cap);
    if (!c->in)
        goto free_conn;
    c->fd = fd;
    c->in_cap = in_cap;
    c->ops = ops;
    c->ctx = ctx;
    c->connecting = connecting;
    if (uv_poll_init(loop, &c->poll, fd) != 0)
        goto free_in;
    c->poll.data = c;
    int one = 1; // ADUs must leave when they are written, so Nagle is off
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (!connecting)
        learn_addresses(c);
    update_events(c);
    return c;

free_in:
    free(c->in);
free_conn:
    free(c);
close_fd:
    log_error("cannot set up a connection");
    close(fd);
    return NULL;
}

struct tcp_conn *tcp_conn_new(uv_loop_t *loop, int fd, size_t in_cap,
                              const struct tcp_conn_ops *ops, void *ctx)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return conn_new(loop, fd, in_cap, ops, ctx, false);
}

struct tcp_conn *tcp_conn_connect(uv_loop_t *loop, const struct sockaddr *to, size_t in_cap,
                                  const struct tcp_conn_ops *ops, void *ctx)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || (connect(fd, to, sockaddr_len(to)) != 0 && errno != EINPROGRESS)) {
        log_error("cannot connect: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    return conn_new(loop, fd, in_cap, ops, ctx, true);
}

static void on_freed(uv_handle_t *handle)
{
    struct tcp_conn *c = handle->data;
    close(c->fd);
    free(c->out);
    free(c->in);
    free(c);
}

void tcp_conn_free(struct tcp_conn *c)
{
    if (!c || c->freed)
        return;
    c->closed = true;
    c->freed = true;
    uv_close((uv_handle_t *)&c->poll, on_freed);
}

static bool reserve_out(struct tcp_conn *c, size_t bytes)
{
    size_t cap = c->out_cap ? c->out_cap : FIRST_OUT_BYTES;
    while (cap < bytes)
        cap *= 2;
    uint8_t *out = cap > c->out_cap ? realloc(c->out, cap) : c->out;
    if (!out)
        return false;
    c->out = out;
    c->out_cap = cap;
    return true;
}

// Appends bytes to those that wait. The caller checked that they are within the bound.
static void append_out(struct tcp_conn *c, const void *data, size_t len)
{
    if (c->out_at && c->out_len + len > c->out_cap) {
        memmove(c->out, c->out + c->out_at, c->out_len - c->out_at);
        c->out_len -= c->out_at;
        c->out_at = 0;
    }
    if (!reserve_out(c, c->out_len + len)) {
        log_error("a connection is closed: out of memory");
        shutdown(c->fd, SHUT_RDWR); // on_close follows from the loop
        return;
    }
    memcpy(c->out + c->out_len, data, len);
    c->out_len += len;
}

int tcp_conn_send(struct tcp_conn *c, const void *data, size_t len)
{
    if (c->closed)
        return ERR_CLOSED;
    if (c->out_len - c->out_at + len > TCP_CONN_OUT_BYTES)
        return ERR_FULL;
    size_t sent = 0;
    if (!c->out_len && !c->connecting) {
        ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL | MSG_EOR);
        if (n > 0)
            sent = (size_t)n; // an error shows again at the next event
    }
    if (sent < len)
        append_out(c, (const uint8_t *)data + sent, len - sent);
    update_events(c);
    return 0;
}

// Returns the number of bytes written, ERR_AGAIN or ERR_CLOSED.
static ssize_t write_parts(struct tcp_conn *c, const struct iovec *parts, int count, int flags)
{
    struct msghdr msg = {.msg_iovlen = (size_t)count};
    msg.msg_iov = (struct iovec *)(uintptr_t)parts; // sendmsg does not write through it
    ssize_t n = sendmsg(c->fd, &msg, MSG_NOSIGNAL | flags);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? ERR_AGAIN : ERR_CLOSED;
    return n;
}

// Copies the bytes after the first `taken` ones.
static void keep_rest(struct tcp_conn *c, const struct iovec *parts, int count, size_t taken)
{
    for (int i = 0; i < count; i++) {
        size_t len = parts[i].iov_len;
        size_t skip = taken < len ? taken : len;
        taken -= skip;
        if (skip < len)
            append_out(c, (const uint8_t *)parts[i].iov_base + skip, len - skip);
    }
    update_events(c);
}

int tcp_conn_write_packet(struct tcp_conn *c, const struct iovec *parts, int count)
{
    if (c->closed)
        return ERR_CLOSED;
    if (c->out_len || c->connecting)
        return ERR_AGAIN;
    ssize_t n = write_parts(c, parts, count, 0);
    if (n < 0)
        return (int)n;
    keep_rest(c, parts, count, (size_t)n);
    return 0;
}

int tcp_conn_write_packets(struct tcp_conn *c, const struct iovec *parts, int count,
                           bool ends_segment)
{
    if (c->closed)
        return ERR_CLOSED;
    if (c->out_len - c->out_at > TCP_CONN_OUT_BYTES)
        return ERR_FULL;
    bool waits = c->out_len || c->connecting;
    int flags = ends_segment ? MSG_EOR : 0;
    ssize_t n = waits ? ERR_AGAIN : write_parts(c, parts, count, flags);
    if (n == ERR_CLOSED)
        return ERR_CLOSED;
    keep_rest(c, parts, count, n > 0 ? (size_t)n : 0);
    return 0;
}

void tcp_conn_finish(struct tcp_conn *c, usec_t now)
{
    if (c->closed || c->finishing)
        return;
    c->finishing = true;
    c->want_room = c->held = false;
    if (flush(c, now))
        update_events(c);
}

void tcp_conn_hold(struct tcp_conn *c)
{
    c->held = true;
    update_events(c);
}

void tcp_conn_resume(struct tcp_conn *c, usec_t now)
{
    if (c->closed || !c->held)
        return;
    c->held = false;
    update_events(c);
    deliver(c, now);
}

void tcp_conn_want_room(struct tcp_conn *c, bool want)
{
    c->want_room = want;
    update_events(c);
}

bool tcp_conn_has_backlog(const struct tcp_conn *c)
{
    return c->out_len > 0;
}

void tcp_conn_set_owner(struct tcp_conn *c, const struct tcp_conn_ops *ops, void *ctx)
{
    c->ops = ops;
    c->ctx = ctx;
}

int tcp_conn_fd(const struct tcp_conn *c)
{
    return c->fd;
}

const struct sockaddr_storage *tcp_conn_peer(const struct tcp_conn *c)
{
    return &c->peer;
}

const struct sockaddr_storage *tcp_conn_local(const struct tcp_conn *c)
{
    return &c->local;
}
