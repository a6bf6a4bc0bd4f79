// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/raw_tcp.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/receive_batch.h"
#include "common/net/udp_socket.h"

enum {
    RECEIVE_BATCH = 16,
    RECEIVE_BYTES = 65536, // large enough for segments that the kernel merged
    BUFFER = 4 << 20,      // bytes; the kernel grants what rmem_max allows
    SHIELD_TTL = 255,
    ECN_MASK = 3, // of the traffic class (RFC 3168, 5)
    ROUNDS = 8,   // max receive calls before other work on the loop gets its turn
};

_Static_assert(CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(int)) <=
                   RECEIVE_BATCH_CONTROL,
               "room for the address that a packet was sent to, and its traffic class");

struct raw_tcp {
    uv_poll_t poll;
    int fd;     // the raw socket
    int shield; // the listening socket
    bool v6;
    int port;
    raw_tcp_fn *fn; // NULL after raw_tcp_free()
    raw_tcp_idle_fn *idle;
    void *ctx;      // borrowed
    bool receiving; // true while receiving: a flush follows
    struct raw_tcp_counts counts;
    int queued;
    int lengths[RAW_TCP_BATCH];
    struct sockaddr_storage to[RAW_TCP_BATCH];
    uint8_t packets[RAW_TCP_BATCH][RAW_TCP_PACKET];
    uint8_t received[RECEIVE_BATCH][RECEIVE_BYTES];
};

// The min TTL must be set before the socket listens: from then on the kernel answers segments.
static int open_shield(const struct sockaddr *local, int *port)
{
    int fd = socket(local->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool v6 = local->sa_family == AF_INET6;
    int ttl = SHIELD_TTL;
    int one = 1;
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    if ((v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) != 0) ||
        setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MINHOPCOUNT : IP_MINTTL, &ttl,
                   sizeof(ttl)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, local, sockaddr_len(local)) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&bound, &len) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    *port = sockaddr_port((struct sockaddr *)&bound);
    return fd;
}

// Classic BPF. The filter of an IPv4 raw socket sees the IP header first, that of an IPv6 one the
// TCP header.
static int attach_filter(int fd, bool v6, int port)
{
    struct sock_filter v4_code[] = {
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), // X: length of the IP header
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),  // loads the destination port
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)port, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_filter v6_code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)port, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog program = {sizeof(v4_code) / sizeof(v4_code[0]), v4_code};
    if (v6)
        program = (struct sock_fprog){sizeof(v6_code) / sizeof(v6_code[0]), v6_code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static int open_raw(const struct sockaddr *local, int port)
{
    bool v6 = local->sa_family == AF_INET6;
    struct sockaddr_storage at = {0};
    memcpy(&at, local, sockaddr_len(local));
    sockaddr_set_port((struct sockaddr *)&at, 0); // IPv6 interprets the port as a protocol
    int fd = socket(local->sa_family, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0)
        return -1;
    int one = 1;
    int bytes = BUFFER;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    if (attach_filter(fd, v6, port) != 0 ||
        setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_HDRINCL : IP_HDRINCL, &one,
                   sizeof(one)) != 0 ||
        (v6 && (setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one)) != 0 ||
                setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &one, sizeof(one)) != 0)) ||
        bind(fd, (struct sockaddr *)&at, sockaddr_len(local)) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

// An IPv6 raw socket returns the data after the IP header; the addresses and the traffic class come
// as control data.
static struct tcp_path path_beside(struct msghdr *msg, uint8_t *ecn)
{
    struct tcp_path path = {.v6 = true};
    struct sockaddr_in6 from;
    memcpy(&from, msg->msg_name, sizeof(from));
    memcpy(path.source.address, &from.sin6_addr, 16);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
            int class;
            memcpy(&class, CMSG_DATA(c), sizeof(class));
            *ecn = (uint8_t)(class & ECN_MASK);
        }
        if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_PKTINFO)
            continue;
        struct in6_pktinfo info;
        memcpy(&info, CMSG_DATA(c), sizeof(info));
        memcpy(path.destination.address, &info.ipi6_addr, 16);
    }
    return path;
}

static void take(struct raw_tcp *r, struct mmsghdr *m, usec_t now)
{
    const uint8_t *bytes = m->msg_hdr.msg_iov->iov_base;
    struct tcp_segment s;
    int result;
    if (r->v6) {
        uint8_t ecn = 0;
        struct tcp_path path = path_beside(&m->msg_hdr, &ecn);
        result = tcp_segment_parse(&path, bytes, m->msg_len, &s);
        s.ecn = ecn;
    } else {
        result = tcp_segment_parse_ipv4(bytes, m->msg_len, &s);
    }
    if (result == 0 && s.path.destination.port == r->port && s.sum != TCP_SUM_BAD)
        r->fn(r->ctx, &s, now);
}

static int receive(struct raw_tcp *r, usec_t now)
{
    struct receive_batch b;
    int n = receive_batch_read(&b, r->fd, r->received[0], RECEIVE_BYTES, RECEIVE_BATCH);
    for (int i = 0; i < n && r->fn; i++)
        take(r, &b.messages[i], now);
    return n;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct raw_tcp *r = poll->data;
    usec_t now = clock_now();
    r->receiving = true;
    for (int i = 0; i < ROUNDS && r->fn; i++)
        if (receive(r, now) < RECEIVE_BATCH)
            break;
    if (r->fn)
        r->idle(r->ctx, now);
    r->receiving = false;
    if (r->fn)
        raw_tcp_flush(r);
}

