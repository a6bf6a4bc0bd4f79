// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tcp_conn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/bytes_out.h"
#include "common/net/clock.h"
#include "common/net/tcp_filter.h"
#include "common/net/tcp_info.h"
#include "common/net/udp_socket.h"

enum { WIRE_BYTES = 16 * 1024 };   // read at once for a filter
enum { RECORD_BYTES = 16 * 1024 }; // of a TLS record (RFC 8446, 5.1)

// Packets may leave 2 * TCP_CONN_OUT_BYTES waiting: one batch begins below the bound.
enum { FILTER_OUT_BYTES = 4 * TCP_CONN_OUT_BYTES };

struct tcp_conn {
    uv_poll_t *poll; // owned; freed by the loop
    int fd;
    const struct tcp_conn_ops *ops; // static
    void *ctx;                      // borrowed
    bool connecting;
    bool closed; // true from the call of on_close
    bool freed;  // true from the call of tcp_conn_free()
    bool want_room;
    bool want_acks;
    bool finishing;
    int corks;  // of tcp_conn_cork, that are on
    bool held;  // true while input waits for tcp_conn_resume()
    int events; // events that the poll watches
    struct sockaddr_storage peer;
    struct sockaddr_storage local;
    size_t in_cap;
    size_t in_len;
    uint8_t *in;          // owned, in_cap bytes
    size_t out_at;        // bytes of `out` already written
    struct bytes_out out; // empty while nothing waits, which is the usual case
    // Owned; the first is next to the network. Those from `translated` on were pushed inside
    // on_input, and have not seen the input that on_input left.
    struct tcp_filter *filters[TCP_CONN_FILTERS];
    int filter_count;
    int translated;
    bool delivering;        // inside on_input
    int ended;              // a filter's error, reported after what it decoded; 0: none
    struct bytes_out plain; // decoded, and not in `in` yet: `in` was full, or is held
    struct bytes_out early; // control bytes that wait for the end of a handshake
};

static void on_event(uv_poll_t *poll, int status, int events);

static bool is_ready(const struct tcp_conn *c)
{
    for (int i = 0; i < c->filter_count; i++) {
        const struct tcp_filter *f = c->filters[i];
        if (f->ops->ready && !f->ops->ready(f))
            return false;
    }
    return true;
}

static void update_events(struct tcp_conn *c)
{
    if (c->closed)
        return;
    int events = c->connecting ? UV_WRITABLE : c->held || c->ended ? 0 : UV_READABLE;
    if ((c->want_room && is_ready(c)) || c->out.len)
        events |= UV_WRITABLE;
    if (events == c->events)
        return;
    c->events = events;
    uv_poll_start(c->poll, events, on_event);
}

static void close_with(struct tcp_conn *c, int err, usec_t now)
{
    if (c->closed)
        return;
    c->closed = true;
    uv_poll_stop(c->poll);
    c->ops->on_close(c->ctx, err, now);
}

static void learn_addresses(struct tcp_conn *c)
{
    socklen_t len = sizeof(c->peer);
    getpeername(c->fd, (struct sockaddr *)&c->peer, &len);
    len = sizeof(c->local);
    getsockname(c->fd, (struct sockaddr *)&c->local, &len);
}

// Sends what waits, until the kernel takes no more. Returns 0; ERR_IO: the connection failed.
static int drain(struct tcp_conn *c, int flags)
{
    while (c->out_at < c->out.len && !c->connecting) {
        ssize_t n =
            send(c->fd, c->out.data + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL | flags);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR ? 0 : ERR_IO;
        c->out_at += (size_t)n;
    }
    if (c->out_at < c->out.len)
        return 0;
    bytes_out_free(&c->out);
    c->out_at = 0;
    return 0;
}

static void fail(struct tcp_conn *c)
{
    log_error("a connection is closed: out of memory");
    shutdown(c->fd, SHUT_RDWR); // on_close follows from the loop
}

