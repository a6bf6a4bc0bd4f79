// SPDX-License-Identifier: GPL-2.0-or-later
// Numbered packets by MTP in TCP segments, for test_mtp_raw.py. The result is a line of JSON on
// stdout; "ready" on stderr says that the server listens.
//
//     mtp_raw_probe serve ADDR:PORT strict|fill|resend BPS SECONDS [bad-sums] [no-window]
//                            to the first client; its sequence begins 512 KB below the wrap.
//                            bad-sums: one segment of 50 has a wrong checksum, too.
//                            no-window: the client's window is not looked at
//     mtp_raw_probe fetch ADDR:PORT SLOTS
//                            SLOTS: of the window that is advertised
//     mtp_raw_probe hello    in hexadecimal, for a client that is the kernel's TCP
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/mtp/mtp_receiver.h"
#include "common/mtp/mtp_sender.h"
#include "common/mtp/mtp_tcp.h"
#include "common/net/clock.h"
#include "common/net/log_stderr.h"
#include "common/net/raw_tcp.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"

enum {
    SLOT_BYTES = MTP_TCP_DATA,
    RECORD = SLOT_BYTES - MTP_TCP_TAG,
    PAYLOAD = RECORD - MTP_HEADER_BYTES,
    LATENCIES = 1 << 20,
    NEAR_WRAP = 512 << 10, // bytes
    NO_WINDOW = 8000,      // slots, for the sender that does not look
};

static const uint64_t TOKEN = 0x5eed5eed5eed5eed;

struct probe {
    uv_loop_t loop;
    struct raw_tcp *raw;
    struct timer *timer;
    struct mtp_tcp tcp;
    struct mtp_tcp_config config;
    bool is_connected;

    // The server.
    enum mtp_mode mode;
    double bps;
    usec_t seconds, push_at, end_at;
    bool bad_sums, no_window;
    int fd; // for wrong checksums
    struct mtp_sender sender;
    uint64_t pushed, segments;
    uint32_t isn;

    // The client.
    struct mtp_receiver receiver;
    usec_t latency[LATENCIES];
    int64_t delivered, highest;
};

static struct probe p;

static void finish(void)
{
    raw_tcp_free(p.raw);
    timer_free(p.timer);
    p.raw = NULL;
    p.timer = NULL;
}

// A copy of the segment with its checksum wrong.
static void send_bad_sum(const struct tcp_segment *s)
{
    uint8_t packet[RAW_TCP_PACKET];
    int len = tcp_segment_build(s, packet, sizeof(packet));
    struct sockaddr_in to = {.sin_family = AF_INET};
    memcpy(&to.sin_addr, s->path.destination.address, 4);
    packet[20 + 16] ^= 0x55;
    (void)!sendto(p.fd, packet, (size_t)len, 0, (struct sockaddr *)&to, sizeof(to));
}

static void flush_segments(usec_t now)
{
    struct tcp_segment s;
    while (mtp_tcp_pull(&p.tcp, &s, now)) {
        if (p.bad_sums && ++p.segments % 50 == 0)
            send_bad_sum(&s);
        raw_tcp_send(p.raw, &s);
    }
}

static void push(usec_t now)
{
    uint8_t payload[PAYLOAD] = {0};
    for (; p.push_at <= now && now < p.end_at; p.push_at += (usec_t)(SLOT_BYTES * 8e6 / p.bps)) {
        if (!mtp_sender_has_room(&p.sender, now))
            continue;
        store_be64(payload, p.pushed);
        if (mtp_sender_push(&p.sender, payload, PAYLOAD, (int64_t)p.pushed, false, now) == 0)
            p.pushed++;
    }
}

static void serve_slots(usec_t now)
{
    struct mtp_out out;
    uint8_t record[RECORD];
    flush_segments(now);
    while (push(now), mtp_sender_pull(&p.sender, &out, now)) {
        struct mtp_header h = {out.flags, out.len, (uint32_t)out.number, (uint32_t)out.slot,
                               (uint32_t)out.time};
        mtp_header_encode(&h, record);
        if (out.len > 0)
            memcpy(record + MTP_HEADER_BYTES, out.bytes, out.len);
        (void)mtp_tcp_send(&p.tcp, out.slot, record, MTP_HEADER_BYTES + (size_t)out.len);
        flush_segments(now);
    }
}

