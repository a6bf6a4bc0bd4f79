// SPDX-License-Identifier: GPL-2.0-or-later
// Many viewers in one process, on one loop: they request the stream, receive and report as
// weir-play does, and decode nothing. For fanout.py.
//   bench_fanout_client ADDR:PORT TRANSPORT VIEWERS SECONDS LATE_MS [PIN]
// With the server's PIN (sha256:HEX) the connections are encrypted, and datagrams are SRTP.
// TRANSPORT "websocket": RTSP in a WebSocket, with the transport of the page for browsers.
// Prints "begin" when all have watched for a while, "end" after SECONDS, and then the results for
// the frames captured in between: one line of names and values.
//
// A viewer's frame is complete when all of its packets have arrived in order. Its delay is the
// arrival of the last packet minus the capture, on the machine's one clock; beyond LATE_MS it is
// late.
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/err.h"
#include "common/base/hist.h"
#include "common/net/bytes_out.h"
#include "common/net/clock.h"
#include "common/net/random.h"
#include "common/net/tcp_conn.h"
#include "common/net/tcp_filter.h"
#include "common/net/timer.h"
#include "common/net/tls_filter.h"
#include "common/net/tls_trust.h"
#include "common/net/udp_socket.h"
#include "common/protocol/rtp_receiver.h"
#include "common/srtp/srtp_guard.h"
#include "common/transport/datagram_reports.h"
#include "common/transport/transport.h"
#include "common/wire/base64.h"
#include "common/wire/path_token.h"
#include "common/wire/rtsp.h"
#include "common/wire/rtsp_transport.h"
#include "stream/receive/rtcp_feedback.h"

enum {
    MAX_VIEWERS = 4096,
    FRAMES = 1 << 16, // max frames of the measured time
    CONNECTS = 4,     // max per tick
    TICKS = 100,      // per second; each viewer reports at one of them
};
static const char WEBSOCKET[] = "websocket";
static const char PAGE_TRANSPORT[] = "minbuf:auto,20"; // server/web/page/worker.js
static const usec_t TICK = USEC_PER_SEC / TICKS;
static const usec_t SETTLE = 2 * USEC_PER_SEC;
// Time for the last frames to arrive, and the longest one while some are missing.
static const usec_t GRACE = USEC_PER_SEC;
static const usec_t GRACE_MAX = 10 * USEC_PER_SEC;
static const usec_t START_WITHIN = 60 * USEC_PER_SEC;
static const struct rtp_ext_ids ids = {RTP_EXT_CAPTURE_ID, RTP_EXT_ADU_ID, RTP_EXT_FEEDBACK_ID,
                                       RTP_EXT_MADE_ID};

struct viewer {
    struct tcp_conn *tcp;
    struct udp_socket *udp[2]; // RTP and RTCP, for datagram transports
    struct sockaddr_storage server[2];
    uint64_t token;
    uint8_t key[SRTP_KEY_BYTES];      // of what it sends
    struct srtp_guard *srtp;          // NULL: plain
    struct datagram_reports *reports; // NULL: the transport needs none
    struct rtp_receiver rtp;
    struct rtcp_feedback feedback;
    enum rtsp_method asked; // the last request: SETUP, then PLAY
    bool upgraded;          // the WebSocket is open
    char session[64];
    bool watches; // true after the first frame
    uint32_t frame;
    bool whole; // true while all packets of `frame` have arrived
    uint16_t next_seq;
    usec_t captured; // capture of `frame`, wall clock
};

static struct {
    uv_loop_t loop;
    struct sockaddr_storage server;
    const char *transport;
    const char *pin; // NULL: nothing is encrypted
    bool datagram;
    bool websocket;
    int wanted, count, watching; // numbers of viewers
    struct viewer *viewers;
    struct timer *tick;
    int ticks;
    usec_t begin, end; // wall clock; 0: not yet
    usec_t seconds, late_after;
    bool told_end;
    uint32_t first_frame;
    bool seen[FRAMES]; // indexed by number from first_frame on
    bool started;
    uint64_t complete, late;
    struct hist delay;
} bench;

static void fail(const char *what)
{
    fprintf(stderr, "fanout: %s\n", what);
    exit(1);
}

// ---- Frames

static bool is_measured(usec_t captured)
{
    return bench.begin && captured >= bench.begin && captured < bench.begin + bench.seconds;
}

