// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/rtsp/rtsp_standby.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tcp_conn.h"
#include "common/wire/rtsp.h"
#include "common/wire/url.h"

#define CONNECT_TIMEOUT (5 * USEC_PER_SEC)
#define TLS_TIMEOUT     (5 * USEC_PER_SEC) // of the handshake
#define FIRST_REQUEST   (5 * USEC_PER_SEC)
#define INTERVAL        (20 * USEC_PER_SEC)
#define MIN_WAIT        (10 * USEC_PER_SEC)
#define MAX_WAIT        (300 * USEC_PER_SEC)

struct rtsp_standby {
    uv_loop_t *loop; // borrowed
    struct sockaddr_storage at;
    char host[URL_MAX_HOST];
    int port;
    struct link_tls tls;
    struct tcp_conn *conn; // owned; NULL: none, and the next attempt is due at `due`
    bool is_open;          // `conn` is connected
    bool has_ended;        // `conn` is, and waits to be freed outside of its callbacks
    usec_t due;            // the next attempt, the end of this one, or the next request
    usec_t secure_by;      // with `is_open`: the end of an attempt whose handshake is not done
    usec_t wait;           // after the next failure
    int cseq;              // of the last request
};

// Ignores the responses, whole ones, so that the next owner's input begins with a message.
static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct rtsp_standby *s = ctx;
    size_t at = 0;
    (void)now;
    while (at < len) {
        struct rtsp_item item;
        size_t used;
        int err = rtsp_decode(data + at, len - at, &item, &used);
        if (err == ERR_AGAIN)
            break;
        if (err)
            return err;
        at += used;
        s->wait = MIN_WAIT; // the server keeps it
    }
    return (int)at;
}

static void on_open(void *ctx, usec_t now)
{
    struct rtsp_standby *s = ctx;
    s->is_open = true;
    s->due = now + FIRST_REQUEST;
    s->secure_by = s->tls.wanted ? now + TLS_TIMEOUT : USEC_NEVER;
    if (!link_tls_open(&s->tls, s->conn, s->host, s->port))
        s->has_ended = true;
}

static void on_close(void *ctx, int err, usec_t now)
{
    struct rtsp_standby *s = ctx;
    (void)now;
    log_debug("the second connection to %s port %d ended: %s", s->host, s->port, err_text(err));
    s->has_ended = true;
}

static void try_to_connect(struct rtsp_standby *s, usec_t now)
{
    static const struct tcp_conn_ops ops = {
        .on_open = on_open, .on_input = on_input, .on_close = on_close};
    s->is_open = s->has_ended = false;
    s->cseq = 0;
    s->tls.filter = NULL;
    s->conn =
        tcp_conn_connect(s->loop, (const struct sockaddr *)&s->at, RTSP_MAX_ITEM + 4, &ops, s);
    s->due = now + CONNECT_TIMEOUT;
    if (!s->conn) // as one that ended at once
        s->due = now + MIN_WAIT;
}

struct rtsp_standby *rtsp_standby_new(uv_loop_t *loop, const struct sockaddr_storage *at,
                                      const char *host, int port, const struct link_tls *tls,
                                      usec_t now)
{
    struct rtsp_standby *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->loop = loop;
    s->at = *at;
    snprintf(s->host, sizeof(s->host), "%s", host);
    s->port = port;
    s->tls = *tls;
    s->wait = MIN_WAIT;
    try_to_connect(s, now);
    return s;
}

void rtsp_standby_free(struct rtsp_standby *s)
{
    if (!s)
        return;
    tcp_conn_free(s->conn);
    free(s);
}

bool rtsp_standby_leads_to(const struct rtsp_standby *s, const char *host, int port,
                           const struct link_tls *tls)
{
    return strcasecmp(s->host, host) == 0 && s->port == port && s->tls.wanted == tls->wanted &&
           strcmp(s->tls.pin, tls->pin) == 0;
}

int rtsp_standby_tend(struct rtsp_standby *s, usec_t now)
{
    bool is_late = s->conn && (s->is_open ? now >= s->secure_by && !tcp_conn_is_secure(s->conn)
                                          : now >= s->due);
    if (s->conn && (s->has_ended || is_late)) {
        tcp_conn_free(s->conn);
        s->conn = NULL;
        s->due = now + s->wait;
        s->wait = usec_min(2 * s->wait, MAX_WAIT);
    }
    if (now < s->due)
        return 0;
    if (!s->conn) {
        try_to_connect(s, now);
        return 0;
    }
    s->due = now + INTERVAL;
    return ++s->cseq;
}

void rtsp_standby_send(struct rtsp_standby *s, const char *request, size_t len)
{
    if (s->conn && tcp_conn_send(s->conn, request, len) != 0)
        s->has_ended = true; // the server reads nothing
}

struct tcp_conn *rtsp_standby_take(struct rtsp_standby *s, struct link_tls *tls, int *cseq,
                                   usec_t now)
{
    if (!s->conn || !s->is_open || s->has_ended || (s->tls.wanted && !tcp_conn_is_secure(s->conn)))
        return NULL;
    struct tcp_conn *conn = s->conn;
    *tls = s->tls;
    *cseq = s->cseq;
    s->conn = NULL;
    s->due = now;
    return conn;
}
