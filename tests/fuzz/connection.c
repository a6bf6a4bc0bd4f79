// SPDX-License-Identifier: GPL-2.0-or-later
// A whole RTSP connection of weir-send with its media, over a TCP socket pair. The input is a
// script of a viewer's actions, or of a client's that publishes: requests, interleaved frames, RTCP
// and datagrams, well-formed or not; reading or not, so that a backlog can build up; and time,
// which passes only when the script says so. Invariants: the server sends complete RTSP messages
// and interleaved RTP or RTCP, one after the other (or HTTP, to a peer that began with it), and
// frees everything when the connection ends.
//
// Nothing leaves this process: datagrams to ports other than the viewer's two are dropped.
// Functions that read clocks or random numbers are replaced at link time (CMakeLists.txt: --wrap).
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/net/clock.h"
#include "common/wire/ccfb.h"
#include "common/wire/path_token.h"
#include "common/wire/rtcp.h"
#include "common/wire/rtsp.h"
#include "sender/camera/publisher.h"
#include "sender/feed/filler_media.h"
#include "sender/feed/synthetic_media.h"
#include "server/rtsp/connection_accepted.h"
#include "server/session/catalog.h"
#include "server/session/publication.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MAX_SCRIPT = 4096,
    MAX_TEXT = 1 << 15,    // max bytes of a request
    MAX_UNSENT = 1 << 18,  // bytes that the server has not read yet
    MAX_ELAPSED = 1 << 26, // max us of an input
    TURNS = 4,             // turns of the loop after each operation
    MAX_TURNS = 20000,     // max turns per input
    TURN_TIME = 10,        // us
    SMALL_BUFFER = 2304,   // of a socket: the min of Linux
    READ_BYTES = 1 << 16,
};

// ---- Replacements of system functions

static usec_t fuzz_time = USEC_PER_SEC;

usec_t clock_now(void)
{
    return fuzz_time;
}

usec_t clock_wall(void)
{
    return 1000000000 * USEC_PER_SEC + fuzz_time;
}

void clock_wait_until(usec_t when)
{
    (void)when;
    abort(); // only threads call it, and there are none
}

void clock_cond_init(pthread_cond_t *cond)
{
    pthread_cond_init(cond, NULL);
}

void clock_identity(char out[CLOCK_MARK_TEXT])
{
    snprintf(out, CLOCK_MARK_TEXT, "fuzz");
}

static uint16_t viewer_port[2];

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
                           struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec,
                           struct itimerspec *old);
ssize_t __real_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags);

// The loop's timerfd and when it is due: it fires when the script's time reaches that.
static int timer_fd = -1;
static usec_t timer_due = USEC_NEVER;

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *spec, struct itimerspec *old)
{
    assert(flags == TFD_TIMER_ABSTIME && !old);
    (void)flags;
    (void)old;
    timer_fd = fd;
    timer_due = spec->it_value.tv_sec * USEC_PER_SEC + spec->it_value.tv_nsec / 1000;
    return 0;
}

static void fire_timer(void)
{
    if (timer_due > fuzz_time)
        return;
    timer_due = USEC_NEVER;
    __real_timerfd_settime(timer_fd, 0, &(struct itimerspec){.it_value = {.tv_nsec = 1}}, NULL);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
    const struct sockaddr_in *to = msg->msg_name;
    ssize_t bytes = 0;
    for (size_t i = 0; i < msg->msg_iovlen; i++)
        bytes += (ssize_t)msg->msg_iov[i].iov_len;
    if (to && ntohs(to->sin_port) != viewer_port[0] && ntohs(to->sin_port) != viewer_port[1])
        return bytes;
    return __real_sendmsg(fd, msg, flags);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    for (unsigned i = 0; i < count; i++)
        (void)__wrap_sendmsg(fd, &messages[i].msg_hdr, flags);
    return (int)count;
}

// For a name that the kernel does not know it would try to load a module.
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    if (level == IPPROTO_TCP && name == TCP_CONGESTION &&
        (len != 5 || memcmp(value, "cubic", 5) != 0)) {
        errno = ENOENT;
        return -1;
    }
    return __real_setsockopt(fd, level, name, value, len);
}

static const uint64_t TOKEN = 0x0101010101010101;

ssize_t __wrap_getrandom(void *out, size_t len, unsigned flags)
{
    (void)flags;
    memset(out, 1, len);
    return (ssize_t)len;
}