static void note_frame_begins(const struct viewer *v)
{
    if (!is_measured(v->captured))
        return;
    if (!bench.started)
        bench.first_frame = v->frame;
    bench.started = true;
    uint32_t index = v->frame - bench.first_frame;
    if (index < FRAMES)
        bench.seen[index] = true;
}

static void note_frame_complete(struct viewer *v, usec_t arrived)
{
    bench.watching += !v->watches;
    v->watches = true;
    if (!is_measured(v->captured))
        return;
    usec_t delay = arrived - v->captured;
    bench.complete++;
    bench.late += bench.late_after && delay > bench.late_after;
    hist_add(&bench.delay, delay);
}

// `arrived` is on the wall clock.
static void on_rtp(struct viewer *v, const uint8_t *data, size_t len, usec_t arrived, usec_t now)
{
    struct rtp_packet p;
    int64_t seq;
    if (rtcp_is(data, len) || rtp_decode(data, len, ids, &p) != 0 || !p.has_adu)
        return;
    rtp_receiver_packet(&v->rtp, &p, 0, &seq, now);
    if (p.adu.first) {
        v->frame = p.adu.frame;
        v->captured = p.capture_wall;
        v->whole = true;
        note_frame_begins(v);
    } else if (p.adu.frame != v->frame || p.seq != v->next_seq) {
        v->whole = false;
    }
    v->next_seq = (uint16_t)(p.seq + 1);
    if (p.adu.last && v->whole)
        note_frame_complete(v, arrived);
}

// ---- Datagrams

// `which`: the port that it goes to.
static void send_rtcp(struct viewer *v, int which, const uint8_t *data, size_t len)
{
    uint8_t out[RTCP_MAX_PACKET + SRTCP_TAIL_BYTES];
    if (len > RTCP_MAX_PACKET)
        return;
    memcpy(out, data, len);
    if (srtp_guard_seal_rtcp(v->srtp, out, &len, sizeof(out)) == 0)
        (void)udp_socket_send(v->udp[which], (struct sockaddr *)&v->server[which],
                              &(struct iovec){out, len}, 1);
}

static void send_to_rtcp(void *ctx, const uint8_t *data, size_t len)
{
    send_rtcp(ctx, 1, data, len);
}

static void on_media(void *ctx, const struct datagram *d, usec_t now)
{
    struct viewer *v = ctx;
    struct datagram plain = *d;
    if (rtcp_is(d->data, d->len))
        return; // an echoed token
    plain.data = srtp_guard_open_rtp(v->srtp, d->data, &plain.len);
    if (!plain.data)
        return;
    if (v->reports)
        datagram_reports_packet(v->reports, &plain);
    on_rtp(v, plain.data, plain.len, clock_wall() - (now - d->arrived), now);
}

static void on_rtcp(void *ctx, const struct datagram *d, usec_t now)
{
    (void)ctx;
    (void)d;
    (void)now;
}

static void show_token(struct viewer *v)
{
    uint8_t token[PATH_TOKEN_BYTES];
    path_token_encode(v->feedback.ssrc, v->token, token);
    for (int i = 0; i < 2; i++)
        send_rtcp(v, i, token, sizeof(token));
}

static void open_srtp(struct viewer *v, const struct rtsp_transport *given)
{
    uint8_t theirs[SRTP_KEY_BYTES];
    struct text text = {given->srtp, strlen(given->srtp)};
    if (!given->savp || base64_decode(text, BASE64_URL, theirs, sizeof(theirs)) != SRTP_KEY_BYTES)
        fail("the answer to SETUP has no key");
    v->srtp = srtp_guard_new(v->key, theirs);
    if (!v->srtp)
        fail("no SRTP");
}

static void open_datagrams(struct viewer *v, const struct rtsp_transport *given, usec_t now)
{
    for (int i = 0; i < 2; i++) {
        v->server[i] = bench.server;
        sockaddr_set_port((struct sockaddr *)&v->server[i], given->server_port[i]);
    }
    v->token = given->token;
    if (bench.pin)
        open_srtp(v, given);
    struct datagram_reports_config config = {.loop = &bench.loop,
                                             .ext = ids,
                                             .ssrc = v->feedback.ssrc,
                                             .media_ssrc = given->ssrc,
                                             .send = send_to_rtcp,
                                             .ctx = v};
    v->reports = datagram_reports_new(&config, now);
    if (!v->reports)
        fail("no memory");
}

// ---- WebSocket (RFC 6455), a client's end: the frames of the server are not masked

enum {
    FRAME_HEAD_MAX = 10,
    FRAME_BINARY = 0x82, // FIN and the opcode
    FRAME_MASKED = 0x80,
};

