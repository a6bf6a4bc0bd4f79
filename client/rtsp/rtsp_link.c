// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/rtsp/rtsp_link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/receive/media_receiver.h"
#include "client/rtsp/link_tls.h"
#include "client/rtsp/resolver.h"
#include "client/rtsp/rtsp_attach.h"
#include "client/rtsp/rtsp_hash.h"
#include "client/rtsp/rtsp_standby.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/clock.h"
#include "common/net/own_addresses.h"
#include "common/net/random.h"
#include "common/net/raw_tcp.h"
#include "common/net/tcp_conn.h"
#include "common/net/timer.h"
#include "common/transport/transport_list.h"
#include "common/wire/rtsp.h"
#include "media/stored/policy/stored_plan.h"
#include "stream/abr/film_table_parts.h"

enum { FLIGHT_BYTES = 16 << 10 }; // more than the requests of a channel change

enum { SECOND_NETWORK = 64 }; // bytes of an interface's name or an address, with NUL

#define CONNECT_TIMEOUT (5 * USEC_PER_SEC)
#define ADDRESS_LOOK    (100 * USEC_PER_MSEC) // between two looks at the local address
#define ADDRESS_BACK    USEC_PER_SEC          // an address that is gone may return until then
#define TABLE_RETRY     (300 * USEC_PER_MSEC)
#define ADDRESS_TIMEOUT (2 * USEC_PER_SEC) // to connect, while the host has further addresses

// It reads nothing: the next link does. If it ends meanwhile, that link cannot send.
struct rtsp_spare {
    struct tcp_conn *conn; // owned
    bool has_media;        // media was sent over it
    char host[URL_MAX_HOST];
    int port;
    char user[URL_MAX_USER];
    char password[URL_MAX_USER];
    struct link_tls tls;
    struct rtsp_client_before before;
};

struct rtsp_link {
    uv_loop_t *loop;                 // borrowed
    const struct rtsp_link_ops *ops; // static
    void *ctx;                       // borrowed
    rtsp_link_packet_fn *on_packet;  // static
    void *packet_ctx;                // borrowed
    struct rtsp_client *rtsp;        // owned
    char host[URL_MAX_HOST];
    int port;
    char user[URL_MAX_USER]; // of the URL, as is the password
    char password[URL_MAX_USER];
    struct link_tls tls;
    char cc[16];
    char repair[RTSP_MAX_NAME];
    bool srtp;
    char second[SECOND_NETWORK]; // empty: none
    struct resolver *resolver;   // owned
    struct sockaddr_storage addresses[RESOLVER_MAX_ADDRESSES];
    int address_count;
    int address_next;
    struct tcp_conn *conn; // owned
    bool closed;           // `conn` has ended
    usec_t broken;         // it ended then, and another one may continue the session; 0: not
    int broken_by;         // ERR_IO: it failed; ERR_CLOSED: the server closed it
    bool attaches;
    struct attach_watch watch;
    struct rtsp_attach *attach; // owned; an attempt; NULL: none is in progress
    usec_t homeless;            // the local address of `conn` is gone since then; 0: it is not
    usec_t look_at;             // at that, again
    struct rtsp_spare *spare;   // owned; `conn` was its, and is read from the timer on; NULL: it is
    struct timer *timer;        // owned
    usec_t deadline;            // deadline to connect
    bool redirected;            // a connection to `host` will replace `conn`
    struct mtp_raw_receiver *raw; // borrowed; NULL: not possible
    const char *no_raw;           // reason why raw transports are not possible; static or
                                  // `raw_failure`
    char raw_failure[256];
    char *flight; // owned; requests that leave in one write; NULL: each leaves at once
    size_t flight_len;
    uint32_t ssrc; // our SSRC
    struct media_receiver path;
    bool has_path;                  // `path` must be destroyed
    struct film_table_fetch *table; // owned; NULL: none is awaited
    usec_t table_at;                // the next part is requested then; USEC_NEVER: one is awaited
    usec_t table_limit;
};

// Returns true if another connection may continue the session.
static bool can_attach(const struct rtsp_link *l)
{
    return l->attaches && l->conn && l->has_path && !l->redirected &&
           !media_receiver_connects(&l->path) && rtsp_client_can_attach(l->rtsp);
}