// Bytes that were sent leave the buffer once they are most of it.
static void compact_out(struct tcp_conn *c)
{
    if (c->out_at <= c->out.len / 2)
        return;
    bytes_out_drop(&c->out, c->out_at);
    c->out_at = 0;
}

// Appends bytes to those that wait. The caller checked that they are within the bound.
static void append_out(struct tcp_conn *c, const void *data, size_t len)
{
    compact_out(c);
    if (bytes_out_add(&c->out, data, len) != 0)
        fail(c);
}

// Passes the parts through the filters below `level` to those bytes that wait for the kernel.
static int encode_below(struct tcp_conn *c, int level, const struct iovec *parts, int count)
{
    if (level == 0) {
        for (int i = 0; i < count; i++)
            append_out(c, parts[i].iov_base, parts[i].iov_len);
        return 0;
    }
    struct tcp_filter *f = c->filters[level - 1];
    if (level == 1) {
        compact_out(c);
        return f->ops->encode(f, parts, count, &c->out);
    }
    struct bytes_out wire = {0};
    int err = f->ops->encode(f, parts, count, &wire);
    struct iovec below = {wire.data, wire.len};
    if (!err && wire.len)
        err = encode_below(c, level - 1, &below, 1);
    bytes_out_free(&wire);
    return err;
}

// Translates and sends the parts. The caller checked that all handshakes are complete.
static void send_translated(struct tcp_conn *c, const struct iovec *parts, int count, int flags)
{
    if (encode_below(c, c->filter_count, parts, count) != 0)
        fail(c);
    (void)drain(c, flags); // an error shows again at the next event
}

static void send_early(struct tcp_conn *c)
{
    struct iovec all = {c->early.data, c->early.len};
    if (!all.iov_len || !is_ready(c))
        return;
    send_translated(c, &all, 1, MSG_EOR);
    bytes_out_free(&c->early);
}

// Returns the control bytes and rests of packets that wait.
static size_t waiting_bytes(const struct tcp_conn *c)
{
    return c->out.len - c->out_at + c->early.len;
}

// Passes bytes up through the filters from `level` on, to `plain`. Returns 0 or an error.
static int decode_above(struct tcp_conn *c, int level, const uint8_t *data, size_t len)
{
    if (level == c->filter_count)
        return bytes_out_add(&c->plain, data, len);
    struct bytes_out plain = {0};
    struct bytes_out wire = {0};
    struct tcp_filter *f = c->filters[level];
    int err = f->ops->decode(f, data, len, &plain, &wire);
    struct iovec answer = {wire.data, wire.len};
    // A peer that causes answers and does not read them, such as one that only sends pings, is
    // dropped.
    if (wire.len && waiting_bytes(c) + wire.len > FILTER_OUT_BYTES)
        err = err ? err : ERR_FULL;
    else if (wire.len && encode_below(c, level, &answer, 1) == 0)
        (void)drain(c, MSG_EOR);
    int err_above = plain.len ? decode_above(c, level + 1, plain.data, plain.len) : 0;
    bytes_out_free(&plain);
    bytes_out_free(&wire);
    return err ? err : err_above;
}

static void translate(struct tcp_conn *c, int level, const uint8_t *data, size_t len)
{
    int err = c->ended ? 0 : decode_above(c, level, data, len);
    if (err)
        c->ended = err;
    send_early(c);
    update_events(c);
}

// Filters that on_input pushed take the input that it left.
static void translate_rest(struct tcp_conn *c)
{
    int level = c->translated;
    struct bytes_out rest = c->plain;
    c->plain = (struct bytes_out){0};
    c->translated = c->filter_count;
    if (c->in_len)
        translate(c, level, c->in, c->in_len);
    c->in_len = 0;
    if (rest.len)
        translate(c, level, rest.data, rest.len);
    bytes_out_free(&rest);
    update_events(c);
}