struct websocket_client {
    struct tcp_filter base;
    uint8_t head[FRAME_HEAD_MAX]; // of the current frame
    size_t head_len;
    uint64_t left; // of its payload
};

static size_t head_bytes(const struct websocket_client *w)
{
    int len = w->head_len < 2 ? 0 : w->head[1] & 127;
    return len == 127 ? 10 : len == 126 ? 4 : 2;
}

static int websocket_decode(struct tcp_filter *f, const uint8_t *data, size_t len,
                            struct bytes_out *plain, struct bytes_out *wire)
{
    (void)wire;
    struct websocket_client *w = (struct websocket_client *)f;
    while (len) {
        if (!w->left) {
            w->head[w->head_len++] = *data++;
            len--;
            size_t head = head_bytes(w);
            if (w->head_len < head)
                continue;
            if (w->head[0] != FRAME_BINARY)
                return ERR_MALFORMED;
            w->left = head == 2 ? w->head[1] : 0;
            for (size_t i = 2; i < head; i++)
                w->left = w->left << 8 | w->head[i];
            w->head_len = 0;
            continue;
        }
        size_t n = len < w->left ? len : (size_t)w->left;
        int err = bytes_out_add(plain, data, n);
        if (err)
            return err;
        data += n;
        len -= n;
        w->left -= n;
    }
    return 0;
}

// The mask is 0, which leaves the payload as it is.
static int websocket_encode(struct tcp_filter *f, const struct iovec *parts, int count,
                            struct bytes_out *wire)
{
    (void)f;
    size_t len = 0;
    for (int i = 0; i < count; i++)
        len += parts[i].iov_len;
    uint8_t head[8] = {FRAME_BINARY};
    size_t at = 2;
    if (len < 126) {
        head[1] = FRAME_MASKED | (uint8_t)len;
    } else {
        head[1] = FRAME_MASKED | 126;
        head[at++] = (uint8_t)(len >> 8);
        head[at++] = (uint8_t)len;
    }
    int err = len > UINT16_MAX ? ERR_TOO_BIG : bytes_out_add(wire, head, at + 4);
    for (int i = 0; !err && i < count; i++)
        err = bytes_out_add(wire, parts[i].iov_base, parts[i].iov_len);
    return err;
}

static size_t websocket_overhead(const struct tcp_filter *f, size_t bytes)
{
    (void)f;
    return bytes < 126 ? 6 : 8;
}

static void websocket_free(struct tcp_filter *f)
{
    free(f);
}

static struct tcp_filter *websocket_client_new(void)
{
    static const struct tcp_filter_ops ops = {.decode = websocket_decode,
                                              .encode = websocket_encode,
                                              .overhead = websocket_overhead,
                                              .free = websocket_free};
    struct websocket_client *w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->base.ops = &ops;
    return &w->base;
}

static void ask_upgrade(struct viewer *v)
{
    char text[512];
    char at[64];
    sockaddr_text((struct sockaddr *)&bench.server, at, sizeof(at));
    int len = snprintf(text, sizeof(text),
                       "GET /live HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                       "Sec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n",
                       at);
    if (tcp_conn_send(v->tcp, text, (size_t)len) != 0)
        fail("a viewer cannot ask for a WebSocket");
}

// Returns the bytes consumed: 0 until the response is complete.
static size_t on_upgrade(struct viewer *v, const uint8_t *data, size_t len)
{
    static const char good[] = "HTTP/1.1 101 ";
    const uint8_t *end = memmem(data, len, "\r\n\r\n", 4);
    if (!end)
        return 0;
    if (memcmp(data, good, sizeof(good) - 1) != 0)
        fail("a viewer was refused a WebSocket");
    struct tcp_filter *filter = websocket_client_new();
    if (!filter || tcp_conn_push_filter(v->tcp, filter) != 0)
        fail("no memory");
    v->upgraded = true;
    return (size_t)(end - data) + 4;
}

// ---- RTSP

static void ask(struct viewer *v, enum rtsp_method method, const char *headers)
{
    char text[1024];
    char at[64];
    v->asked = method;
    sockaddr_text((struct sockaddr *)&bench.server, at, sizeof(at));
    int len =
        snprintf(text, sizeof(text), "%s rtsp%s://%s/live/trackID=0 RTSP/1.0\r\nCSeq: %d\r\n%s\r\n",
                 rtsp_method_name(method), bench.pin ? "s" : "", at, method, headers);
    if (tcp_conn_send(v->tcp, text, (size_t)len) != 0)
        fail("a viewer cannot ask");
}