static bool on_datagrams(const struct rtsp_link *l)
{
    return l->path.datagram || l->path.beside.in_use;
}

// Returns true if it matters whether this machine has the local address.
static bool looks(const struct rtsp_link *l)
{
    return l->attaches && l->conn && !l->closed && l->has_path && rtsp_client_takes_media(l->rtsp);
}

static struct attach_signs signs(const struct rtsp_link *l)
{
    struct attach_signs s;
    rtsp_client_signs(l->rtsp, &s);
    s.is_gone = l->broken || l->homeless;
    return s;
}

static usec_t next_attach(const struct rtsp_link *l)
{
    bool is_over = l->broken && l->broken_by == ERR_CLOSED && !l->attach;
    if (is_over || (l->attach && rtsp_attach_has_ended(l->attach)))
        return 0;
    if (!can_attach(l))
        return l->attach || l->broken ? 0 : looks(l) ? l->look_at : USEC_NEVER;
    struct attach_signs s = signs(l);
    return usec_min(l->look_at, attach_watch_next_timeout(&l->watch, &s));
}

// Sets the timer to the next deadline, of connecting or of the RTSP session.
static void arm(struct rtsp_link *l)
{
    usec_t when = rtsp_client_next_timeout(l->rtsp);
    if (rtsp_client_is_connecting(l->rtsp))
        when = usec_min(when, l->deadline);
    if (l->table)
        when = usec_min(when, usec_min(l->table_at, l->table_limit));
    when = usec_min(when, next_attach(l));
    timer_set(l->timer, when);
}

// ---- Connecting ----

static void fail(struct rtsp_link *l, enum rtsp_client_end end, const char *text, usec_t now)
{
    rtsp_client_fail(l->rtsp, end, text, now);
    arm(l);
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct rtsp_link *l = ctx;
    int used = rtsp_client_input(l->rtsp, data, len, clock_wall(), now);
    arm(l);
    return used;
}

// What the client sends waits for the end of TLS's handshake.
static void on_open(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    if (!link_tls_open(&l->tls, l->conn, l->host, l->port)) {
        fail(l, RTSP_CLIENT_INTERNAL, "cannot set up TLS", now);
        return;
    }
    rtsp_client_connected(l->rtsp, now);
    arm(l);
}

static void connect_next(struct rtsp_link *l, usec_t now);

static void on_close(void *ctx, int err, usec_t now)
{
    struct rtsp_link *l = ctx;
    l->closed = true;
    if (l->redirected)
        return; // the timer closes the connection
    if (rtsp_client_is_connecting(l->rtsp)) {
        connect_next(l, now);
        return;
    }
    // A server that continues the session elsewhere closes this one, maybe before its answer is
    // read.
    bool may_go_on = (err == ERR_IO || (err == ERR_CLOSED && l->attach)) && can_attach(l) &&
                     !attach_watch_is_over(&l->watch, now, now);
    // Datagrams that came before the end are read first: a BYE says why the server ends.
    bool has_datagrams = err == ERR_CLOSED && l->attaches && on_datagrams(l);
    if (may_go_on || has_datagrams) {
        l->broken = now;
        l->broken_by = err;
        arm(l);
        return;
    }
    char text[1024];
    if (link_tls_refused(&l->tls, l->conn, l->host, l->port, text, sizeof(text)))
        rtsp_client_fail(l->rtsp, RTSP_CLIENT_REFUSED, text, now);
    else
        rtsp_client_closed(l->rtsp, err, now);
    arm(l);
}

static const struct tcp_conn_ops conn_ops = {
    .on_open = on_open, .on_input = on_input, .on_close = on_close};