static void arm(usec_t now)
{
    usec_t next = USEC_NEVER;
    if (p.is_connected)
        next = mtp_tcp_next_timeout(&p.tcp);
    if (p.is_connected && p.tcp.server) {
        next = usec_min(next, mtp_sender_next_timeout(&p.sender));
        next = usec_min(next, now < p.end_at ? p.push_at : now + 10 * USEC_PER_MSEC);
    }
    timer_set(p.timer, next);
}

// After anything that happened.
static void on_idle(void *ctx, usec_t now)
{
    (void)ctx;
    if (!p.is_connected)
        return;
    if (p.tcp.server) {
        serve_slots(now);
        bool all = p.sender.cum == p.sender.next && p.sender.queue.packets == 0;
        if (now >= p.end_at && (all || now >= p.end_at + 3 * USEC_PER_SEC))
            mtp_tcp_close(&p.tcp, now);
    }
    flush_segments(now);
    raw_tcp_flush(p.raw);
    if (p.tcp.state == MTP_TCP_CLOSED)
        finish();
    else
        arm(now);
}

static void on_timer(void *ctx, usec_t now)
{
    if (p.is_connected && mtp_tcp_next_timeout(&p.tcp) <= now)
        mtp_tcp_timeout(&p.tcp, now);
    if (p.is_connected && p.tcp.server && mtp_sender_next_timeout(&p.sender) <= now)
        mtp_sender_timeout(&p.sender, now);
    on_idle(ctx, now);
}

// Secrets are tried until the stream begins near the wrap.
static enum mtp_tcp_heard listen_near_wrap(const struct tcp_segment *s, struct tcp_segment *reply,
                                           struct mtp_tcp_accepted *a, usec_t now)
{
    enum mtp_tcp_heard heard = mtp_tcp_listen(&p.config.secret, s, reply, a, now);
    while (heard == MTP_TCP_REPLY && reply->seq < (uint32_t)-NEAR_WRAP) {
        p.config.secret.k[0]++;
        heard = mtp_tcp_listen(&p.config.secret, s, reply, a, now);
    }
    return heard;
}

static void start_serving(const struct mtp_tcp_accepted *a, usec_t now)
{
    struct siphash_key key = mtp_tcp_key(TOKEN);
    if (a->id != mtp_tcp_id(&key) || mtp_tcp_accept(&p.tcp, &p.config, a, now) != 0)
        return;
    struct mtp_sender_config config = {
        .mode = p.mode,
        .slot_bytes = PAYLOAD,
        .window = p.no_window ? NO_WINDOW : (p.tcp.edge - 1) / SLOT_BYTES,
        .queue = {.bytes = 2 * PAYLOAD + (size_t)(p.bps / 8 / 100), .block = true}, // 10 ms
    };
    if (mtp_sender_init(&p.sender, &config, now) != 0)
        abort();
    p.is_connected = true;
    p.isn = a->isn;
    p.push_at = now;
    p.end_at = now + p.seconds;
}

static void on_server_segment(void *ctx, const struct tcp_segment *s, usec_t now)
{
    (void)ctx;
    if (p.is_connected) {
        struct tcp_path back = tcp_path_reversed(&s->path);
        struct mtp_ack ack;
        if (!tcp_path_same(&back, &p.tcp.path))
            return;
        if (mtp_tcp_input(&p.tcp, s, &ack, now) & MTP_TCP_ACKED) {
            if (p.no_window) {
                ack.window = NO_WINDOW;
                p.tcp.edge = INT64_MAX / 2;
            }
            mtp_sender_ack(&p.sender, &ack, now);
        }
        return;
    }
    struct tcp_segment reply;
    struct mtp_tcp_accepted a;
    enum mtp_tcp_heard heard = listen_near_wrap(s, &reply, &a, now);
    if (heard == MTP_TCP_REPLY)
        raw_tcp_send(p.raw, &reply);
    else if (heard == MTP_TCP_ACCEPT)
        start_serving(&a, now);
}

