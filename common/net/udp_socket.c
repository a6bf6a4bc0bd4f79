// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/udp_socket.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/ip_literal.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/receive_batch.h"

_Static_assert(CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(int)) <=
                   RECEIVE_BATCH_CONTROL,
               "room for the arrival time and the traffic class");

enum {
    BATCH = RECEIVE_BATCH_MAX,
    DATAGRAM_BYTES = 2048,    // a longer one is cut, and then does not parse
    RECEIVE_BUFFER = 2 << 20, // bytes; a key frame of 4K arrives in one burst
    HELD_BUFFER = 32 << 10,   // the kernel takes twice as much, its own records included
    PORT_TRIES = 64,
    ECN_MASK = 3,      // ECN bits of the traffic class (RFC 3168, 5)
    GSO_BYTES = 65000, // max bytes of a run; with IP and UDP headers below 64 KiB
};

struct udp_socket {
    uv_poll_t poll;
    int fd;
    int port;
    bool v6;
    bool no_gso; // true if the kernel or the device does not support GSO
    udp_fn *fn;  // NULL after udp_socket_free()
    void *ctx;   // borrowed
    bool receiving;
    udp_idle_fn *idle; // NULL: no callback
    void *idle_ctx;    // borrowed
};

// The kernel stamps arrivals with the wall clock. Converts a stamp to monotonic time by its age at
// this wake-up.
static usec_t arrival_time(const struct cmsghdr *c, usec_t now, usec_t wall)
{
    struct timespec t;
    memcpy(&t, CMSG_DATA(c), sizeof(t));
    usec_t age = wall - ((usec_t)t.tv_sec * USEC_PER_SEC + t.tv_nsec / 1000);
    return age >= 0 && age < USEC_PER_SEC ? now - age : now;
}

static void read_control(struct msghdr *msg, struct datagram *d, usec_t now, usec_t wall)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
            d->arrived = arrival_time(c, now, wall);
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
            d->ecn = *CMSG_DATA(c) & ECN_MASK;
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
            int class;
            memcpy(&class, CMSG_DATA(c), sizeof(class));
            d->ecn = (uint8_t)(class & ECN_MASK);
        }
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct udp_socket *u = poll->data;
    uint8_t buffers[BATCH][DATAGRAM_BYTES]; // on the stack, so all sockets of the thread share them
    struct receive_batch b;
    int n = receive_batch_read(&b, u->fd, buffers[0], DATAGRAM_BYTES, BATCH);
    if (n <= 0)
        return; // nothing received, or an ICMP error about an earlier datagram, which is ignored
    // Wall clock first: a delay between the two reads makes packets seem younger and no round trip
    // shorter.
    usec_t wall = clock_wall();
    usec_t now = clock_now();
    u->receiving = true;
    for (int i = 0; i < n && u->fn; i++) {
        struct datagram d = {
            .data = buffers[i], .len = b.messages[i].msg_len, .from = &b.from[i], .arrived = now};
        read_control(&b.messages[i].msg_hdr, &d, now, wall);
        u->fn(u->ctx, &d, now);
    }
    u->receiving = false;
    if (u->fn && u->idle)
        u->idle(u->idle_ctx, now);
}

void udp_socket_set_idle(struct udp_socket *u, udp_idle_fn *idle, void *ctx)
{
    u->idle = idle;
    u->idle_ctx = ctx;
}

bool udp_socket_is_receiving(const struct udp_socket *u)
{
    return u->receiving;
}