static void connect_next(struct rtsp_link *l, usec_t now)
{
    tcp_conn_free(l->conn);
    l->conn = NULL;
    l->closed = false;
    while (!l->conn && l->address_next < l->address_count) {
        const struct sockaddr *to = (const struct sockaddr *)&l->addresses[l->address_next++];
        l->conn = tcp_conn_connect(l->loop, to, RTSP_MAX_ITEM + 4, &conn_ops, l);
    }
    l->deadline = now + (l->address_next < l->address_count ? ADDRESS_TIMEOUT : CONNECT_TIMEOUT);
    arm(l);
    if (l->conn)
        return;
    char text[512];
    snprintf(text, sizeof(text), "cannot connect to %s port %d: no server answers there", l->host,
             l->port);
    fail(l, RTSP_CLIENT_REFUSED, text, now);
}

static void on_resolved(void *ctx, const struct sockaddr_storage *addresses, int count,
                        const char *error)
{
    struct rtsp_link *l = ctx;
    usec_t now = clock_now();
    if (!rtsp_client_is_connecting(l->rtsp))
        return; // the viewer is leaving
    if (!count) {
        char text[512];
        snprintf(text, sizeof(text), "cannot find the host %s: %s", l->host, error);
        fail(l, RTSP_CLIENT_REFUSED, text, now);
        return;
    }
    memcpy(l->addresses, addresses, (size_t)count * sizeof(*addresses));
    l->address_count = count;
    connect_next(l, now);
}

static void on_redirect(void *ctx, const struct url *to, usec_t now)
{
    struct rtsp_link *l = ctx;
    snprintf(l->host, sizeof(l->host), "%s", to->host);
    l->port = to->port;
    link_tls_init(&l->tls, to);
    l->redirected = true;
    l->deadline = now; // the connection calls this function, so it cannot be freed here
}

static void follow_redirect(struct rtsp_link *l, usec_t now)
{
    l->redirected = false;
    resolver_free(l->resolver);
    tcp_conn_free(l->conn);
    l->conn = NULL;
    l->address_count = l->address_next = 0;
    l->deadline = now + CONNECT_TIMEOUT;
    l->resolver = resolver_new(l->loop, l->host, l->port, on_resolved, l);
    if (l->resolver)
        arm(l);
    else
        fail(l, RTSP_CLIENT_INTERNAL, "cannot look up the host of the redirect", now);
}

// Sends the gathered requests. 0 or the error of tcp_conn_send.
static int send_flight(struct rtsp_link *l)
{
    // Without `conn` the link was detached while it gathered the requests.
    int err = l->flight_len && l->conn ? tcp_conn_send(l->conn, l->flight, l->flight_len) : 0;
    l->flight_len = 0;
    return err;
}

// Begins on the connection of a session before. Its requests leave in one write, so that the server
// reads them together, and responds together.
static void continue_on(struct rtsp_link *l, usec_t now)
{
    l->flight = malloc(FLIGHT_BYTES);
    rtsp_client_connected(l->rtsp, now);
    int err = send_flight(l);
    free(l->flight);
    l->flight = NULL;
    if (err)
        fail(l, RTSP_CLIENT_REFUSED, "cannot send requests to the server", now);
    rtsp_spare_free(l->spare);
    l->spare = NULL;
    if (l->conn)
        tcp_conn_resume(l->conn, now);
    arm(l);
}

// ---- The film's table ----

static void end_table(struct rtsp_link *l, struct film_table *table, const char *why, usec_t now)
{
    if (why)
        log_warn("the film's table is not used: %s", why);
    film_table_fetch_free(l->table);
    l->table = NULL;
    l->ops->on_film_table(l->ctx, table, now);
}

static void tend_table(struct rtsp_link *l, usec_t now)
{
    char body[FILM_TABLE_REQUEST];
    if (rtsp_client_is_over(l->rtsp))
        return;
    if (now >= l->table_limit) {
        end_table(l, NULL, "it did not come in time", now);
        return;
    }
    if (now < l->table_at)
        return;
    film_table_fetch_request(l->table, body);
    bool asked = rtsp_client_ask_film_table(l->rtsp, body, now);
    l->table_at = asked ? USEC_NEVER : now + TABLE_RETRY;
}

static void on_film_table(void *ctx, struct text body, usec_t now)
{
    struct rtsp_link *l = ctx;
    struct film_table *table;
    if (!l->table) // it took too long
        return;
    int err = film_table_fetch_take(l->table, body, &table);
    if (err == 0 || err == ERR_AGAIN) {
        l->table_at = err ? now + TABLE_RETRY : now; // from the timer: this may be in its call
    } else {
        bool is_bad = err != ERR_END && err != ERR_NOT_FOUND;
        end_table(l, table, is_bad ? err_text(err) : NULL, now);
    }
    arm(l);
}