static void ask_setup(struct viewer *v)
{
    struct rtsp_transport offer = {.tcp = !bench.datagram,
                                   .avpf = bench.datagram,
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1}};
    snprintf(offer.weir, sizeof(offer.weir), "%s", bench.transport);
    for (int i = 0; i < 2; i++)
        if (bench.datagram)
            offer.client_port[i] = udp_socket_port(v->udp[i]);
        else
            offer.interleaved[i] = i;
    if (bench.datagram && bench.pin) {
        if (!random_fill(v->key, sizeof(v->key)))
            fail("no randomness");
        offer.savp = true;
        base64_encode(v->key, sizeof(v->key), BASE64_URL, offer.srtp);
    }
    char header[512] = "Transport: ";
    int len = rtsp_transport_encode(&offer, header + 11, sizeof(header) - 14);
    if (len < 0)
        fail("not the name of a transport");
    memcpy(header + 11 + len, "\r\n", 3);
    ask(v, RTSP_SETUP, header);
}

static void on_answer(struct viewer *v, const struct rtsp_item *item, usec_t now)
{
    if (item->status != 200)
        fail("a viewer was refused");
    if (v->asked != RTSP_SETUP)
        return;
    struct rtsp_transport given[RTSP_MAX_OFFERS];
    struct text header = rtsp_header(item, "Transport");
    if (!header.at || rtsp_transport_decode(header, given) != 1)
        fail("the answer to SETUP names no transport");
    if (bench.datagram)
        open_datagrams(v, &given[0], now);
    struct text session = rtsp_header(item, "Session");
    for (size_t i = 0; i < session.len; i++)
        if (session.at[i] == ';')
            session.len = i;
    text_copy(session, v->session, sizeof(v->session));
    char headers[96];
    snprintf(headers, sizeof(headers), "Session: %s\r\n", v->session);
    ask(v, RTSP_PLAY, headers);
    if (bench.datagram)
        show_token(v);
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct viewer *v = ctx;
    struct rtsp_item item;
    usec_t wall = clock_wall();
    size_t used = 0;
    if (bench.websocket && !v->upgraded) {
        used = on_upgrade(v, data, len);
        if (used)
            ask_setup(v);
        return (int)used;
    }
    while (used < len) {
        size_t item_len = 0;
        int err = rtsp_decode(data + used, len - used, &item, &item_len);
        if (err == ERR_AGAIN)
            break;
        if (err)
            return err;
        used += item_len;
        if (item.kind == RTSP_RESPONSE)
            on_answer(v, &item, now);
        else if (item.kind == RTSP_INTERLEAVED && item.channel == 0)
            on_rtp(v, item.data, item.data_len, wall, now);
    }
    return (int)used;
}

static void begin_tls(struct viewer *v)
{
    struct tls_trust trust = {.port = sockaddr_port((struct sockaddr *)&bench.server)};
    char at[SOCKADDR_TEXT];
    sockaddr_text((struct sockaddr *)&bench.server, at, sizeof(at));
    snprintf(trust.host, sizeof(trust.host), "%.*s", (int)strcspn(at, ":"), at);
    snprintf(trust.pin, sizeof(trust.pin), "%s", bench.pin);
    struct tcp_filter *tls = tls_client_filter_new(&trust);
    if (!tls || tcp_conn_push_filter(v->tcp, tls) != 0)
        fail("no TLS");
}

static void on_open(void *ctx, usec_t now)
{
    struct viewer *v = ctx;
    (void)now;
    if (bench.pin)
        begin_tls(v);
    if (bench.websocket)
        ask_upgrade(v);
    else
        ask_setup(v);
}

static void on_room(void *ctx, usec_t now)
{
    (void)ctx;
    (void)now;
}

static void on_close(void *ctx, int err, usec_t now)
{
    (void)ctx;
    (void)err;
    (void)now;
    fail("a viewer's connection ended");
}

// ---- The run

static void report(struct viewer *v, usec_t now)
{
    uint8_t out[4 + RTCP_MAX_PACKET];
    size_t len = rtcp_feedback_compound(&v->feedback, &v->rtp, out + 4, sizeof(out) - 4, now);
    if (bench.datagram) {
        if (!v->watches)
            show_token(v);
        send_to_rtcp(v, out + 4, len);
        return;
    }
    memcpy(out, "$\1", 2);
    out[2] = (uint8_t)(len >> 8);
    out[3] = (uint8_t)len;
    (void)tcp_conn_send(v->tcp, out, 4 + len);
}