static void send_queued(struct raw_tcp *r)
{
    struct mmsghdr messages[RAW_TCP_BATCH] = {0};
    struct iovec parts[RAW_TCP_BATCH];
    for (int i = 0; i < r->queued; i++) {
        parts[i] = (struct iovec){r->packets[i], (size_t)r->lengths[i]};
        messages[i].msg_hdr.msg_name = &r->to[i];
        messages[i].msg_hdr.msg_namelen = sockaddr_len((struct sockaddr *)&r->to[i]);
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (int done = 0; done < r->queued;) {
        int n = sendmmsg(r->fd, messages + done, (unsigned)(r->queued - done), MSG_NOSIGNAL);
        r->counts.calls++;
        if (n > 0) {
            done += n;
        } else { // counts as a loss on the path: MTP continues with new data
            done++;
            r->counts.unsent++;
        }
    }
    r->queued = 0;
}

int raw_tcp_open(uv_loop_t *loop, const struct sockaddr *local, raw_tcp_fn *fn,
                 raw_tcp_idle_fn *idle, void *ctx, struct raw_tcp **out)
{
    struct raw_tcp *r = calloc(1, sizeof(*r));
    if (!r)
        return ERR_IO;
    int result = ERR_IO;
    r->fn = fn;
    r->idle = idle;
    r->ctx = ctx;
    r->v6 = local->sa_family == AF_INET6;
    r->shield = open_shield(local, &r->port);
    if (r->shield < 0) {
        const char *why = strerror(errno);
        const char *remedy = errno == EACCES ? " (below 1024 it takes CAP_NET_BIND_SERVICE)" : "";
        char text[SOCKADDR_TEXT];
        sockaddr_text(local, text, sizeof(text));
        log_error("cannot listen on %s for mtp-raw: %s%s", text, why, remedy);
        goto free_it;
    }
    r->fd = open_raw(local, r->port);
    if (r->fd < 0 && (errno == EPERM || errno == EACCES)) {
        log_error(RAW_TCP_REMEDY);
        result = ERR_UNSUPPORTED;
        goto close_shield;
    }
    if (r->fd < 0) {
        log_error("cannot open a raw TCP socket: %s", strerror(errno));
        goto close_shield;
    }
    if (uv_poll_init(loop, &r->poll, r->fd) != 0)
        goto close_raw;
    r->poll.data = r;
    uv_poll_start(&r->poll, UV_READABLE, on_readable);
    *out = r;
    return 0;

close_raw:
    close(r->fd);
close_shield:
    close(r->shield);
free_it:
    free(r);
    return result;
}

static void on_closed(uv_handle_t *handle)
{
    struct raw_tcp *r = handle->data;
    close(r->fd);
    close(r->shield);
    free(r);
}

void raw_tcp_free(struct raw_tcp *r)
{
    if (!r)
        return;
    send_queued(r);
    r->fn = NULL;
    uv_close((uv_handle_t *)&r->poll, on_closed);
}

int raw_tcp_port(const struct raw_tcp *r)
{
    return r->port;
}

struct raw_tcp_counts raw_tcp_counts_of(const struct raw_tcp *r)
{
    return r->counts;
}

void raw_tcp_send(struct raw_tcp *r, const struct tcp_segment *s)
{
    assert(s->path.v6 == r->v6);
    if (r->queued == RAW_TCP_BATCH)
        send_queued(r);
    int len = tcp_segment_build(s, r->packets[r->queued], RAW_TCP_PACKET);
    assert(len > 0);
    struct sockaddr_storage *to = &r->to[r->queued];
    if (r->v6) {
        struct sockaddr_in6 a = {.sin6_family = AF_INET6};
        memcpy(&a.sin6_addr, s->path.destination.address, 16);
        memcpy(to, &a, sizeof(a));
    } else {
        struct sockaddr_in a = {.sin_family = AF_INET};
        memcpy(&a.sin_addr, s->path.destination.address, 4);
        memcpy(to, &a, sizeof(a));
    }
    r->lengths[r->queued++] = len;
}

void raw_tcp_flush(struct raw_tcp *r)
{
    if (!r->receiving)
        send_queued(r);
}

static struct tcp_endpoint endpoint(const struct sockaddr *a)
{
    struct tcp_endpoint e = {.port = (uint16_t)sockaddr_port(a)};
    if (a->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, a, sizeof(v6));
        memcpy(e.address, &v6.sin6_addr, 16);
    } else {
        struct sockaddr_in v4;
        memcpy(&v4, a, sizeof(v4));
        memcpy(e.address, &v4.sin_addr, 4);
    }
    return e;
}

struct tcp_path raw_tcp_path(const struct sockaddr *local, const struct sockaddr *remote)
{
    assert(local->sa_family == remote->sa_family);
    struct tcp_path path = {local->sa_family == AF_INET6, endpoint(local), endpoint(remote)};
    return path;
}