void rtsp_link_ask_film_table(struct rtsp_link *l, const struct sdp *sdp, usec_t now)
{
    if (l->table)
        return;
    struct stored_plan *plan = malloc(sizeof(*plan));
    if (plan && stored_plan_init(plan, &sdp->ladder) == 0) {
        int64_t frames = llround(sdp->duration * fps_value(sdp->ladder.source_fps));
        l->table =
            film_table_fetch_new(&sdp->ladder, (frames + plan->gop - 1) / plan->gop, plan->gop);
    }
    free(plan);
    l->table_at = now;
    l->table_limit = now + RTSP_LINK_TABLE_LIMIT;
    if (l->table)
        tend_table(l, now);
    else
        l->ops->on_film_table(l->ctx, NULL, now);
    arm(l);
}

// ---- Another connection for the session ----

static void on_attach_end(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    timer_set(l->timer, now);
}

static struct rtsp_attach *new_attach(struct rtsp_link *l, usec_t now)
{
    char request[RTSP_CLIENT_PING];
    int len = rtsp_client_write_attach(l->rtsp, request, now);
    struct rtsp_attach_config config = {.loop = l->loop,
                                        .at = tcp_conn_peer(l->conn),
                                        .host = l->host,
                                        .port = l->port,
                                        .tls = &l->tls,
                                        .request = request,
                                        .request_len = (size_t)len,
                                        .on_end = on_attach_end,
                                        .ctx = l};
    log_debug("the session asks for another connection");
    return len > 0 ? rtsp_attach_new(&config) : NULL;
}

static void end_attach(struct rtsp_link *l, int status, usec_t now)
{
    rtsp_attach_free(l->attach);
    l->attach = NULL;
    attach_watch_ended(&l->watch, status, now);
    if (status && status != 200)
        log_debug("the server does not continue the session on another connection: %d", status);
}

static void take_attached(struct rtsp_link *l, usec_t now)
{
    tcp_conn_exchange(l->conn, rtsp_attach_conn(l->attach, &l->tls));
    l->closed = false;
    l->broken = l->homeless = 0;
    end_attach(l, 200, now);
    log_info("the session goes on over another connection");
    rtsp_client_attached(l->rtsp, now);
    if (l->conn)
        tcp_conn_resume(l->conn, now);
}

// Nothing comes over a connection whose address is gone. If no other one may continue the session,
// it ends, before what the viewer has buffered does.
static void look_at_address(struct rtsp_link *l, usec_t now)
{
    bool is_own = address_is_own((const struct sockaddr *)tcp_conn_local(l->conn));
    l->look_at = now + ADDRESS_LOOK;
    l->homeless = is_own ? 0 : l->homeless ? l->homeless : now;
    if (l->homeless && now - l->homeless >= ADDRESS_BACK && !can_attach(l) && !on_datagrams(l))
        fail(l, RTSP_CLIENT_LOST, "the address that this machine had is gone", now);
}

static void tend_attach(struct rtsp_link *l, usec_t now)
{
    bool possible = can_attach(l);
    if (l->attach && !possible)
        end_attach(l, 0, now);
    else if (l->attach && rtsp_attach_status(l->attach) == 200)
        take_attached(l, now);
    else if (l->attach && rtsp_attach_has_ended(l->attach))
        end_attach(l, rtsp_attach_status(l->attach), now);
    bool is_over = !can_attach(l) || attach_watch_is_over(&l->watch, l->broken, now) ||
                   (l->broken_by == ERR_CLOSED && !l->attach);
    if (l->broken && is_over) {
        l->broken = 0;
        rtsp_client_closed(l->rtsp, l->broken_by, now);
    }
    if (looks(l) && now >= l->look_at)
        look_at_address(l, now);
    if (!can_attach(l))
        return;
    struct attach_signs s = signs(l);
    enum attach_step step = attach_watch_step(&l->watch, &s, now);
    if (step == ATTACH_BEGIN)
        l->attach = new_attach(l, now);
    if (step == ATTACH_GIVE_UP || (step == ATTACH_BEGIN && !l->attach))
        end_attach(l, 0, now);
}