static void on_slot(const uint8_t *record, usec_t now)
{
    struct mtp_header h;
    if (mtp_header_decode(record, RECORD, &h) != 0)
        abort(); // its tag was right
    if (mtp_receiver_packet(&p.receiver, &h) == MTP_DELIVER) {
        int64_t number = (int64_t)load_be64(record + MTP_HEADER_BYTES);
        p.highest = number > p.highest ? number : p.highest;
        if (p.delivered < LATENCIES) // both ends have one clock
            p.latency[p.delivered] = (uint32_t)((uint32_t)now - h.time_us);
        p.delivered++;
    }
    struct mtp_ack ack;
    mtp_receiver_ack(&p.receiver, &ack);
    mtp_tcp_acknowledge(&p.tcp, &ack);
    flush_segments(now);
}

static void on_client_segment(void *ctx, const struct tcp_segment *s, usec_t now)
{
    (void)ctx;
    struct mtp_ack unused;
    int64_t slot;
    const uint8_t *record;
    struct tcp_path back = tcp_path_reversed(&s->path);
    if (!tcp_path_same(&back, &p.tcp.path))
        return;
    unsigned news = mtp_tcp_input(&p.tcp, s, &unused, now);
    if (news & MTP_TCP_SLOTS)
        while (mtp_tcp_next(&p.tcp, &slot, &record))
            on_slot(record, now);
    if (news & MTP_TCP_FINISHED)
        mtp_tcp_close(&p.tcp, now);
}

static int compare(const void *a, const void *b)
{
    const usec_t x = *(const usec_t *)a;
    const usec_t y = *(const usec_t *)b;
    return (x > y) - (x < y);
}

static void print_common(void)
{
    const struct mtp_tcp_counts *c = &p.tcp.counts;
    printf("\"end\":%d,\"strangers\":%llu,\"forged\":%llu,\"challenges\":%llu,\"repeats\":%llu",
           (int)p.tcp.end, (unsigned long long)c->strangers, (unsigned long long)c->forged,
           (unsigned long long)c->challenges, (unsigned long long)c->repeats);
}

static int serve(const struct sockaddr *at)
{
    p.fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    int result = raw_tcp_open(&p.loop, at, on_server_segment, on_idle, NULL, &p.raw);
    if (result != 0 || raw_tcp_drop_capability() != 0)
        return result == ERR_UNSUPPORTED ? 3 : 1;
    fprintf(stderr, "ready\n");
    uv_run(&p.loop, UV_RUN_DEFAULT);
    struct mtp_info i = mtp_sender_info(&p.sender);
    printf("{\"isn\":%u,\"bytes\":%lld,\"slots\":%lld,\"pushed\":%llu,\"replacements\":%llu,"
           "\"fills\":%llu,\"fast_recoveries\":%llu,\"timeouts\":%llu,\"lies\":%llu,\"cpu\":%.2f,",
           p.isn, (long long)p.tcp.sent, (long long)p.sender.next, (unsigned long long)p.pushed,
           (unsigned long long)i.counts.replacements, (unsigned long long)i.counts.fills,
           (unsigned long long)i.counts.fast_recoveries, (unsigned long long)i.counts.timeouts,
           (unsigned long long)i.counts.lies, (double)clock() / CLOCKS_PER_SEC);
    print_common();
    printf("}\n");
    mtp_sender_destroy(&p.sender);
    return 0;
}

// The local address from which the host reaches `remote`, with port 0. 0; ERR_IO: no route.
static int local_address_to(const struct sockaddr *remote, struct sockaddr_storage *out)
{
    struct sockaddr_storage to = {0};
    memcpy(&to, remote, sockaddr_len(remote));
    int fd = socket(remote->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0); // asks for the route, only
    socklen_t len = sizeof(*out);
    bool found = fd >= 0 && connect(fd, (struct sockaddr *)&to, sockaddr_len(remote)) == 0 &&
                 getsockname(fd, (struct sockaddr *)out, &len) == 0;
    if (fd >= 0)
        close(fd);
    if (found)
        sockaddr_set_port((struct sockaddr *)out, 0);
    return found ? 0 : ERR_IO;
}