static void add_viewer(void)
{
    static const struct tcp_conn_ops ops = {
        .on_open = on_open, .on_input = on_input, .on_room = on_room, .on_close = on_close};
    struct viewer *v = &bench.viewers[bench.count];
    struct sockaddr_storage any = bench.server;
    rtp_receiver_init(&v->rtp);
    rtcp_feedback_init(&v->feedback, (uint64_t)++bench.count << 20);
    if (bench.datagram &&
        udp_socket_pair(&bench.loop, (struct sockaddr *)&any, on_media, on_rtcp, v, v->udp) != 0)
        fail("no UDP ports");
    v->tcp =
        tcp_conn_connect(&bench.loop, (struct sockaddr *)&bench.server, RTSP_MAX_ITEM, &ops, v);
    if (!v->tcp)
        fail("a viewer cannot connect");
}

static void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

static uint64_t count_frames(void)
{
    uint64_t frames = 0;
    for (int i = 0; i < FRAMES; i++)
        frames += bench.seen[i];
    return frames;
}

static void print_result(void)
{
    uint64_t frames = count_frames();
    printf("frames %" PRIu64 " complete %" PRIu64 " late %" PRIu64, frames, bench.complete,
           bench.late);
    printf(" delay_p50 %.2f delay_p95 %.2f delay_p99 %.2f delay_max %.2f\n",
           hist_quantile_us(&bench.delay, 0.5) / 1e3, hist_quantile_us(&bench.delay, 0.95) / 1e3,
           hist_quantile_us(&bench.delay, 0.99) / 1e3, hist_max_us(&bench.delay) / 1e3);
    fflush(stdout);
}

static void on_tick(void *ctx, usec_t now)
{
    static usec_t began;
    static usec_t all_at;
    (void)ctx;
    usec_t wall = clock_wall();
    began = began ? began : now;
    timer_set(bench.tick, now + TICK);
    for (int i = 0; i < CONNECTS && bench.count < bench.wanted; i++)
        add_viewer();
    for (int i = bench.ticks++ % TICKS; i < bench.count; i += TICKS)
        if (bench.viewers[i].session[0])
            report(&bench.viewers[i], now);
    if (bench.watching < bench.wanted) {
        if (now - began > START_WITHIN)
            fail("not all viewers got a frame");
        return;
    }
    all_at = all_at ? all_at : now;
    if (!bench.begin && now - all_at >= SETTLE) {
        bench.begin = wall;
        say("begin");
    } else if (bench.begin && !bench.told_end && wall >= bench.begin + bench.seconds) {
        bench.told_end = true;
        say("end");
    } else if (bench.told_end && wall >= bench.begin + bench.seconds + GRACE) {
        bool waits = bench.complete < count_frames() * (uint64_t)bench.wanted;
        if (waits && wall < bench.begin + bench.seconds + GRACE_MAX)
            return;
        print_result();
        exit(0);
    }
}

int main(int argc, char **argv)
{
    const struct transport_kind *kind;
    const char *params;
    bench.websocket = argc > 2 && strcmp(argv[2], WEBSOCKET) == 0;
    bench.transport = bench.websocket ? PAGE_TRANSPORT : argc > 2 ? argv[2] : "";
    if (argc < 6 || argc > 7 || sockaddr_parse(argv[1], &bench.server) != 0 ||
        transport_find(bench.transport, &kind, &params) != 0 || atoi(argv[3]) < 1 ||
        atoi(argv[3]) > MAX_VIEWERS || atof(argv[4]) <= 0) {
        fprintf(stderr, "usage: bench_fanout_client ADDR:PORT TRANSPORT VIEWERS SECONDS LATE_MS "
                        "[PIN]\n");
        return 2;
    }
    bench.pin = argc == 7 ? argv[6] : NULL;
    bench.datagram = kind->datagram;
    bench.wanted = atoi(argv[3]);
    bench.seconds = (usec_t)(atof(argv[4]) * 1e6);
    bench.late_after = (usec_t)(atof(argv[5]) * 1e3);
    bench.viewers = calloc((size_t)bench.wanted, sizeof(*bench.viewers));
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    hist_init(&bench.delay);
    uv_loop_init(&bench.loop);
    bench.tick = timer_new(&bench.loop, on_tick, NULL);
    if (!bench.tick || !bench.viewers)
        fail("no memory");
    timer_set(bench.tick, clock_now());
    uv_run(&bench.loop, UV_RUN_DEFAULT);
    return 1;
}