// ---- The world

struct world;

// What the client publishes, and the camera's end of it, on the same loop.
struct published {
    struct publication base; // first
    struct world *world;
    struct publication_config config;
    struct publisher *publisher;
    struct camera_link *link; // owned; NULL: RECORD has not come
    bool is_over;             // the link has ended
};

struct world {
    uv_loop_t loop;
    struct stream stream;
    struct catalog *catalog;
    struct published *published; // owned by the connection; NULL: nothing is announced
    uint16_t seq[2];             // of what is published, by track
    uint32_t stamp;
    struct connection_accepted *connection; // NULL after it has ended
    int fd;                                 // the viewer's end
    usec_t next_second;
    usec_t elapsed;
    int turns; // turns of the loop
    int cseq;
    char session[32];
    int server_port[2]; // of media in datagrams; 0: none
    uint16_t newest;    // highest sequence number received
    uint32_t ssrc;      // SSRC of the newest media packet
    uint8_t *unsent;    // owned; MAX_UNSENT bytes
    size_t unsent_len;
    uint8_t *got; // received bytes of an incomplete item: RTSP_MAX_ITEM + READ_BYTES
    size_t got_len;
    bool has_spoken, is_http; // as its first bytes say
};

// ---- What is published

static void on_described(void *ctx, const struct sdp *sdp, const char *audio_codec, usec_t now)
{
    (void)ctx, (void)audio_codec, (void)now;
    assert(sdp_has_pictures(sdp));
    (void)sdp;
}

static void on_stamp(void *ctx, uint32_t rtp_timestamp, usec_t now)
{
    (void)ctx, (void)rtp_timestamp, (void)now;
}

static void on_frame(void *ctx, struct received_frame *f, usec_t now)
{
    struct published *p = ctx;
    assert(!p->is_over && f->bytes > 0);
    p->link->kind->picture(p->link, f->rtp_timestamp, now, now);
    received_frame_free(f);
}

static void on_audio(void *ctx, const struct received_audio *a, usec_t now)
{
    (void)a, (void)now;
    assert(!((struct published *)ctx)->is_over);
    (void)ctx;
}

static void on_report(void *ctx, usec_t wall, uint32_t rtp_timestamp)
{
    (void)ctx, (void)wall, (void)rtp_timestamp;
}

static void on_link_end(void *ctx, int status, const char *why, usec_t now)
{
    struct published *p = ctx;
    (void)status, (void)why, (void)now;
    assert(!p->is_over);
    p->is_over = true;
}

static void on_begun(void *ctx, usec_t now)
{
    const struct published *p = ctx;
    p->config.events->on_begun(p->config.ctx, now);
}

static void on_over(void *ctx, const char *why, usec_t now)
{
    const struct published *p = ctx;
    p->config.events->on_over(p->config.ctx, why, now);
}

static void send_rtcp(void *ctx, enum media_track track, const uint8_t *data, size_t len)
{
    const struct published *p = ctx;
    p->config.events->send_rtcp(p->config.ctx, track, data, len);
}

static void begin_published(struct publication *base, bool datagram, usec_t now)
{
    static const struct camera_link_ops ops = {.on_described = on_described,
                                               .on_stamp = on_stamp,
                                               .on_frame = on_frame,
                                               .on_audio = on_audio,
                                               .on_report = on_report,
                                               .on_end = on_link_end};
    struct published *p = (struct published *)base;
    (void)now;
    assert(!p->link); // it begins once
    publisher_set_datagram(p->publisher, datagram);
    p->link = publisher_link_new(&(struct publisher_link_config){.publisher = p->publisher,
                                                                 .loop = &p->world->loop,
                                                                 .has_audio = true,
                                                                 .ops = &ops,
                                                                 .ctx = p});
    assert(p->link);
}

static void take_published(struct publication *base, enum media_track track, bool rtcp,
                           const uint8_t *data, size_t len, usec_t arrived)
{
    struct published *p = (struct published *)base;
    assert(p->link); // after on_begun
    publisher_packet(p->publisher, track, rtcp, data, len, arrived);
}

static void end_published(struct publication *base, const char *why, usec_t now)
{
    struct published *p = (struct published *)base;
    if (p->link)
        p->link->kind->free(p->link, now);
    publisher_end(p->publisher, why);
    p->world->published = NULL;
    free(p);
}

static struct world *current; // the only one