static void set_receive_buffer(const struct udp_socket *u, int bytes)
{
    setsockopt(u->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

// `shares`: other sockets may have the same port.
static struct udp_socket *open_socket(uv_loop_t *loop, const struct sockaddr *local, bool shares,
                                      udp_fn *fn, void *ctx)
{
    int one = 1;
    struct udp_socket *u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->fn = fn;
    u->ctx = ctx;
    u->v6 = local->sa_family == AF_INET6;
    u->fd = socket(local->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (shares)
        setsockopt(u->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (u->fd < 0 || bind(u->fd, local, sockaddr_len(local)) != 0) {
        log_debug("cannot bind a UDP port: %s", strerror(errno));
        goto close_fd;
    }
    setsockopt(u->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
    set_receive_buffer(u, RECEIVE_BUFFER);
    if (u->v6)
        setsockopt(u->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &one, sizeof(one));
    // An IPv6 socket on a mapped address (::ffff:a.b.c.d) carries IPv4, with the options of IPv4.
    setsockopt(u->fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one));
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    getsockname(u->fd, (struct sockaddr *)&bound, &len);
    u->port = sockaddr_port((struct sockaddr *)&bound);
    if (uv_poll_init(loop, &u->poll, u->fd) != 0)
        goto close_fd;
    u->poll.data = u;
    uv_poll_start(&u->poll, UV_READABLE, on_readable);
    return u;

close_fd:;
    int error = errno;
    if (u->fd >= 0)
        close(u->fd);
    free(u);
    errno = error;
    return NULL;
}

struct udp_socket *udp_socket_new(uv_loop_t *loop, const struct sockaddr *local, udp_fn *fn,
                                  void *ctx)
{
    return open_socket(loop, local, false, fn, ctx);
}

// Returns the index of the interface that has the address; 0: none.
static unsigned interface_of(const struct sockaddr *local)
{
    struct ifaddrs *all;
    unsigned index = 0;
    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *i = all; i && !index; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == local->sa_family &&
            sockaddr_same_host(i->ifa_addr, local))
            index = if_nametoindex(i->ifa_name);
    freeifaddrs(all);
    return index;
}

struct udp_socket *udp_socket_join(uv_loop_t *loop, const struct sockaddr *group,
                                   const struct sockaddr *source, const struct sockaddr *local,
                                   udp_fn *fn, void *ctx)
{
    bool v6 = group->sa_family == AF_INET6;
    struct group_source_req join = {.gsr_interface = interface_of(local)};
    memcpy(&join.gsr_group, group, sockaddr_len(group));
    memcpy(&join.gsr_source, source, sockaddr_len(source));
    if (v6)
        ((struct sockaddr_in6 *)&join.gsr_group)->sin6_scope_id = join.gsr_interface;
    // Bound to the group, it gets nothing that is sent to the same port otherwise.
    struct udp_socket *u =
        open_socket(loop, (const struct sockaddr *)&join.gsr_group, true, fn, ctx);
    if (u && setsockopt(u->fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, &join,
                        sizeof(join)) == 0)
        return u;
    char text[SOCKADDR_TEXT];
    int error = errno;
    sockaddr_text(group, text, sizeof(text));
    log_error("cannot join the multicast group %s: %s", text, strerror(error));
    udp_socket_free(u);
    return NULL;
}

static bool is_out_of_files(int error)
{
    return error == EMFILE || error == ENFILE;
}

int udp_socket_pair(uv_loop_t *loop, const struct sockaddr *local, udp_fn *rtp, udp_fn *rtcp,
                    void *ctx, struct udp_socket *out[2])
{
    struct sockaddr_storage at = {0};
    memcpy(&at, local, sockaddr_len(local));
    bool no_files = false;
    for (int i = 0; i < PORT_TRIES && !no_files; i++) {
        // Lets the kernel choose a port; keeps it if it is even and the next port is free.
        sockaddr_set_port((struct sockaddr *)&at, 0);
        out[0] = udp_socket_new(loop, (struct sockaddr *)&at, rtp, ctx);
        if (!out[0]) {
            no_files = is_out_of_files(errno);
            break;
        }
        if (out[0]->port % 2 == 0) {
            sockaddr_set_port((struct sockaddr *)&at, out[0]->port + 1);
            out[1] = udp_socket_new(loop, (struct sockaddr *)&at, rtcp, ctx);
            if (out[1])
                return 0;
            no_files = is_out_of_files(errno);
        }
        udp_socket_free(out[0]);
    }
    out[0] = out[1] = NULL;
    log_error("no pair of free UDP ports on this machine%s",
              no_files ? ": too many files are open; raise the limit with ulimit -n" : "");
    return ERR_IO;
}

int udp_socket_bind_to(struct udp_socket *u, const char *interface)
{
    socklen_t len = (socklen_t)strlen(interface);
    return setsockopt(u->fd, SOL_SOCKET, SO_BINDTODEVICE, interface, len) == 0 ? 0 : ERR_IO;
}

static void on_closed(uv_handle_t *handle)
{
    struct udp_socket *u = handle->data;
    close(u->fd);
    free(u);
}

void udp_socket_hold(struct udp_socket *u, bool hold)
{
    set_receive_buffer(u, hold ? HELD_BUFFER : RECEIVE_BUFFER);
    if (hold)
        uv_poll_stop(&u->poll);
    else
        uv_poll_start(&u->poll, UV_READABLE, on_readable);
}

void udp_socket_free(struct udp_socket *u)
{
    if (!u)
        return;
    u->fn = NULL;
    uv_close((uv_handle_t *)&u->poll, on_closed);
}

int udp_socket_port(const struct udp_socket *u)
{
    return u->port;
}

int udp_socket_send(struct udp_socket *u, const struct sockaddr *to, const struct iovec *parts,
                    int count)
{
    struct msghdr msg = {.msg_namelen = sockaddr_len(to), .msg_iovlen = (size_t)count};
    // sendmsg does not write through these pointers.
    msg.msg_name = (struct sockaddr *)(uintptr_t)to;
    msg.msg_iov = (struct iovec *)(uintptr_t)parts;
    for (int tries = 0; tries < 2; tries++) {
        if (sendmsg(u->fd, &msg, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)
            return ERR_AGAIN;
        // An ICMP error about an earlier datagram is reported once, at the next call, so the loop
        // tries again.
    }
    return ERR_IO;
}

void udp_socket_set_ecn(struct udp_socket *u, uint8_t ecn)
{
    int class = ecn;
    if (u->v6)
        setsockopt(u->fd, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof(class));
    setsockopt(u->fd, IPPROTO_IP, IP_TOS, &class, sizeof(class));
}

static size_t datagram_bytes(const struct iovec *parts, int each)
{
    return parts[0].iov_len + (each > 1 ? parts[1].iov_len : 0);
}

// Returns how many datagrams, from the first on, can be sent as one buffer: all of one size, except
// that the last may be shorter.
static int run_length(const struct iovec *parts, int each, int count)
{
    size_t first = datagram_bytes(parts, each);
    size_t bytes = first;
    for (int n = 1; n < count; n++) {
        size_t next = datagram_bytes(parts + n * each, each);
        if (next > first || bytes + next > GSO_BYTES)
            return n;
        bytes += next;
        if (next < first)
            return n + 1;
    }
    return count;
}

// UDP GSO (Linux 4.18): the kernel splits the run into datagrams of the first one's size.
static bool send_run(struct udp_socket *u, const struct sockaddr *to, const struct iovec *run,
                     int each, int count)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))] = {0};
    struct msghdr msg = {.msg_namelen = sockaddr_len(to),
                         .msg_iovlen = (size_t)(each * count),
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    msg.msg_name = (struct sockaddr *)(uintptr_t)to;
    msg.msg_iov = (struct iovec *)(uintptr_t)run;
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    uint16_t size = (uint16_t)datagram_bytes(run, each);
    memcpy(CMSG_DATA(c), &size, sizeof(size));
    if (sendmsg(u->fd, &msg, MSG_NOSIGNAL) >= 0)
        return true;
    // EIO: the device cannot compute checksums; EINVAL, ENOPROTOOPT: the kernel does not support
    // GSO; EMSGSIZE: a datagram exceeds the path's MTU, and only single datagrams may be
    // fragmented.
    u->no_gso |= errno == EIO || errno == EINVAL || errno == ENOPROTOOPT || errno == EMSGSIZE;
    return false;
}

static int send_singly(struct udp_socket *u, const struct sockaddr *to, const struct iovec *parts,
                       int each, int count)
{
    struct mmsghdr messages[UDP_SOCKET_BATCH] = {0};
    for (int i = 0; i < count; i++) {
        messages[i].msg_hdr.msg_namelen = sockaddr_len(to);
        messages[i].msg_hdr.msg_name = (struct sockaddr *)(uintptr_t)to;
        messages[i].msg_hdr.msg_iov = (struct iovec *)(uintptr_t)&parts[i * each];
        messages[i].msg_hdr.msg_iovlen = (size_t)each;
    }
    int done = 0;
    for (int failures = 0; done < count && failures < 2;) {
        int n = sendmmsg(u->fd, messages + done, (unsigned)(count - done), MSG_NOSIGNAL);
        if (n > 0)
            done += n;
        else // an ICMP error about an earlier datagram is reported once, so it tries again
            failures++;
    }
    return done;
}

int udp_socket_send_batch(struct udp_socket *u, const struct sockaddr *to,
                          const struct iovec *parts, int each, int count)
{
    assert(count <= UDP_SOCKET_BATCH && (each == 1 || each == 2));
    if (u->no_gso)
        return send_singly(u, to, parts, each, count);
    int taken = 0;
    for (int at = 0, n; at < count; at += n) {
        const struct iovec *run = parts + at * each;
        n = run_length(run, each, count - at);
        if (n > 1 && !u->no_gso && send_run(u, to, run, each, n))
            taken += n;
        else
            taken += send_singly(u, to, run, each, n);
    }
    return taken;
}

// Only a connected socket knows its route.
int udp_socket_route_mtu(const struct sockaddr *to)
{
    int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    int mtu = 0;
    socklen_t len = sizeof(mtu);
    bool is_ipv6 = to->sa_family == AF_INET6;
    if (connect(fd, to, sockaddr_len(to)) != 0 ||
        getsockopt(fd, is_ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, is_ipv6 ? IPV6_MTU : IP_MTU, &mtu,
                   &len) != 0)
        mtu = 0;
    close(fd);
    return mtu;
}

socklen_t sockaddr_len(const struct sockaddr *a)
{
    return a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static struct sockaddr_in *v4(const struct sockaddr *a)
{
    return (struct sockaddr_in *)(uintptr_t)a;
}

static struct sockaddr_in6 *v6(const struct sockaddr *a)
{
    return (struct sockaddr_in6 *)(uintptr_t)a;
}

void sockaddr_set_port(struct sockaddr *a, int port)
{
    if (a->sa_family == AF_INET6)
        v6(a)->sin6_port = htons((uint16_t)port);
    else
        v4(a)->sin_port = htons((uint16_t)port);
}

int sockaddr_port(const struct sockaddr *a)
{
    return ntohs(a->sa_family == AF_INET6 ? v6(a)->sin6_port : v4(a)->sin_port);
}

void sockaddr_clear_host(struct sockaddr *a)
{
    if (a->sa_family == AF_INET6) {
        v6(a)->sin6_addr = in6addr_any;
        v6(a)->sin6_scope_id = 0;
    } else {
        v4(a)->sin_addr.s_addr = htonl(INADDR_ANY);
    }
}

bool sockaddr_is_loopback(const struct sockaddr *a)
{
    if (a->sa_family != AF_INET6)
        return a->sa_family == AF_INET && ntohl(v4(a)->sin_addr.s_addr) >> 24 == 127;
    const struct in6_addr *in = &v6(a)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(in) || (IN6_IS_ADDR_V4MAPPED(in) && in->s6_addr[12] == 127);
}

bool sockaddr_is_multicast(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)a)->sin6_addr.s6_addr[0] == 0xff;
    return a->sa_family == AF_INET &&
           IN_MULTICAST(ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr));
}