static void on_timer(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    if (l->spare) {
        continue_on(l, now);
        return;
    }
    if (now >= rtsp_client_next_timeout(l->rtsp))
        rtsp_client_on_timeout(l->rtsp, now);
    if (l->table)
        tend_table(l, now);
    if (l->attaches && now >= next_attach(l))
        tend_attach(l, now);
    if (!rtsp_client_is_connecting(l->rtsp) || now < l->deadline) {
        arm(l);
    } else if (l->redirected) {
        follow_redirect(l, now);
    } else if (l->conn && l->address_next < l->address_count) {
        connect_next(l, now);
    } else {
        char text[512];
        snprintf(text, sizeof(text), "cannot connect to %s port %d: no answer within %d s", l->host,
                 l->port, (int)(CONNECT_TIMEOUT / USEC_PER_SEC));
        fail(l, RTSP_CLIENT_REFUSED, text, now);
    }
}

// ---- Media ----

static void on_packet(void *ctx, enum media_track track, bool rtcp, const uint8_t *data, size_t len,
                      usec_t arrived, usec_t now)
{
    struct rtsp_link *l = ctx;
    if (!rtcp) // shows that the path works, if the server's response to its validation got lost
        rtsp_client_media_open(l->rtsp, now);
    if (rtsp_client_media_received(l->rtsp, now))
        l->on_packet(l->packet_ctx, track, rtcp, data, len, arrived, now);
}

static void on_pair(void *ctx, const struct capacity_packet *p, size_t bytes, usec_t arrived,
                    usec_t now)
{
    struct rtsp_link *l = ctx;
    if (l->ops->on_pair && rtsp_client_takes_media(l->rtsp))
        l->ops->on_pair(l->ctx, p, bytes, arrived, now);
}

static void on_validated(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    rtsp_client_media_open(l->rtsp, now);
    arm(l);
}

static void on_beside_open(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    rtsp_client_beside_open(l->rtsp, now);
    arm(l);
}

static void on_moved(void *ctx, bool beside, usec_t now)
{
    struct rtsp_link *l = ctx;
    rtsp_client_media_moved(l->rtsp, beside, now);
    arm(l);
}

static void on_second_open(void *ctx, usec_t now)
{
    const struct rtsp_link *l = ctx;
    (void)now;
    log_info("media comes over %s, too", l->second);
}

static void on_address_changed(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    rtsp_client_address_changed(l->rtsp, now);
    attach_watch_moved(&l->watch, now);
    arm(l);
}

static void on_media_end(void *ctx, const char *error, usec_t now)
{
    struct rtsp_link *l = ctx;
    rtsp_client_media_closed(l->rtsp, error, now);
    arm(l);
}

static const struct media_receiver_ops media_ops = {.on_packet = on_packet,
                                                    .on_pair = on_pair,
                                                    .on_validated = on_validated,
                                                    .on_beside_open = on_beside_open,
                                                    .on_moved = on_moved,
                                                    .on_second_open = on_second_open,
                                                    .on_address_changed = on_address_changed,
                                                    .on_end = on_media_end};

// ---- Callbacks of the RTSP session: connection and media path ----

static int send_bytes(void *ctx, const char *data, size_t len, usec_t *wall)
{
    struct rtsp_link *l = ctx;
    *wall = clock_wall();
    if (l->broken) // the next connection gets it
        return 0;
    if (!l->flight || len > FLIGHT_BYTES - l->flight_len) {
        int err = send_flight(l);
        return err ? err : tcp_conn_send(l->conn, data, len);
    }
    memcpy(l->flight + l->flight_len, data, len);
    l->flight_len += len;
    return 0;
}

static const char *impossible(void *ctx, const char *name)
{
    const struct rtsp_link *l = ctx;
    return transport_needs_raw(name) && !l->raw ? l->no_raw : NULL;
}