// Calls on_input once. Returns false if the connection has ended.
static bool deliver_once(struct tcp_conn *c, usec_t now)
{
    c->delivering = true;
    int used = c->ops->on_input(c->ctx, c->in, c->in_len, now);
    c->delivering = false;
    if (c->closed)
        return false;
    if (used < 0) {
        close_with(c, used, now);
        return false;
    }
    assert((size_t)used <= c->in_len);
    c->in_len -= (size_t)used;
    memmove(c->in, c->in + used, c->in_len);
    if (c->translated < c->filter_count) {
        translate_rest(c);
        return true;
    }
    if (c->in_len == c->in_cap && !c->held) {
        close_with(c, ERR_TOO_BIG, now);
        return false;
    }
    return true;
}

static void take_plain(struct tcp_conn *c)
{
    size_t room = c->in_cap - c->in_len;
    size_t len = c->plain.len < room ? c->plain.len : room;
    if (!len)
        return;
    memcpy(c->in + c->in_len, c->plain.data, len);
    c->in_len += len;
    bytes_out_drop(&c->plain, len);
    if (!c->plain.len)
        bytes_out_free(&c->plain);
}

// Passes the buffered input to the owner. Returns false if the connection has ended.
static bool deliver(struct tcp_conn *c, usec_t now)
{
    bool more = true;
    while (more && !c->finishing) {
        take_plain(c);
        if (!deliver_once(c, now))
            return false;
        more = c->plain.len && !c->held;
    }
    if (c->finishing) {
        c->in_len = 0;
        bytes_out_free(&c->plain);
    }
    if (c->ended && !c->held) {
        close_with(c, c->ended, now);
        return false;
    }
    return true;
}

static void read_some(struct tcp_conn *c, usec_t now)
{
    // Reads at most a few buffers per wake-up, so that a fast peer does not starve the rest of the
    // loop.
    for (int i = 0; i < 4; i++) {
        uint8_t wire[WIRE_BYTES];
        bool filtered = c->filter_count > 0;
        size_t cap = filtered ? sizeof(wire) : c->in_cap - c->in_len;
        ssize_t n = recv(c->fd, filtered ? wire : c->in + c->in_len, cap, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            if (n < 0)
                log_debug("connection failed: %s", strerror(errno));
            close_with(c, n == 0 ? ERR_CLOSED : ERR_IO, now);
            return;
        }
        bool filled = (size_t)n == cap;
        if (!filtered)
            c->in_len += (size_t)n;
        else if (!c->finishing)
            translate(c, 0, wire, (size_t)n);
        bool has_input = !filtered || c->plain.len || c->ended;
        if ((has_input && !deliver(c, now)) || !filled || c->held)
            return;
    }
}

// Writes the waiting bytes. Returns false if the connection failed.
static bool flush(struct tcp_conn *c, usec_t now)
{
    if (drain(c, MSG_EOR) != 0) {
        log_debug("connection failed: %s", strerror(errno));
        close_with(c, ERR_IO, now);
        return false;
    }
    if (c->finishing && !c->out.len)
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

// Takes what is in the error queue. Returns true if it was stamps of acknowledgements, and the
// connection is sound. libuv has stopped the poll: it takes each POLLERR for the descriptor's end.
static bool take_acks(struct tcp_conn *c, usec_t now)
{
    int error = 0;
    socklen_t len = sizeof(error);
    if (!tcp_take_stamps(c->fd))
        return false;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0 || error)
        return false;
    c->events = 0;
    if (c->want_acks && !c->out.len && is_ready(c))
        c->ops->on_room(c->ctx, now);
    update_events(c);
    return true;
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct tcp_conn *c = poll->data;
    usec_t now = clock_now();
    if (c->connecting) {
        finish_connect(c, now);
        return;
    }
    if (status < 0 && take_acks(c, now))
        return;
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
        if (!c->out.len && c->want_room && is_ready(c))
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
    c->poll = malloc(sizeof(*c->poll));
    if (!c->in || !c->poll)
        goto free_in;
    c->fd = fd;
    c->in_cap = in_cap;
    c->ops = ops;
    c->ctx = ctx;
    c->connecting = connecting;
    if (uv_poll_init(loop, c->poll, fd) != 0)
        goto free_in;
    c->poll->data = c;
    int one = 1; // ADUs must leave when they are written, so Nagle is off
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (!connecting)
        learn_addresses(c);
    update_events(c);
    return c;

free_in:
    free(c->poll);
    free(c->in);
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
    bytes_out_free(&c->out);
    bytes_out_free(&c->plain);
    bytes_out_free(&c->early);
    free(c->poll);
    free(c->in);
    free(c);
}