bool sockaddr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET6)
        return memcmp(&v6(a)->sin6_addr, &v6(b)->sin6_addr, sizeof(struct in6_addr)) == 0 &&
               v6(a)->sin6_scope_id == v6(b)->sin6_scope_id;
    return v4(a)->sin_addr.s_addr == v4(b)->sin_addr.s_addr;
}

// Parses "fe80::1%eth0", without brackets.
static int parse_v6(const char *text, size_t len, struct sockaddr_in6 *out, const char **reason)
{
    struct ip_literal literal;
    if (ip_literal_read(text, len, &literal, reason) != 0)
        return ERR_MALFORMED;
    if (inet_pton(AF_INET6, literal.address, &out->sin6_addr) != 1) {
        *reason = NULL;
        return ERR_MALFORMED;
    }
    out->sin6_family = AF_INET6;
    if (!literal.zone[0])
        return 0;
    char *end;
    unsigned long number = strtoul(literal.zone, &end, 10);
    out->sin6_scope_id = if_nametoindex(literal.zone);
    if (!out->sin6_scope_id && !*end && number <= UINT32_MAX)
        out->sin6_scope_id = (uint32_t)number;
    *reason = "there is no such network interface (ip link lists them)";
    return out->sin6_scope_id ? 0 : ERR_MALFORMED;
}