static int offer(void *ctx, const struct sdp *sdp, const struct transport_list *list, char *out,
                 size_t cap)
{
    struct rtsp_link *l = ctx;
    media_receiver_init(&l->path, l->loop, l->conn, sdp, l->ssrc, l->raw, &media_ops, l);
    l->path.encrypts = l->srtp || l->tls.wanted || tcp_conn_is_secure(l->conn);
    l->has_path = true;
    return media_receiver_offer(&l->path, list, l->cc, l->repair, out, cap);
}

static int accept_path(void *ctx, const struct transport_list *list, struct text answer,
                       struct rtsp_client_path *out, usec_t now)
{
    struct rtsp_link *l = ctx;
    int err = media_receiver_accept(&l->path, list, answer, now);
    *out =
        (struct rtsp_client_path){.datagram = l->path.datagram || media_receiver_connects(&l->path),
                                  .pairs = l->path.datagram,
                                  .validates = media_receiver_tells(&l->path)};
    snprintf(out->transport, sizeof(out->transport), "%s", l->path.name);
    return err;
}

static int offer_beside(void *ctx, const char *name, char *out, size_t cap)
{
    struct rtsp_link *l = ctx;
    return media_receiver_offer_beside(&l->path, name, l->repair, out, cap);
}

static bool accept_beside(void *ctx, struct text answer)
{
    struct rtsp_link *l = ctx;
    return media_receiver_accept_beside(&l->path, answer);
}

static void try_beside(void *ctx, usec_t now)
{
    struct rtsp_link *l = ctx;
    media_receiver_try_beside(&l->path, now);
}

static int offer_second(void *ctx, char *out, size_t cap)
{
    struct rtsp_link *l = ctx;
    return media_receiver_offer_second(&l->path, l->second, l->repair, out, cap);
}

static bool accept_second(void *ctx, struct text answer, usec_t now)
{
    struct rtsp_link *l = ctx;
    return media_receiver_accept_second(&l->path, answer, now);
}

static int offer_audio(void *ctx, char *out, size_t cap)
{
    struct rtsp_link *l = ctx;
    return media_receiver_offer_audio(&l->path, out, cap);
}

static int accept_audio(void *ctx, struct text answer)
{
    struct rtsp_link *l = ctx;
    return media_receiver_accept_audio(&l->path, answer);
}

// All raw transports share one raw connection, so its failure rules them all out.
static void abandon(void *ctx, const char *why)
{
    struct rtsp_link *l = ctx;
    if (media_receiver_connects(&l->path)) {
        mtp_raw_receiver_abort(l->raw);
        l->raw = NULL;
        snprintf(l->raw_failure, sizeof(l->raw_failure), "%s", why);
        l->no_raw = l->raw_failure;
    }
    media_receiver_destroy(&l->path);
}

static bool media_is_open(void *ctx)
{
    const struct rtsp_link *l = ctx;
    return l->raw && !mtp_raw_receiver_is_over(l->raw);
}

static void on_interleaved(void *ctx, int channel, const uint8_t *data, size_t len, usec_t now)
{
    struct rtsp_link *l = ctx;
    media_receiver_interleaved(&l->path, channel, data, len, now);
}

static const struct rtsp_client_link client_link = {.send = send_bytes,
                                                    .redirect = on_redirect,
                                                    .impossible = impossible,
                                                    .offer = offer,
                                                    .accept = accept_path,
                                                    .offer_beside = offer_beside,
                                                    .accept_beside = accept_beside,
                                                    .try_beside = try_beside,
                                                    .offer_second = offer_second,
                                                    .accept_second = accept_second,
                                                    .offer_audio = offer_audio,
                                                    .accept_audio = accept_audio,
                                                    .abandon = abandon,
                                                    .media_is_open = media_is_open,
                                                    .on_interleaved = on_interleaved,
                                                    .on_film_table = on_film_table};

// ---- Life ----