void tcp_conn_free(struct tcp_conn *c)
{
    if (!c || c->freed)
        return;
    c->closed = true;
    c->freed = true;
    for (int i = 0; i < c->filter_count; i++) // what they borrow may end before the loop turns
        c->filters[i]->ops->free(c->filters[i]);
    c->filter_count = 0;
    uv_close((uv_handle_t *)c->poll, on_freed);
}

void tcp_conn_abort(struct tcp_conn *c)
{
    const struct linger at_once = {.l_onoff = 1};
    if (c && !c->freed)
        (void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    tcp_conn_free(c);
}

static int send_through_filters(struct tcp_conn *c, const struct iovec *parts, int count, int flags)
{
    if (is_ready(c)) {
        send_translated(c, parts, count, flags);
    } else {
        for (int i = 0; i < count; i++)
            if (bytes_out_add(&c->early, parts[i].iov_base, parts[i].iov_len) != 0)
                fail(c);
    }
    update_events(c);
    return 0;
}

int tcp_conn_send(struct tcp_conn *c, const void *data, size_t len)
{
    if (c->closed)
        return ERR_CLOSED;
    if (waiting_bytes(c) + len > TCP_CONN_OUT_BYTES)
        return ERR_FULL;
    if (c->filter_count) {
        struct iovec part = {(void *)(uintptr_t)data, len}; // filters do not write through it
        return send_through_filters(c, &part, 1, MSG_EOR);
    }
    size_t sent = 0;
    if (!c->out.len && !c->connecting) {
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
    if (c->out.len || c->connecting || c->early.len || !is_ready(c))
        return ERR_AGAIN;
    if (c->filter_count)
        return send_through_filters(c, parts, count, 0);
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
    if (waiting_bytes(c) > TCP_CONN_OUT_BYTES)
        return ERR_FULL;
    int flags = ends_segment ? MSG_EOR : 0;
    if (c->filter_count)
        return send_through_filters(c, parts, count, flags);
    bool waits = c->out.len || c->connecting;
    ssize_t n = waits ? ERR_AGAIN : write_parts(c, parts, count, flags);
    if (n == ERR_CLOSED)
        return ERR_CLOSED;
    keep_rest(c, parts, count, n > 0 ? (size_t)n : 0);
    return 0;
}

ssize_t tcp_conn_write_some(struct tcp_conn *c, const struct iovec *parts, int count)
{
    if (c->closed)
        return ERR_CLOSED;
    if (c->out.len || c->connecting || c->early.len || !is_ready(c))
        return 0;
    if (!c->filter_count) {
        ssize_t n = write_parts(c, parts, count, 0);
        return n == ERR_AGAIN ? 0 : n;
    }
    struct iovec some[2];
    size_t taken = 0;
    int used = 0;
    for (; used < count && used < 2 && taken < RECORD_BYTES; used++) {
        some[used] = parts[used];
        if (some[used].iov_len > RECORD_BYTES - taken)
            some[used].iov_len = RECORD_BYTES - taken;
        taken += some[used].iov_len;
    }
    int err = taken ? send_through_filters(c, some, used, 0) : 0;
    return err ? err : (ssize_t)taken;
}

void tcp_conn_cork(struct tcp_conn *c, bool on)
{
    int value = on;
    c->corks += on ? 1 : -1;
    assert(c->corks >= 0);
    bool changes = c->corks == value; // the first one, or the end of the last one
    if (changes && !c->closed)        // an error costs a segment more
        (void)setsockopt(c->fd, IPPROTO_TCP, TCP_CORK, &value, sizeof(value));
}

void tcp_conn_finish(struct tcp_conn *c, usec_t now)
{
    if (c->closed || c->finishing)
        return;
    c->finishing = true;
    c->want_room = c->held = false;
    for (int i = c->filter_count - 1; i >= 0 && is_ready(c); i--) {
        struct tcp_filter *f = c->filters[i];
        struct bytes_out wire = {0};
        if (f->ops->finish)
            f->ops->finish(f, &wire);
        struct iovec end = {wire.data, wire.len};
        if (wire.len && encode_below(c, i, &end, 1) != 0)
            fail(c);
        bytes_out_free(&wire);
    }
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

bool tcp_conn_wants_room(const struct tcp_conn *c)
{
    return c->want_room;
}

int tcp_conn_want_acks(struct tcp_conn *c, bool want)
{
    int err = want != c->want_acks ? tcp_stamp_acks(c->fd, want) : 0;
    c->want_acks = want && !err;
    return err;
}

bool tcp_conn_has_backlog(const struct tcp_conn *c)
{
    return c->out.len > 0 || c->early.len > 0;
}

size_t tcp_conn_unacked(const struct tcp_conn *c)
{
    int kernel = 0;
    if (ioctl(c->fd, SIOCOUTQ, &kernel) != 0 || kernel < 0)
        kernel = 0;
    return c->out.len + c->early.len + (size_t)kernel;
}

int tcp_conn_push_filter(struct tcp_conn *c, struct tcp_filter *f)
{
    if (c->closed || c->filter_count == TCP_CONN_FILTERS) {
        f->ops->free(f);
        return c->closed ? ERR_CLOSED : ERR_FULL;
    }
    assert(c->delivering || (!c->in_len && !c->plain.len));
    int level = c->filter_count;
    c->filters[c->filter_count++] = f;
    if (!c->delivering)
        c->translated = c->filter_count;
    struct bytes_out wire = {0};
    int err = f->ops->start ? f->ops->start(f, &wire) : 0;
    struct iovec first = {wire.data, wire.len};
    if (!err && wire.len)
        err = encode_below(c, level, &first, 1);
    if (err)
        fail(c);
    bytes_out_free(&wire);
    (void)drain(c, MSG_EOR);
    update_events(c);
    return 0;
}

bool tcp_conn_is_secure(const struct tcp_conn *c)
{
    for (int i = 0; i < c->filter_count; i++) {
        const struct tcp_filter *f = c->filters[i];
        if (f->ops->is_secure && (!f->ops->ready || f->ops->ready(f)))
            return true;
    }
    return false;
}

size_t tcp_conn_overhead(const struct tcp_conn *c, size_t bytes)
{
    size_t all = bytes;
    for (int i = c->filter_count - 1; i >= 0; i--)
        all += c->filters[i]->ops->overhead(c->filters[i], all);
    return all - bytes;
}

void tcp_conn_set_owner(struct tcp_conn *c, const struct tcp_conn_ops *ops, void *ctx)
{
    c->ops = ops;
    c->ctx = ctx;
}

void tcp_conn_exchange(struct tcp_conn *a, struct tcp_conn *b)
{
    struct tcp_conn was = *a;
    assert(!a->delivering && !b->delivering && !a->freed && !b->freed && a->in_cap == b->in_cap);
    *a = *b;
    *b = was;
    b->ops = a->ops;
    b->ctx = a->ctx;
    b->want_room = a->want_room;
    tcp_conn_set_owner(a, was.ops, was.ctx);
    a->poll->data = a;
    b->poll->data = b;
    tcp_conn_want_room(b, b->want_room);
    tcp_conn_want_room(a, was.want_room);
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
