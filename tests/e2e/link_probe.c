// SPDX-License-Identifier: GPL-2.0-or-later
// Datagrams that measure a link, for test_link.py and measure_link.py. Results are a line of JSON
// on stdout. A server prints "ready PORT" on stderr when it listens; PORT 0 asks for a free one.
//
//     link_probe echo ADDR PORT                         sends back what comes, until it is killed
//     link_probe ping ADDR PORT COUNT INTERVAL_US       round-trip times of COUNT datagrams, in us
//                                                       without the time that the echo held them
//
// "least" is the shortest round trip between the programs, on CLOCK_MONOTONIC alone: read before a
// datagram is sent and after it is received, so that no wake-up, preemption or setting of the wall
// clock makes it shorter than the link's own. "min" to "max" end at the kernel's receive stamps, so
// that the wake-ups of both programs are no part of them. Those stamps are of the wall clock; each
// is carried over to CLOCK_MONOTONIC when it is read, and is wrong if the wall clock is set
// between.
//
//     link_probe blast ADDR PORT BPS SIZE SECONDS ECN   datagrams of SIZE bytes with their headers
//     link_probe count ADDR PORT FROM TO                what comes, and the rate of what came
//                                                       FROM to TO seconds after the first one
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "common/net/clock.h"

enum { PINGS_MAX = 100 * 1000, DATAGRAM_MAX = 65536, RECEIVE_BUFFER = 4 << 20 };
// How long the last answers are waited for.
static const usec_t PING_WAIT = 10 * USEC_PER_SEC;
// How long the first datagram is waited for, and the next one.
static const usec_t FIRST_WAIT = 30 * USEC_PER_SEC, QUIET = 2 * USEC_PER_SEC;
static const int64_t NSEC_PER_SEC = 1000 * 1000 * 1000;

struct ping { // CLOCK_MONOTONIC, in ns
    int64_t sent;
    int64_t held;       // by the echo program: from its receive call to its send call
    int64_t held_whole; // by the echo's kernel and program: from the receive stamp to the send call
};

struct arrival {     // CLOCK_MONOTONIC, in ns
    int64_t read;    // after the receive call
    int64_t stamped; // by the kernel; equal to `read` if the kernel gives no stamp
};

static void die(const char *what)
{
    fprintf(stderr, "link_probe: %s: %s\n", what, strerror(errno));
    exit(1);
}

static bool is_ipv6(const char *addr)
{
    return strchr(addr, ':') != NULL;
}

// Bound to the address, or connected to it.
static int open_socket(const char *addr, const char *port, bool serve)
{
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port))};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    bool six = is_ipv6(addr);
    struct sockaddr *sa = six ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t len = six ? sizeof(v6) : sizeof(v4);
    int fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 ||
        inet_pton(sa->sa_family, addr, six ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr) != 1)
        die(addr);
    int on = 1;
    int size = RECEIVE_BUFFER;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    if (six)
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof(on));
    else
        setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
    if ((serve ? bind(fd, sa, len) : connect(fd, sa, len)) != 0)
        die(addr);
    struct sockaddr_in6 own; // its port is where sockaddr_in has it
    len = sizeof(own);
    if (serve && getsockname(fd, (struct sockaddr *)&own, &len) == 0)
        fprintf(stderr, "ready %d\n", ntohs(own.sin6_port));
    return fd;
}

static bool readable_by(int fd, usec_t until)
{
    usec_t left = until - clock_now();
    struct timespec wait = {.tv_sec = left / USEC_PER_SEC, .tv_nsec = left % USEC_PER_SEC * 1000};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return left > 0 && ppoll(&p, 1, &wait, NULL) > 0;
}

static int64_t nsec(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

// One datagram and when it arrived.
static ssize_t receive_stamped(int fd, void *data, size_t cap, struct sockaddr_storage *from,
                               socklen_t *from_len, struct arrival *at)
{
    struct iovec iov = {data, cap};
    _Alignas(struct cmsghdr) uint8_t control[256];
    struct msghdr m = {.msg_name = from,
                       .msg_namelen = from ? sizeof(*from) : 0,
                       .msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(fd, &m, 0);
    if (n < 0)
        return n;
    if (from)
        *from_len = m.msg_namelen;
    *at = (struct arrival){.read = nsec(CLOCK_MONOTONIC)};
    at->stamped = at->read;
    int64_t wall_ahead = nsec(CLOCK_REALTIME) - at->read;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        struct timespec t;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&t, CMSG_DATA(c), sizeof(t));
        at->stamped = (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec - wall_ahead;
    }
    return n;
}

static void stamp_arrivals(int fd)
{
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) != 0)
        die("SO_TIMESTAMPNS");
}

