// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the cost of datagram transports and the regularity of their sending.
//   bench_datagram memory            ns per packet of both protocol endpoints, without sockets, for
//                                    each controller
//   bench_datagram loopback NAME S   packets of 1200 bytes over the loopback for S seconds: packets
//                                    sent and received per second, CPU time, and the spacing of
//                                    arrivals
// Prints one line per result, words and figures, for datagram.py.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/protocol/datagram_receiver.h"
#include "common/transport/datagram_reports.h"
#include "common/transport/transport.h"
#include "common/wire/rtp.h"

enum { PACKET = 1200, SSRC = 1, MEMORY_PACKETS = 500000 };

static const struct rtp_ext_ids ids = {.feedback = RTP_EXT_FEEDBACK_ID};

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// ---- In memory

// A loss-free path of 10 ms each way, in virtual time: only the code's time counts.
static void run_in_memory(const char *name)
{
    const usec_t way = 10 * USEC_PER_MSEC;
    struct controller_config config = {.packet_bytes = PACKET, .max_rate_bps = 200e6};
    struct controller *c = controller_new(name, &config, 0);
    static struct datagram_sender s;
    static struct datagram_receiver r;
    if (!c || datagram_sender_init(&s, c, &(struct datagram_sender_config){0}, 0) != 0)
        exit(1);
    if (c->ops->media_rate)
        c->ops->media_rate(c, 200e6, 0);
    datagram_receiver_init(&r, 2, 0);
    struct feedback_wish wish = datagram_sender_wish(&s);
    static struct ccfb report;
    usec_t report_at = USEC_NEVER; // when the report reaches the sender
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (usec_t now = 0; s.counts.packets < MEMORY_PACKETS;) {
        if (report_at <= now) {
            datagram_sender_feedback(&s, &report, now);
            report_at = USEC_NEVER;
            wish = datagram_sender_wish(&s);
        }
        if (datagram_sender_next_timeout(&s) <= now)
            datagram_sender_timeout(&s, now);
        while (datagram_sender_room(&s, now)) {
            uint16_t seq = (uint16_t)s.next_number;
            datagram_sender_sent(&s, PACKET, now);
            datagram_receiver_packet(&r, SSRC, seq, 0, PACKET, &wish, now + way);
        }
        if (report_at == USEC_NEVER && datagram_receiver_next_report(&r) <= now + way &&
            datagram_receiver_report(&r, &report, now + way))
            report_at = now + 2 * way;
        usec_t next = usec_min(report_at, datagram_sender_next_timeout(&s));
        next = usec_min(next, datagram_sender_next_send(&s, now));
        if (report_at == USEC_NEVER)
            next = usec_min(next, datagram_receiver_next_report(&r) - way);
        now = usec_max(now + 1, next);
    }
    double took = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    printf("memory %s ns_per_packet %.0f reports %llu lost %llu\n", name,
           took * 1e9 / MEMORY_PACKETS, (unsigned long long)s.counts.reports,
           (unsigned long long)s.counts.lost);
    datagram_sender_destroy(&s);
}

// ---- Over the loopback

struct receiver {
    pthread_t thread;
    uv_loop_t loop;
    struct udp_socket *socket[2];
    struct sockaddr_storage to; // of reports
    struct datagram_reports *feedback;
    struct timer *watch;
    int over; // atomic
    uint64_t packets;
    usec_t last;
    double sum, squares; // of intervals in us
};

static void on_media(void *ctx, const struct datagram *d, usec_t now)
{
    (void)now;
    struct receiver *r = ctx;
    if (r->packets++) {
        double interval = (double)(d->arrived - r->last);
        r->sum += interval;
        r->squares += interval * interval;
    }
    r->last = d->arrived;
    datagram_reports_packet(r->feedback, d);
}

static void ignore(void *ctx, const struct datagram *d, usec_t now)
{
    (void)ctx;
    (void)d;
    (void)now;
}

static void send_report(void *ctx, const uint8_t *data, size_t len)
{
    struct receiver *r = ctx;
    struct iovec part = {.iov_len = len};
    part.iov_base = (uint8_t *)(uintptr_t)data;
    (void)udp_socket_send(r->socket[1], (struct sockaddr *)&r->to, &part, 1);
}

static void on_watch(void *ctx, usec_t now)
{
    struct receiver *r = ctx;
    if (__atomic_load_n(&r->over, __ATOMIC_ACQUIRE))
        uv_stop(&r->loop);
    timer_set(r->watch, now + 20 * USEC_PER_MSEC);
}

static void *receive(void *arg)
{
    struct receiver *r = arg;
    uv_run(&r->loop, UV_RUN_DEFAULT);
    return NULL;
}

struct sender {
    uv_loop_t loop;
    struct udp_socket *socket[2];
    struct sockaddr_storage to[2];
    struct transport *transport;
    struct timer *again;
    usec_t end;
    uint16_t seq;
    uint64_t packets;
};