struct rtsp_link *rtsp_link_new(const struct rtsp_link_config *config, usec_t now)
{
    struct rtsp_client_config full = *config->rtsp;
    full.standard_transports = transport_list_standard(&full.transports);
    full.hash = rtsp_hash;
    full.seconds = config->second && *config->second;
    struct rtsp_link *l = calloc(1, sizeof(*l));
    if (config->spare)
        full.before = &config->spare->before;
    if (!l || !random_fill(&full.seed, sizeof(full.seed)))
        goto free_link;
    l->loop = config->loop;
    l->ops = config->ops;
    l->ctx = config->ctx;
    l->on_packet = config->on_packet;
    l->packet_ctx = config->packet_ctx;
    l->raw = config->raw;
    l->no_raw = RAW_TCP_REMEDY;
    l->deadline = now + CONNECT_TIMEOUT;
    snprintf(l->host, sizeof(l->host), "%s", full.url.host);
    l->port = full.url.port;
    memcpy(l->user, full.url.user, sizeof(l->user));
    memcpy(l->password, full.url.password, sizeof(l->password));
    link_tls_init(&l->tls, &full.url);
    snprintf(l->cc, sizeof(l->cc), "%s", config->cc);
    l->srtp = config->srtp;
    if (config->second)
        snprintf(l->second, sizeof(l->second), "%s", config->second);
    l->attaches = full.attaches = config->attaches;
    attach_watch_init(&l->watch);
    if (config->repair)
        snprintf(l->repair, sizeof(l->repair), "%s", config->repair);
    l->rtsp = rtsp_client_new(&full, &client_link, l, &l->ops->rtsp, l->ctx, now);
    if (!l->rtsp)
        goto free_link;
    l->timer = timer_new(l->loop, on_timer, l);
    if (!l->timer)
        goto free_rtsp;
    if (config->spare) {
        l->spare = config->spare;
        l->conn = l->spare->conn;
        l->spare->conn = NULL;
        l->tls = l->spare->tls;
        tcp_conn_set_owner(l->conn, &conn_ops, l);
        l->deadline = now;
    } else if (!(l->resolver = resolver_new(l->loop, l->host, l->port, on_resolved, l))) {
        goto free_timer;
    }
    arm(l);
    return l;

free_timer:
    timer_free(l->timer);
free_rtsp:
    rtsp_client_free(l->rtsp);
free_link:
    rtsp_spare_free(config->spare);
    free(l);
    return NULL;
}

void rtsp_link_free(struct rtsp_link *l)
{
    if (!l)
        return;
    rtsp_client_free(l->rtsp);
    resolver_free(l->resolver);
    rtsp_spare_free(l->spare);
    rtsp_attach_free(l->attach);
    if (l->has_path)
        media_receiver_destroy(&l->path);
    tcp_conn_free(l->conn);
    timer_free(l->timer);
    film_table_fetch_free(l->table);
    free(l);
}

void rtsp_spare_free(struct rtsp_spare *s)
{
    if (!s)
        return;
    tcp_conn_free(s->conn);
    free(s);
}

bool rtsp_spare_serves(const struct rtsp_spare *s, const struct url *url)
{
    return strcasecmp(s->host, url->host) == 0 && s->port == url->port &&
           strcmp(s->user, url->user) == 0 && strcmp(s->password, url->password) == 0 &&
           s->tls.wanted == url->secure && strcmp(s->tls.pin, url->pin) == 0;
}

static int leave_unread(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    (void)ctx, (void)data, (void)len, (void)now;
    return 0;
}

static void ignore_close(void *ctx, int err, usec_t now)
{
    (void)ctx, (void)err, (void)now;
}

// The link that leaves the connection is freed before the next one takes it.
static void keep(struct rtsp_spare *s, struct tcp_conn *conn)
{
    static const struct tcp_conn_ops spare_ops = {.on_input = leave_unread,
                                                  .on_close = ignore_close};
    s->conn = conn;
    tcp_conn_set_owner(conn, &spare_ops, s);
}