static void echo(int fd)
{
    stamp_arrivals(fd);
    for (;;) {
        struct sockaddr_storage from;
        socklen_t len;
        struct ping p;
        struct arrival arrival;
        if (receive_stamped(fd, &p, sizeof(p), &from, &len, &arrival) != sizeof(p))
            continue;
        int64_t now = nsec(CLOCK_MONOTONIC);
        p.held = now - arrival.read;
        p.held_whole = now - arrival.stamped;
        sendto(fd, &p, sizeof(p), 0, (struct sockaddr *)&from, len);
    }
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void ping(int fd, int count, usec_t interval)
{
    static int64_t rtt[PINGS_MAX];
    int64_t least = INT64_MAX;
    stamp_arrivals(fd);
    int got = 0;
    usec_t next = clock_now();
    usec_t end = next + count * interval + PING_WAIT;
    for (int sent = 0; got < count;) {
        while (readable_by(fd, sent < count ? next : end)) {
            struct ping p;
            struct arrival arrival;
            if (receive_stamped(fd, &p, sizeof(p), NULL, NULL, &arrival) == sizeof(p)) {
                int64_t between_programs = arrival.read - p.sent - p.held;
                if (between_programs < least)
                    least = between_programs;
                rtt[got++] = arrival.stamped - p.sent - p.held_whole;
            }
            if (got == count)
                break;
        }
        if (clock_now() > end)
            break;
        if (sent < count && clock_now() >= next) {
            struct ping p = {.sent = nsec(CLOCK_MONOTONIC)};
            send(fd, &p, sizeof(p), 0);
            sent++;
            next += interval;
        }
    }
    qsort(rtt, (size_t)got, sizeof(rtt[0]), compare);
    printf("{\"sent\":%d,\"received\":%d", count, got);
    if (got)
        printf(",\"least\":%.3f,\"min\":%.3f,\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f",
               (double)least / 1e3, (double)rtt[0] / 1e3, (double)rtt[got / 2] / 1e3,
               (double)rtt[got * 99 / 100] / 1e3, (double)rtt[got - 1] / 1e3);
    printf("}\n");
}

static void blast(int fd, bool six, double bps, int size, double seconds, int ecn)
{
    static const uint8_t data[DATAGRAM_MAX];
    size_t payload = (size_t)size - (six ? 48 : 28);
    if (six)
        setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &ecn, sizeof(ecn));
    else
        setsockopt(fd, IPPROTO_IP, IP_TOS, &ecn, sizeof(ecn));
    usec_t start = clock_now();
    long long sent = 0;
    long long total = llround(seconds * bps / 8 / size);
    for (long long i = 0; i < total; i++) {
        clock_wait_until(start + (usec_t)((double)i * size * 8e6 / bps));
        sent += send(fd, data, payload, 0) == (ssize_t)payload;
    }
    printf("{\"sent\":%lld}\n", sent);
}

static int received_ecn(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
            return *CMSG_DATA(c) & 3;
        int tclass;
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
            memcpy(&tclass, CMSG_DATA(c), sizeof(tclass));
            return tclass & 3;
        }
    }
    return 0;
}

// Ends QUIET after the last datagram. The rate is of the bytes behind the first datagram of the
// window, over the time from that one to the last: no packet is counted in part.
static void count(int fd, bool six, double from, double to)
{
    static uint8_t data[DATAGRAM_MAX];
    usec_t first = 0, window_first = 0, window_last = 0;
    long long packets = 0, ce = 0, window_bytes = 0;
    usec_t until = clock_now() + FIRST_WAIT;
    while (readable_by(fd, until)) {
        struct iovec iov = {data, sizeof(data)};
        _Alignas(struct cmsghdr) uint8_t control[256];
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(fd, &m, 0);
        if (n < 0)
            continue;
        usec_t now = clock_now();
        if (packets++ == 0)
            first = now;
        until = now + QUIET;
        ce += received_ecn(&m) == 3;
        double t = usec_to_sec(now - first);
        if (t >= from && t <= to) {
            if (window_first)
                window_bytes += n + (six ? 48 : 28);
            else
                window_first = now;
            window_last = now;
        }
    }
    double bps = window_last > window_first
                     ? (double)window_bytes * 8 / usec_to_sec(window_last - window_first)
                     : 0;
    printf("{\"packets\":%lld,\"ce\":%lld,\"bps\":%.0f}\n", packets, ce, bps);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 3 ? argv[1] : "";
    bool serve = strcmp(verb, "echo") == 0 || strcmp(verb, "count") == 0;
    if (argc < 4) {
        fprintf(stderr, "link_probe: echo, ping, blast or count; see the source\n");
        return 2;
    }
    // Where it is allowed: the link's delay is asked for, not that of this process on a busy
    // machine.
    struct sched_param lowest = {.sched_priority = 1};
    sched_setscheduler(0, SCHED_FIFO, &lowest);
    int fd = open_socket(argv[2], argv[3], serve);
    bool six = is_ipv6(argv[2]);
    if (strcmp(verb, "echo") == 0)
        echo(fd);
    else if (strcmp(verb, "ping") == 0 && argc == 6 && atoi(argv[4]) <= PINGS_MAX)
        ping(fd, atoi(argv[4]), atoi(argv[5]));
    else if (strcmp(verb, "blast") == 0 && argc == 8 && atoi(argv[5]) >= 48)
        blast(fd, six, atof(argv[4]), atoi(argv[5]), atof(argv[6]), atoi(argv[7]));
    else if (strcmp(verb, "count") == 0 && argc == 6)
        count(fd, six, atof(argv[4]), atof(argv[5]));
    else
        return 2;
    return 0;
}
