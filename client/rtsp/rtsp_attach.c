// SPDX-License-Identifier: GPL-2.0-or-later
#include "client/rtsp/rtsp_attach.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/net/tcp_conn.h"
#include "common/wire/rtsp.h"

struct rtsp_attach {
    struct rtsp_attach_config config;
    struct link_tls tls;
    char *request;         // owned
    struct tcp_conn *conn; // owned
    bool has_ended;
    int status;
};

static void end(struct rtsp_attach *a, int status, usec_t now)
{
    if (a->has_ended)
        return;
    a->has_ended = true;
    a->status = status;
    a->config.on_end(a->config.ctx, now);
}

static void on_open(void *ctx, usec_t now)
{
    struct rtsp_attach *a = ctx;
    if (!link_tls_open(&a->tls, a->conn, a->config.host, a->config.port) ||
        tcp_conn_send(a->conn, a->request, a->config.request_len) != 0)
        end(a, 0, now);
}

static int on_input(void *ctx, const uint8_t *data, size_t len, usec_t now)
{
    struct rtsp_attach *a = ctx;
    struct rtsp_item item;
    size_t used = 0;
    int err = rtsp_decode(data, len, &item, &used);
    if (err == ERR_AGAIN)
        return (int)used;
    if (err || item.kind != RTSP_RESPONSE)
        return err ? err : ERR_MALFORMED;
    tcp_conn_hold(a->conn);
    end(a, item.status, now);
    return (int)used;
}

static void on_close(void *ctx, int err, usec_t now)
{
    struct rtsp_attach *a = ctx;
    char text[1024];
    if (link_tls_refused(&a->tls, a->conn, a->config.host, a->config.port, text, sizeof(text)))
        log_warn("the session does not go on over another connection: %s", text);
    else
        log_debug("another connection for the session failed: %s", err_text(err));
    end(a, 0, now);
}

// There may be no route until the machine has its next address: that is no error yet.
static struct tcp_conn *connect_to(struct rtsp_attach *a)
{
    static const struct tcp_conn_ops ops = {
        .on_open = on_open, .on_input = on_input, .on_close = on_close};
    struct log_errors errors = {{0}}, *before = log_errors_kept();
    log_errors_keep(&errors);
    struct tcp_conn *conn = tcp_conn_connect(a->config.loop, (const struct sockaddr *)a->config.at,
                                             RTSP_MAX_ITEM + 4, &ops, a);
    log_errors_keep(before);
    if (!conn)
        log_debug("another connection for the session: %s", errors.first);
    return conn;
}

struct rtsp_attach *rtsp_attach_new(const struct rtsp_attach_config *config)
{
    struct rtsp_attach *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->config = *config;
    a->tls = *config->tls;
    a->tls.filter = NULL;
    a->request = malloc(config->request_len);
    if (a->request)
        memcpy(a->request, config->request, config->request_len);
    a->conn = a->request ? connect_to(a) : NULL;
    if (a->conn)
        return a;
    rtsp_attach_free(a);
    return NULL;
}

void rtsp_attach_free(struct rtsp_attach *a)
{
    if (!a)
        return;
    tcp_conn_abort(a->conn);
    free(a->request);
    free(a);
}

bool rtsp_attach_has_ended(const struct rtsp_attach *a)
{
    return a->has_ended;
}

int rtsp_attach_status(const struct rtsp_attach *a)
{
    return a->status;
}

struct tcp_conn *rtsp_attach_conn(struct rtsp_attach *a, struct link_tls *tls)
{
    *tls = a->tls;
    return a->conn;
}