static void on_rtcp(void *ctx, const struct datagram *d, usec_t now)
{
    struct sender *s = ctx;
    if (s->transport)
        s->transport->ops->on_rtcp(s->transport, d->data, d->len, now);
}

static void pump(void *ctx, usec_t now)
{
    enum { BATCH = 64 };
    static const uint8_t zeros[PACKET];
    struct sender *s = ctx;
    int sent = 0;
    if (now >= s->end)
        uv_stop(&s->loop);
    while (now < s->end && sent < BATCH &&
           s->transport->media.ops->room(&s->transport->media, now)) {
        struct rtp_packet p = {.payload_type = RTP_PT_SYNTHETIC, .seq = s->seq, .ssrc = SSRC};
        struct feedback_wish wish;
        p.has_feedback = s->transport->media.ops->wish(&s->transport->media, &wish);
        p.feedback.interval = (uint16_t)(wish.interval / RTP_FEEDBACK_UNIT_US);
        p.feedback.packets = (uint8_t)(wish.packets < UINT8_MAX ? wish.packets : UINT8_MAX);
        uint8_t head[RTP_MAX_HEADER];
        size_t len = rtp_encode(&p, head);
        struct media_packet packet = {
            .head = head, .head_len = len, .body = zeros, .body_len = PACKET - len};
        s->transport->media.ops->send(&s->transport->media, TRACK_VIDEO, &packet, now);
        s->seq++;
        s->packets++;
        sent++;
    }
    s->transport->media.ops->flush(&s->transport->media, now);
    if (sent == BATCH)
        timer_set(s->again, now);
}

static void open_pair(uv_loop_t *loop, udp_fn *rtp, udp_fn *rtcp, void *ctx,
                      struct udp_socket *out[2])
{
    struct sockaddr_storage local;
    sockaddr_parse("127.0.0.1:0", &local);
    if (udp_socket_pair(loop, (struct sockaddr *)&local, rtp, rtcp, ctx, out) != 0)
        exit(1);
}

static void address(const struct udp_socket *u, struct sockaddr_storage *out)
{
    sockaddr_parse("127.0.0.1:0", out);
    sockaddr_set_port((struct sockaddr *)out, udp_socket_port(u));
}

static void run_over_loopback(const char *name, double seconds)
{
    static struct receiver r;
    static struct sender s;
    uv_loop_init(&r.loop);
    uv_loop_init(&s.loop);
    open_pair(&r.loop, on_media, ignore, &r, r.socket);
    open_pair(&s.loop, ignore, on_rtcp, &s, s.socket);
    address(s.socket[1], &r.to);
    for (int i = 0; i < 2; i++)
        address(r.socket[i], &s.to[i]);
    usec_t now = clock_now();
    struct datagram_reports_config feedback = {
        .loop = &r.loop, .ext = ids, .ssrc = 2, .send = send_report, .ctx = &r};
    r.feedback = datagram_reports_new(&feedback, now);
    r.watch = timer_new(&r.loop, on_watch, &r);
    timer_set(r.watch, now);
    struct transport_path path = {
        .socket = {s.socket[0], s.socket[1]},
        .peer = {(struct sockaddr *)&s.to[0], (struct sockaddr *)&s.to[1]},
        .feedback = true,
        .ssrc = SSRC,
        .loop = &s.loop,
        .on_room = pump,
        .ctx = &s};
    s.again = timer_new(&s.loop, pump, &s);
    s.transport = transport_open(name, &path, now);
    if (!s.transport || !s.again || !r.feedback)
        exit(1);
    s.end = now + (usec_t)(seconds * 1e6);
    pthread_create(&r.thread, NULL, receive, &r);
    double cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    pump(&s, now);
    while (clock_now() < s.end)
        uv_run(&s.loop, UV_RUN_ONCE);
    cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    __atomic_store_n(&r.over, 1, __ATOMIC_RELEASE);
    pthread_join(r.thread, NULL);
    struct transport_info info;
    s.transport->media.ops->info(&s.transport->media, &info, clock_now());
    double n = (double)(r.packets > 1 ? r.packets - 1 : 1);
    double mean = r.sum / n;
    printf(
        "loopback %s sent_pps %.0f received_pps %.0f ns_per_packet %.0f spacing_us %.2f sd_us %.2f "
        "lost %llu\n",
        name, (double)s.packets / seconds, (double)r.packets / seconds,
        cpu * 1e9 / (double)s.packets, mean, sqrt(fmax(0, r.squares / n - mean * mean)),
        (unsigned long long)info.counts.lost);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "memory") == 0) {
        for (const struct controller_kind *k = controller_kinds; k->name; k++)
            run_in_memory(k->name);
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "loopback") == 0) {
        run_over_loopback(argv[2], atof(argv[3]));
        return 0;
    }
    fprintf(stderr, "usage: bench_datagram memory | loopback TRANSPORT SECONDS\n");
    return 2;
}