static int fetch(const struct sockaddr *from)
{
    struct sockaddr_storage local;
    if (local_address_to(from, &local) != 0)
        return 1;
    int result =
        raw_tcp_open(&p.loop, (struct sockaddr *)&local, on_client_segment, on_idle, NULL, &p.raw);
    if (result != 0 || raw_tcp_drop_capability() != 0)
        return result == ERR_UNSUPPORTED ? 3 : 1;
    sockaddr_set_port((struct sockaddr *)&local, raw_tcp_port(p.raw));
    struct tcp_path path = raw_tcp_path((struct sockaddr *)&local, from);
    mtp_receiver_init(&p.receiver, p.config.window);
    if (mtp_tcp_connect(&p.tcp, &p.config, &path, clock_now()) != 0)
        return 1;
    p.tcp.isn = (uint32_t)-16; // the hello goes across the wrap
    p.is_connected = true;
    on_idle(NULL, clock_now());
    uv_run(&p.loop, UV_RUN_DEFAULT);
    size_t n = p.delivered < LATENCIES ? (size_t)p.delivered : LATENCIES;
    qsort(p.latency, n, sizeof(p.latency[0]), compare);
    printf("{\"delivered\":%lld,\"highest\":%lld,\"duplicates\":%llu,\"beyond\":%llu,"
           "\"marked\":%llu,\"late\":%llu,",
           (long long)p.delivered, (long long)p.highest,
           (unsigned long long)p.receiver.counts.duplicates,
           (unsigned long long)p.receiver.counts.beyond,
           (unsigned long long)p.receiver.counts.replacements,
           (unsigned long long)p.receiver.counts.late);
    if (n > 0)
        printf("\"p50\":%lld,\"p99\":%lld,\"p999\":%lld,", (long long)p.latency[n / 2],
               (long long)p.latency[n * 99 / 100], (long long)p.latency[n * 999 / 1000]);
    print_common();
    printf("}\n");
    return 0;
}

static int print_hello(void)
{
    struct siphash_key key = mtp_tcp_key(TOKEN);
    uint8_t hello[MTP_TCP_HELLO];
    mtp_tcp_hello_write(&key, SLOT_BYTES, hello);
    for (size_t i = 0; i < sizeof(hello); i++)
        printf("%02x", hello[i]);
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    struct sockaddr_storage at;
    log_to_stderr("mtp_raw_probe", LOG_INFO);
    if (strcmp(verb, "hello") == 0)
        return print_hello();
    if (argc < 4 || sockaddr_parse(argv[2], &at) != 0) {
        fprintf(stderr, "mtp_raw_probe: serve, fetch or hello; see the source\n");
        return 2;
    }
    p.config = (struct mtp_tcp_config){
        .secret = {{(uint64_t)clock_now(), (uint64_t)getpid()}},
        .token = TOKEN,
        .slot_bytes = SLOT_BYTES,
        .window = 4096,
    };
    uv_loop_init(&p.loop);
    p.timer = timer_new(&p.loop, on_timer, NULL);
    int result = 2;
    if (strcmp(verb, "fetch") == 0) {
        p.config.window = atoi(argv[3]);
        result = fetch((struct sockaddr *)&at);
    } else if (strcmp(verb, "serve") == 0 && argc >= 6) {
        p.mode = strcmp(argv[3], "fill") == 0     ? MTP_FILL_HOLES
                 : strcmp(argv[3], "resend") == 0 ? MTP_RESEND
                                                  : MTP_STRICT;
        p.bps = atof(argv[4]);
        p.seconds = (usec_t)(atof(argv[5]) * 1e6);
        for (int i = 6; i < argc; i++) {
            p.bad_sums |= strcmp(argv[i], "bad-sums") == 0;
            p.no_window |= strcmp(argv[i], "no-window") == 0;
        }
        result = serve((struct sockaddr *)&at);
    }
    mtp_tcp_destroy(&p.tcp);
    finish();
    uv_run(&p.loop, UV_RUN_DEFAULT);
    uv_loop_close(&p.loop);
    return result;
}