int sockaddr_read(const char *text, struct sockaddr_storage *out, const char **reason)
{
    memset(out, 0, sizeof(*out));
    *reason = NULL;
    char host[128];
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon - text >= (long)sizeof(host))
        return ERR_MALFORMED;
    char *end;
    long port = strtol(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535)
        return ERR_MALFORMED;
    size_t len = (size_t)(colon - text);
    struct sockaddr *a = (struct sockaddr *)out;
    if (text[0] == '[' && text[len - 1] == ']') {
        if (parse_v6(text + 1, len - 2, v6(a), reason) != 0)
            return ERR_MALFORMED;
    } else {
        memcpy(host, text, len);
        host[len] = '\0';
        if (inet_pton(AF_INET, host, &v4(a)->sin_addr) != 1)
            return ERR_MALFORMED;
        a->sa_family = AF_INET;
    }
    sockaddr_set_port(a, (int)port);
    return 0;
}

int sockaddr_parse(const char *text, struct sockaddr_storage *out)
{
    const char *reason;
    return sockaddr_read(text, out, &reason);
}

static void write_text(const struct sockaddr *a, const char *percent, char *out, size_t cap)
{
    char host[INET6_ADDRSTRLEN] = "?";
    char zone[IF_NAMESIZE] = "";
    if (a->sa_family != AF_INET6) {
        inet_ntop(AF_INET, &v4(a)->sin_addr, host, sizeof(host));
        snprintf(out, cap, "%s:%d", host, sockaddr_port(a));
        return;
    }
    inet_ntop(AF_INET6, &v6(a)->sin6_addr, host, sizeof(host));
    uint32_t scope = v6(a)->sin6_scope_id;
    if (scope && !if_indextoname(scope, zone)) // the interface has disappeared
        snprintf(zone, sizeof(zone), "%u", scope);
    snprintf(out, cap, "[%s%s%s]:%d", host, scope ? percent : "", zone, sockaddr_port(a));
}

void sockaddr_text(const struct sockaddr *a, char *out, size_t cap)
{
    write_text(a, "%", out, cap);
}

void sockaddr_url_text(const struct sockaddr *a, char *out, size_t cap)
{
    write_text(a, "%25", out, cap);
}
