// SPDX-License-Identifier: GPL-2.0-or-later
// Sends plain UDP datagrams as fast as possible; mtp.py compares this with MTP.
//   bench_blast receive ADDR:PORT SECONDS   "ready", then the number of datagrams received
//   bench_blast send ADDR:PORT SECONDS      batches that the kernel splits (GSO); the number of
//                                           datagrams sent
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/clock.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"

enum { PACKET = 1400 };

static uint64_t packets;

static void count(void *ctx, const struct datagram *d, usec_t now)
{
    (void)ctx;
    (void)d;
    (void)now;
    packets++;
}

static void stop(void *ctx, usec_t now)
{
    (void)now;
    uv_stop(ctx);
}

static void receive(uv_loop_t *loop, usec_t until)
{
    struct timer *end = timer_new(loop, stop, loop);
    if (!end)
        exit(1);
    timer_set(end, until);
    printf("ready\n");
    fflush(stdout);
    uv_run(loop, UV_RUN_DEFAULT);
    timer_free(end);
}

static void send_all(struct udp_socket *u, const struct sockaddr *to, usec_t until)
{
    static uint8_t bytes[PACKET];
    struct iovec batch[UDP_SOCKET_BATCH];
    for (int i = 0; i < UDP_SOCKET_BATCH; i++)
        batch[i] = (struct iovec){bytes, PACKET};
    while (clock_now() < until)
        packets += (uint64_t)udp_socket_send_batch(u, to, batch, 1, UDP_SOCKET_BATCH);
}

int main(int argc, char **argv)
{
    struct sockaddr_storage at;
    struct sockaddr_storage any;
    if (argc != 4 || sockaddr_parse(argv[2], &at) != 0) {
        fprintf(stderr, "usage: bench_blast receive | send ADDR:PORT SECONDS\n");
        return 2;
    }
    bool sends = strcmp(argv[1], "send") == 0;
    sockaddr_parse(at.ss_family == AF_INET6 ? "[::]:0" : "0.0.0.0:0", &any);
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct udp_socket *u =
        udp_socket_new(&loop, (struct sockaddr *)(sends ? &any : &at), count, NULL);
    if (!u)
        return 1;
    usec_t until = clock_now() + (usec_t)(atof(argv[3]) * 1e6);
    if (sends)
        send_all(u, (struct sockaddr *)&at, until);
    else
        receive(&loop, until);
    printf("packets %llu\n", (unsigned long long)packets);
    udp_socket_free(u);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return 0;
}