static int publish(struct catalog *c, const char *url_path, const struct publication_config *config,
                   struct publication **out, struct media_refusal *refusal)
{
    static const struct publication_ops ops = {
        .begin = begin_published, .packet = take_published, .end = end_published};
    (void)c, (void)url_path;
    if (current->published) {
        *refusal = (struct media_refusal){.status = 503, .text = "it has a client"};
        return CATALOG_REFUSED;
    }
    struct published *p = calloc(1, sizeof(*p));
    assert(p);
    *p = (struct published){.base.ops = &ops, .world = current, .config = *config};
    p->publisher = publisher_new(&(struct publisher_config){.loop = &current->loop,
                                                            .name = "fuzz",
                                                            .sdp = config->sdp,
                                                            .on_begun = on_begun,
                                                            .on_over = on_over,
                                                            .send_rtcp = send_rtcp,
                                                            .ctx = p});
    assert(p->publisher);
    current->published = p;
    *out = &p->base;
    return 0;
}

// The catalog of one stream, to which clients can publish, too.
static struct catalog *catalog_of(struct stream *stream)
{
    static struct catalog_ops ops;
    struct catalog *c = catalog_new_one("/live", stream);
    assert(c);
    ops = *c->ops;
    ops.publish = publish;
    c->ops = &ops;
    return c;
}

// ---- Sockets

static int listener = -1;
static int media[2] = {-1, -1}; // the viewer's sockets for datagrams

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int bound(int type)
{
    int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = loopback(0);
    int err = bind(fd, (struct sockaddr *)&at, sizeof(at));
    assert(fd >= 0 && !err);
    (void)err;
    return fd;
}

static struct sockaddr_in address_of(int fd)
{
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    getsockname(fd, (struct sockaddr *)&at, &len);
    return at;
}

static void open_once(void)
{
    if (listener >= 0)
        return;
    signal(SIGPIPE, SIG_IGN);
    listener = bound(SOCK_STREAM);
    listen(listener, 1);
    for (int i = 0; i < 2; i++) {
        media[i] = bound(SOCK_DGRAM);
        viewer_port[i] = ntohs(address_of(media[i]).sin_port);
    }
}

static void on_end(void *ctx, struct connection_accepted *c)
{
    struct world *w = ctx;
    assert(w->connection == c);
    connection_accepted_free(c, fuzz_time);
    w->connection = NULL;
}