struct rtsp_spare *rtsp_link_detach(struct rtsp_link *l, usec_t now)
{
    if (l->spare && l->conn) { // nothing was sent over it yet
        struct rtsp_spare *unused = l->spare;
        keep(unused, l->conn);
        l->spare = NULL;
        l->conn = NULL;
        timer_set(l->timer, USEC_NEVER);
        return unused;
    }
    bool own = l->has_path && media_receiver_connects(&l->path);
    struct rtsp_spare *s =
        l->conn && !l->closed && !l->redirected && !own ? calloc(1, sizeof(*s)) : NULL;
    if (!s || !rtsp_client_hand_over(l->rtsp, &s->before, now)) {
        free(s);
        return NULL;
    }
    snprintf(s->host, sizeof(s->host), "%s", l->host);
    s->port = l->port;
    memcpy(s->user, l->user, sizeof(s->user));
    memcpy(s->password, l->password, sizeof(s->password));
    s->tls = l->tls;
    s->has_media = l->has_path && !on_datagrams(l);
    keep(s, l->conn);
    l->conn = NULL;
    tcp_conn_hold(s->conn);
    arm(l);
    return s;
}

void rtsp_spare_renew(struct rtsp_spare *s, struct rtsp_standby *standby, usec_t now)
{
    int cseq;
    struct tcp_conn *conn =
        s->has_media && rtsp_standby_leads_to(standby, s->host, s->port, &s->tls)
            ? rtsp_standby_take(standby, &s->tls, &cseq, now)
            : NULL;
    if (!conn)
        return;
    tcp_conn_abort(s->conn);
    s->has_media = false;
    s->before.cseq = cseq > s->before.cseq ? cseq : s->before.cseq;
    keep(s, conn);
    tcp_conn_hold(conn);
}

void rtsp_link_keep_standby(struct rtsp_link *l, struct rtsp_standby **standby, usec_t now)
{
    if (!l->has_path || !l->conn || l->closed || rtsp_client_is_over(l->rtsp))
        return; // there will be another link
    bool of_use = !l->path.datagram && !media_receiver_connects(&l->path) &&
                  rtsp_client_can_be_followed(l->rtsp);
    if (*standby && (!of_use || !rtsp_standby_leads_to(*standby, l->host, l->port, &l->tls))) {
        rtsp_standby_free(*standby);
        *standby = NULL;
    }
    if (!of_use)
        return;
    if (!*standby)
        *standby =
            rtsp_standby_new(l->loop, tcp_conn_peer(l->conn), l->host, l->port, &l->tls, now);
    int cseq = *standby ? rtsp_standby_tend(*standby, now) : 0;
    if (!cseq)
        return;
    char ping[RTSP_CLIENT_PING];
    int len = rtsp_client_write_ping(l->rtsp, cseq, ping, now);
    if (len > 0)
        rtsp_standby_send(*standby, ping, (size_t)len);
}

int64_t rtsp_link_second_bytes(const struct rtsp_link *l)
{
    return l->has_path ? media_receiver_second_bytes(&l->path) : -1;
}

int64_t rtsp_link_ecn_marked(const struct rtsp_link *l)
{
    return media_receiver_marked(&l->path);
}

bool rtsp_link_mark(struct rtsp_link *l, int packets)
{
    return l->has_path && media_receiver_mark(&l->path, packets);
}

void rtsp_link_hold(struct rtsp_link *l, bool hold, usec_t now)
{
    if (!l->has_path || !l->conn || rtsp_client_is_over(l->rtsp))
        return;
    // First: what waited is read in the second call.
    rtsp_client_held(l->rtsp, hold && !l->path.datagram, now);
    media_receiver_hold(&l->path, hold, now);
    arm(l);
}

void rtsp_link_set_ssrc(struct rtsp_link *l, uint32_t ssrc)
{
    l->ssrc = ssrc;
}

void rtsp_link_send_rtcp(struct rtsp_link *l, bool audio, const uint8_t *data, size_t len)
{
    if (l->has_path && !rtsp_client_is_over(l->rtsp))
        media_receiver_send_rtcp(&l->path, audio ? TRACK_AUDIO : TRACK_VIDEO, data, len);
}

struct rtsp_client *rtsp_link_client(struct rtsp_link *l)
{
    timer_set(l->timer, 0);
    return l->rtsp;
}

const char *rtsp_link_repair(const struct rtsp_link *l)
{
    return l->has_path ? l->path.repair : "";
}

void rtsp_link_give_up(struct rtsp_link *l, const char *why, usec_t now)
{
    fail(l, RTSP_CLIENT_LOST, why, now);
}