// Returns the server's end.
static int connect_pair(struct world *w, bool small)
{
    struct sockaddr_in to = address_of(listener);
    int bytes = SMALL_BUFFER, segment = 536;
    w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (small) {
        setsockopt(w->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        setsockopt(w->fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof(segment));
    }
    // Avoids TIME_WAIT: thousands of connections per second would use up the ports.
    setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    int err = connect(w->fd, (struct sockaddr *)&to, sizeof(to));
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert(!err && fd >= 0);
    (void)err;
    if (small)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    int one = 1;
    setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void open_world(struct world *w, uint8_t how)
{
    struct synthetic synthetic;
    int err = uv_loop_init(&w->loop);
    assert(!err);
    (void)err;
    struct stream_media *media;
    switch (how & 3) {
    case 0:
        synthetic_goddard(&synthetic);
        media = synthetic_media_new(&synthetic);
        break;
    case 1:
        (void)synthetic_parse("layers:4,1024", &synthetic);
        media = synthetic_media_new(&synthetic);
        break;
    case 2:
        media = filler_media_new(SDP_SOURCE_STEADY, 2000000);
        break;
    default:
        media = filler_media_new(SDP_SOURCE_GREEDY, 2000000);
    }
    assert(media);
    stream_init(&w->stream, media, NULL);
    err = stream_start(&w->stream, &w->loop);
    assert(!err);
    current = w;
    w->catalog = catalog_of(&w->stream);
    w->unsent = malloc(MAX_UNSENT);
    w->got = malloc(RTSP_MAX_ITEM + READ_BYTES);
    assert(w->catalog && w->unsent && w->got);
    struct connection_accepted_config config = {.loop = &w->loop,
                                                .catalog = w->catalog,
                                                .program = "weir-send",
                                                .on_end = on_end,
                                                .ctx = w};
    w->connection = connection_accepted_new(connect_pair(w, how & 4), &config, fuzz_time);
    assert(w->connection);
    w->next_second = fuzz_time + USEC_PER_SEC;
}

static void close_world(struct world *w)
{
    connection_accepted_free(w->connection, fuzz_time);
    timer_due = USEC_NEVER;
    close(w->fd);
    w->catalog->ops->free(w->catalog);
    stream_destroy(&w->stream);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    int err = uv_loop_close(&w->loop);
    assert(!err); // every handle was closed
    (void)err;
    free(w->unsent);
    free(w->got);
}

// ---- From the server

static void take_answer(struct world *w, const struct rtsp_item *r)
{
    struct text session = rtsp_header(r, "Session"), transport = rtsp_header(r, "Transport");
    assert(r->status >= 200 && r->status < 600);
    if (session.at && transport.at) {
        text_copy(session, w->session, sizeof(w->session));
        w->session[strcspn(w->session, ";")] = '\0';
        char text[512];
        text_copy(transport, text, sizeof(text));
        const char *port = strstr(text, "server_port=");
        if (port && sscanf(port, "server_port=%d-%d", &w->server_port[0], &w->server_port[1]) != 2)
            w->server_port[0] = w->server_port[1] = 0;
    }
}

static void take_media(struct world *w, const uint8_t *data, size_t len)
{
    assert(len >= 8 && data[0] >> 6 == 2); // RTP or RTCP
    if (rtcp_is(data, len) || len < 12)
        return;
    w->newest = load_be16(data + 2);
    w->ssrc = load_be32(data + 8);
}

static void take_items(struct world *w)
{
    size_t at = 0, used;
    struct rtsp_item item;
    int err;
    if (!w->has_spoken && w->got_len >= 5) {
        w->has_spoken = true;
        w->is_http = memcmp(w->got, "HTTP/", 5) == 0;
    }
    if (w->is_http) { // fuzz_web looks into that
        w->got_len = 0;
        return;
    }
    while ((err = rtsp_decode(w->got + at, w->got_len - at, &item, &used)) == 0) {
        at += used;
        if (item.kind == RTSP_RESPONSE)
            take_answer(w, &item);
        else if (item.kind == RTSP_INTERLEAVED)
            take_media(w, item.data, item.data_len);
        else
            assert(item.method == RTSP_TEARDOWN);
    }
    assert(err == ERR_AGAIN);
    w->got_len -= at;
    memmove(w->got, w->got + at, w->got_len);
}

static void read_some(struct world *w, size_t bytes)
{
    ssize_t n = recv(w->fd, w->got + w->got_len, bytes, MSG_DONTWAIT);
    if (n <= 0)
        return;
    w->got_len += (size_t)n;
    take_items(w);
}

static void read_datagrams(struct world *w)
{
    uint8_t data[2048];
    for (int i = 0; i < 2; i++)
        for (ssize_t n; (n = recv(media[i], data, sizeof(data), 0)) > 0;)
            if (n >= 12 && data[0] >> 6 == 2 && !rtcp_is(data, (size_t)n))
                take_media(w, data, (size_t)n);
}

// ---- To the server

static void flush(struct world *w)
{
    ssize_t n = send(w->fd, w->unsent, w->unsent_len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0)
        return;
    w->unsent_len -= (size_t)n;
    memmove(w->unsent, w->unsent + n, w->unsent_len);
}

static void say(struct world *w, const void *data, size_t len)
{
    if (w->unsent_len + len > MAX_UNSENT)
        return; // sent whole or not at all
    memcpy(w->unsent + w->unsent_len, data, len);
    w->unsent_len += len;
    flush(w);
}

static void say_frame(struct world *w, uint8_t channel, const uint8_t *data, size_t len)
{
    uint8_t frame[4 + 65535] = {'$', channel};
    store_be16(frame + 2, (uint16_t)len);
    memcpy(frame + 4, data, len);
    say(w, frame, 4 + len);
}

static void say_datagram(struct world *w, int which, const uint8_t *data, size_t len)
{
    struct sockaddr_in to = loopback(w->server_port[which]);
    if (w->server_port[which] > 0 && w->server_port[which] < 65536)
        (void)sendto(media[which], data, len, 0, (struct sockaddr *)&to, sizeof(to));
}

// Returns the next byte; 0 after the end.
static uint8_t next(struct bytes *in)
{
    return bytes_left(in) ? bytes_u8(in) : 0;
}

static size_t rest(const struct bytes *in, size_t most)
{
    return bytes_left(in) < most ? bytes_left(in) : most;
}

#define PICK(table, which) (table)[(which) % (sizeof(table) / sizeof((table)[0]))]

static const char *const urls[] = {
    "/live",
    "/live/trackID=0",
    "/live/trackID=0?level=0",
    "/live?level=99",
    "/",
    "/live/trackID=1",
    "/nothing",
    "*",
    "/live/%00",
};

// %d: the viewer's ports.
static const char *const offers[] = {
    "RTP/AVP/TCP;unicast;interleaved=0-1",
    "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf",
    "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:1,1",
    "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=minbuf:auto,50",
    "RTP/AVP/TCP;unicast;interleaved=0-1;x-weir=tcp",
    "RTP/AVP/TCP;unicast;interleaved=4-4;x-weir=tcp:notsent=1;x-cc=cubic",
    "RTP/AVP/TCP;unicast;interleaved=255-0;x-weir=mtp-raw,RTP/AVP/TCP;unicast;interleaved=255",
    "RTP/AVP;unicast;client_port=%d-%d",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=udp;x-weir-repair=resend",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=psp",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=psp-plain",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=tfrc;x-weir-repair=auto",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=arc",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=mtp;x-weir-repair=fec",
    "RTP/AVPF/UDP;unicast;client_port=%d-%d;x-weir=mtp:fill,1,1",
    "RTP/AVP/TCP;unicast;mode=record;interleaved=300-7",
};

static const char *const bodies[] = {
    "",
    "clock\r\ntransport\r\nlevel\r\n",
    "level: 0\r\n",
    "level: 5\r\n",
    "level: 77\r\n",
    "latency: 20\r\n",
    "latency: 60000\r\n",
    "adapt: sender\r\n",
    "adapt: none\r\n",
    "capacity-probe: 1\r\n",
    "junk",
    "level: 1\r\nlatency: 1000\r\nplayout: 250\r\nmax-rate: 500000\r\nadapt: none\r\nlevel: 0\r\n",
};

static const char *const extras[] = {
    "",
    "Range: npt=now-\r\n",
    "Range: npt=0-\r\n",
    "Range: npt=5-4\r\n",
    "Speed: 4\r\n",
    "Speed: 0.25\r\n",
    "Speed: nan\r\n",
    "Require: x\r\n",
    "Accept: application/sdp\r\n",
};

static void say_request(struct world *w, struct bytes *in, int times)
{
    static const char *const methods[] = {
        "SETUP",    "PLAY",     "GET_PARAMETER", "SET_PARAMETER", "PAUSE",
        "TEARDOWN", "DESCRIBE", "OPTIONS",       "ANNOUNCE",
    };
    uint8_t method = next(in), detail = next(in), odd = next(in);
    const char *name = PICK(methods, method);
    char text[MAX_TEXT], transport[256] = "", session[64] = "", body[MAX_TEXT / 2] = "";
    if (strcmp(name, "SETUP") == 0) {
        char offer[200];
        // A format of the table, with two numbers or none.
        const char *format = PICK(offers, detail);
        const char *ports = strstr(format, "%d-%d");
        if (ports)
            snprintf(offer, sizeof(offer), "%.*s%d-%d%s", (int)(ports - format), format,
                     viewer_port[0], viewer_port[1], ports + 5);
        else
            snprintf(offer, sizeof(offer), "%s", format);
        snprintf(transport, sizeof(transport), "Transport: %s\r\n", offer);
    } else if (strstr(name, "_PARAMETER")) {
        const char *line = PICK(bodies, detail);
        // A large request: its response is up to ten times as long.
        int lines = odd & 16 ? 500 : 1;
        for (int i = 0; i < lines && strlen(body) + strlen(line) < sizeof(body); i++)
            strcat(body, odd & 32 ? "clock\r\n" : line);
    }
    if (w->session[0] && !(odd & 1))
        snprintf(session, sizeof(session), "Session: %s\r\n", w->session);
    else if (odd & 2)
        snprintf(session, sizeof(session), "Session: 1\r\n");
    for (int i = 0; i < times; i++) {
        char cseq[32];
        snprintf(cseq, sizeof(cseq), "CSeq: %d\r\n", ++w->cseq);
        int len =
            snprintf(text, sizeof(text),
                     "%s rtsp://127.0.0.1%s RTSP/1.0\r\n%s%s%s%sContent-Length: %zu\r\n\r\n%s",
                     name, PICK(urls, (odd & 64) ? method ^ detail : odd >> 7), odd & 4 ? "" : cseq,
                     session, transport, odd & 8 ? PICK(extras, detail) : "", strlen(body), body);
        say(w, text, (size_t)len);
    }
}

// Sends a compound about the newest media, by the transport of that media.
static void say_rtcp(struct world *w, struct bytes *in, bool datagram)
{
    uint8_t kind = next(in), a = next(in), b = next(in);
    uint8_t out[RTCP_MAX_PACKET];
    size_t len = 0;
    struct rtcp_item item = {.ssrc = 1, .media_ssrc = w->ssrc};
    uint16_t seq = (uint16_t)(w->newest - (int8_t)a);
    struct ccfb f = {.ssrc = 1, .media_ssrc = w->ssrc, .begin_seq = seq, .count = b};
    switch (kind % 6) {
    case 0:
        item.kind = RTCP_IS_RR;
        item.report_count = 1;
        item.reports[0] = (struct rtcp_report){.ssrc = w->ssrc,
                                               .fraction_lost = a,
                                               .lost = b,
                                               .highest_seq = w->newest,
                                               .lsr = (uint32_t)next(in) << 16,
                                               .dlsr = next(in)};
        break;
    case 1:
        item.kind = RTCP_IS_PLI;
        break;
    case 2:
        item.kind = RTCP_IS_NACK;
        item.nack_count = 1 + b % RTCP_MAX_NACKS;
        for (int i = 0; i < item.nack_count; i++)
            item.nacks[i] = (struct rtcp_nack){(uint16_t)(seq + 17 * i), (uint16_t)(b * 257)};
        break;
    case 3:
        item.kind = RTCP_IS_BYE;
        break;
    case 4:
        item.kind = RTCP_IS_OTHER;
        f.timestamp = ccfb_timestamp(fuzz_time);
        for (int i = 0; i < f.count; i++)
            f.metric[i] = (struct ccfb_metric){.received = kind & 64 || (a >> (i & 7) & 1),
                                               .ecn = kind >> 7 ? 3 : 0,
                                               .offset = (uint16_t)(f.count - i)};
        (void)ccfb_append(&f, out, sizeof(out), &len);
        break;
    default:
        len = rest(in, b);
        memcpy(out, bytes_take(in, len), len);
        item.kind = RTCP_IS_OTHER;
    }
    if (item.kind != RTCP_IS_OTHER)
        (void)rtcp_append(&item, out, sizeof(out), &len);
    if (datagram)
        say_datagram(w, 1, out, len);
    else
        say_frame(w, 1, out, len);
}

static void say_to_media(struct world *w, struct bytes *in, unsigned arg)
{
    uint8_t out[256];
    int which = arg & 1;
    if (arg & 2) {
        path_token_encode(1, TOKEN, out);
        say_datagram(w, which, out, PATH_TOKEN_BYTES);
        return;
    }
    size_t len = rest(in, next(in));
    say_datagram(w, which, bytes_take(in, len), len);
}

// ---- A client that publishes

static const char *const announced[] = {
    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\n"
    "a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;sprop-parameter-sets="
    "Z0LAHtkDxWhAAAADAEAAAAwDxYuS,aMuMsg==\r\na=control:streamid=0\r\n"
    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\na=control:streamid=1\r\n",
    "v=0\r\nm=video 0 RTP/AVPF 96\r\na=rtpmap:96 H264/90000\r\na=rtcp-fb:* nack pli\r\n",
    "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H265/90000\r\na=control:streamid=0\r\n"
    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/44100/2\r\na=fmtp:97 streamtype=5;"
    "mode=AAC-hbr;config=1210;sizelength=13;indexlength=3;indexdeltalength=3\r\n"
    "a=control:streamid=1\r\n",
    "v=0\r\nm=video 0 RTP/AVP 26\r\na=control:streamid=0\r\n",
    "v=0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 VP9/90000\r\na=x-source: test\r\n",
    "v=0\r\nm=audio 0 RTP/AVP 8\r\n",
};

static void say_publishing(struct world *w, const char *method, const char *url, const char *header,
                           const void *body, size_t len)
{
    char text[1024], session[64] = "";
    if (w->session[0] && strcmp(method, "ANNOUNCE") != 0)
        snprintf(session, sizeof(session), "Session: %s\r\n", w->session);
    int n =
        snprintf(text, sizeof(text),
                 "%s rtsp://127.0.0.1%s RTSP/1.0\r\nCSeq: %d\r\n%s%sContent-Length: %zu\r\n\r\n",
                 method, url, ++w->cseq, session, header, len);
    say(w, text, (size_t)n);
    say(w, body, len);
}

static void say_record_setup(struct world *w, uint8_t how)
{
    static const char *const tracks[] = {"/live/streamid=0", "/live/streamid=1", "/live",
                                         "/live/streamid=7"};
    char header[160];
    int channel = how & 1 ? 2 : 0;
    if (how & 64)
        snprintf(header, sizeof(header),
                 "Transport: RTP/AVP;unicast;client_port=%d-%d;mode=record\r\n", viewer_port[0],
                 viewer_port[1]);
    else
        snprintf(header, sizeof(header),
                 "Transport: RTP/AVP/TCP;unicast;interleaved=%d-%d;mode=record\r\n", channel,
                 channel + (how & 128 ? 0 : 1));
    say_publishing(w, "SETUP", PICK(tracks, how & 3), header, "", 0);
}

// Sends one RTP packet, with the head of a NAL unit or of one cut in pieces, or any bytes.
static void say_published(struct world *w, struct bytes *in)
{
    // Single units of H.264 (SPS, PPS, IDR, slice), STAP-A, first, middle and last piece of an IDR;
    // H.265 (IDR, VPS, piece); JPEG.
    static const uint8_t heads[][8] = {
        {0x67, 0x42, 0xc0, 0x1e, 0xd9, 3, 0xc5, 0x68},
        {0x68, 0xcb, 0x8c, 0xb2, 0, 0, 0, 0},
        {0x65, 0x88, 0x84, 0, 0, 0, 0, 0},
        {0x41, 0x9a, 0, 0, 0, 0, 0, 0},
        {0x78, 0, 4, 0x67, 0x42, 0xc0, 0x1e, 0},
        {0x7c, 0x85, 0x88, 0x84, 0, 0, 0, 0},
        {0x7c, 5, 0, 0, 0, 0, 0, 0},
        {0x7c, 0x45, 0, 0, 0, 0, 0, 0},
        {0x26, 1, 0xaf, 0, 0, 0, 0, 0},
        {0x40, 1, 0xc, 1, 0, 0, 0, 0},
        {0x62, 1, 0x93, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 1, 60, 40, 30},
    };
    uint8_t how = next(in), kind = next(in), out[512] = {0x80};
    int track = how & 1;
    if (how & 2)
        w->stamp += 3600;
    if (how & 4)
        w->seq[track]++; // one is lost
    if (how & 8)
        w->stamp = (uint32_t)next(in) << 24;
    out[1] = (uint8_t)((track ? 97 : 96) | (how & 16 ? 128 : 0));
    store_be16(out + 2, w->seq[track]++);
    store_be32(out + 4, w->stamp);
    store_be32(out + 8, how & 32 ? next(in) : 7);
    size_t len = 12;
    if (!(how & 64)) {
        memcpy(out + len, PICK(heads, kind), sizeof(heads[0]));
        len += sizeof(heads[0]);
    }
    size_t more = rest(in, next(in));
    memcpy(out + len, bytes_take(in, more), more);
    if (how & 128)
        say_datagram(w, 0, out, len + more);
    else
        say_frame(w, (uint8_t)(2 * track), out, len + more);
}

// Sends a sender report, as one that names the wall clock of the media.
static void say_sender_report(struct world *w, struct bytes *in)
{
    uint8_t out[28] = {0x80, 200, 0, 6};
    int track = next(in) & 1;
    store_be32(out + 4, 7);
    store_be32(out + 8, (uint32_t)(clock_wall() / USEC_PER_SEC + 2208988800 + next(in)));
    store_be32(out + 16, w->stamp);
    say_frame(w, (uint8_t)(2 * track + 1), out, sizeof(out));
}

static void act_published(struct world *w, struct bytes *in, unsigned arg)
{
    struct camera_link *link = w->published && !w->published->is_over ? w->published->link : NULL;
    const char *sdp;
    size_t len;
    switch (arg) {
    case 0:
        sdp = PICK(announced, next(in));
        say_publishing(w, "ANNOUNCE", "/live", "Content-Type: application/sdp\r\n", sdp,
                       strlen(sdp));
        break;
    case 1:
        len = rest(in, (size_t)next(in) * 8);
        say_publishing(w, "ANNOUNCE", "/live", "", bytes_take(in, len), len);
        break;
    case 2:
    case 3:
        say_record_setup(w, next(in));
        break;
    case 4:
        say_publishing(w, "RECORD", "/live", "Range: npt=0-\r\n", "", 0);
        break;
    case 5:
        say_publishing(w, "TEARDOWN", "/live", "", "", 0);
        break;
    case 6:
        say_sender_report(w, in);
        break;
    case 7: // the camera's end
        if (link && next(in) & 1)
            link->kind->request_key(link, fuzz_time);
        else if (link && next(in) & 1)
            link->kind->second(link, fuzz_time);
        else if (link)
            link->kind->give_up(link, "fuzz", fuzz_time);
        break;
    default:
        for (unsigned i = 8; i <= arg; i++)
            say_published(w, in);
    }
}

// ---- Time

static void run_loop(struct world *w)
{
    flush(w);
    w->turns += TURNS;
    for (int i = 0; i < TURNS; i++) {
        fuzz_time += TURN_TIME; // a timer set for now fires at a later instant
        fire_timer();
        uv_run(&w->loop, UV_RUN_NOWAIT);
    }
}

// Time passes at once, as for a process that was stopped.
static void leap(struct world *w, usec_t by)
{
    by = usec_min(by, MAX_ELAPSED - w->elapsed);
    w->elapsed += by;
    fuzz_time += by;
    if (w->connection && fuzz_time >= w->next_second) {
        w->next_second = fuzz_time + USEC_PER_SEC;
        connection_accepted_second(w->connection, fuzz_time);
    }
}

static void pass(struct world *w, usec_t by)
{
    for (usec_t step; by > 0 && w->turns < MAX_TURNS; by -= step) {
        usec_t due = usec_min(timer_due, w->next_second) - fuzz_time;
        step = usec_min(by, usec_max(due, USEC_PER_MSEC));
        leap(w, step);
        run_loop(w);
    }
}

// ---- The script

// Returns false if the viewer leaves.
static bool act(struct world *w, struct bytes *in)
{
    unsigned op = bytes_u8(in);
    unsigned arg = op >> 4;
    size_t len;
    switch (op & 15) {
    case 0:
    case 1:
        say_request(w, in, 1);
        break;
    case 2:
        say_request(w, in, 4 + 4 * (int)arg);
        break;
    case 3:
        len = rest(in, next(in));
        say(w, bytes_take(in, len), len);
        break;
    case 4:
        len = rest(in, next(in));
        say_frame(w, (uint8_t)arg, bytes_take(in, len), len);
        break;
    case 5:
    case 6:
        say_rtcp(w, in, arg & 1);
        break;
    case 7:
        say_to_media(w, in, arg);
        break;
    case 8:
        read_some(w, (size_t)1 << arg);
        break;
    case 9:
        for (unsigned i = 0; i <= arg; i++) {
            read_some(w, READ_BYTES);
            run_loop(w);
        }
        read_datagrams(w);
        break;
    case 10:
    case 11:
        pass(w, USEC_PER_MSEC << arg);
        return true;
    case 12:
        leap(w, USEC_PER_MSEC << arg);
        break;
    case 13:
        if (arg == 1)
            shutdown(w->fd, SHUT_WR);
        else if (arg == 2 && w->connection)
            connection_accepted_finish(w->connection, fuzz_time);
        else if (arg == 3)
            return false;
        break;
    case 15:
        act_published(w, in, arg);
        break;
    default: // watches for a while
        for (unsigned i = 0; i <= arg; i++) {
            pass(w, 20 * USEC_PER_MSEC);
            read_some(w, READ_BYTES);
            read_datagrams(w);
        }
    }
    run_loop(w);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > MAX_SCRIPT)
        return 0;
    open_once();
    struct world *w = calloc(1, sizeof(*w));
    assert(w);
    fuzz_time = USEC_PER_SEC;
    timer_due = USEC_NEVER;
    struct bytes in = bytes_of(data, size);
    read_datagrams(w);
    open_world(w, bytes_u8(&in));
    while (bytes_left(&in) && w->turns < MAX_TURNS && act(w, &in))
        ;
    for (int i = 0; i < 8; i++) { // also reads the remaining output
        read_some(w, READ_BYTES);
        run_loop(w);
    }
    close_world(w);
    free(w);
    return 0;
}
