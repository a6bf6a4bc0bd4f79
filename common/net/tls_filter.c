// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/net/tls_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/net/tcp_filter.h"
#include "common/net/tls_credentials.h"
#include "common/net/tls_trust.h"

enum {
    RECORD = 16384,       // plain bytes of a record
    RECORD_OVERHEAD = 22, // header 5, content type 1, tag 16 (RFC 8446, 5.2)
};

struct tls_filter {
    struct tcp_filter base;
    gnutls_session_t session;                        // owned
    gnutls_certificate_credentials_t no_credentials; // owned; a client's; NULL: a server
    bool established;
    size_t handshake_left; // bytes that the peer may still send before `established`
    const uint8_t *data;   // borrowed during a call
    size_t len;
    struct bytes_out *wire; // borrowed during a call
    int untrusted;          // result of tls_trust_check
    struct tls_trust trust; // a client's
    char reason[1024];
};

static ssize_t on_push(gnutls_transport_ptr_t ctx, const void *data, size_t len)
{
    struct tls_filter *f = ctx;
    if (f->wire && bytes_out_add(f->wire, data, len) == 0)
        return (ssize_t)len;
    gnutls_transport_set_errno(f->session, EIO);
    return -1;
}

static ssize_t on_pull(gnutls_transport_ptr_t ctx, void *out, size_t cap)
{
    struct tls_filter *f = ctx;
    size_t len = f->len < cap ? f->len : cap;
    if (!len) {
        gnutls_transport_set_errno(f->session, EAGAIN);
        return -1;
    }
    memcpy(out, f->data, len);
    f->data += len;
    f->len -= len;
    return (ssize_t)len;
}

static int on_pull_timeout(gnutls_transport_ptr_t ctx, unsigned ms)
{
    (void)ms;
    const struct tls_filter *f = ctx;
    return f->len > 0;
}

static int on_verify(gnutls_session_t session)
{
    struct tls_filter *f = gnutls_session_get_ptr(session);
    f->untrusted = tls_trust_check(&f->trust, session, f->reason, sizeof(f->reason));
    return f->untrusted ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

static int end_with(struct tls_filter *f, int native)
{
    if (f->untrusted) {
        gnutls_alert_send(f->session, GNUTLS_AL_FATAL, GNUTLS_A_BAD_CERTIFICATE);
        return f->untrusted;
    }
    if (native == GNUTLS_E_FATAL_ALERT_RECEIVED) {
        gnutls_alert_description_t alert = gnutls_alert_get(f->session);
        const char *name = gnutls_alert_get_name(alert);
        snprintf(f->reason, sizeof(f->reason), "ends TLS: %s", name ? name : "unknown alert");
        return ERR_CLOSED;
    }
    snprintf(f->reason, sizeof(f->reason), "does not speak TLS 1.3: %s", gnutls_strerror(native));
    (void)gnutls_alert_send_appropriate(f->session, native);
    return native == GNUTLS_E_MEMORY_ERROR ? ERR_NO_MEMORY : ERR_MALFORMED;
}

// Continues the handshake. Returns 0 (complete, or it waits) or an error.
static int shake(struct tls_filter *f)
{
    int err;
    do
        err = gnutls_handshake(f->session);
    while (err < 0 && !gnutls_error_is_fatal(err) && f->len);
    f->established = err == 0;
    return err < 0 && gnutls_error_is_fatal(err) ? end_with(f, err) : 0;
}

static int read_records(struct tls_filter *f, struct bytes_out *plain)
{
    uint8_t record[RECORD];
    for (;;) {
        ssize_t n = gnutls_record_recv(f->session, record, sizeof(record));
        if (n > 0 && bytes_out_add(plain, record, (size_t)n) != 0)
            return ERR_NO_MEMORY;
        if (n > 0)
            continue;
        if (n == 0)
            return ERR_CLOSED;
        if (n == GNUTLS_E_REHANDSHAKE || gnutls_error_is_fatal((int)n))
            return end_with(f, (int)n);
        if (!f->len)
            return 0;
    }
}

static int tls_start(struct tcp_filter *base, struct bytes_out *wire)
{
    struct tls_filter *f = (struct tls_filter *)base;
    if (!f->no_credentials)
        return 0;
    f->wire = wire;
    int err = shake(f);
    f->wire = NULL;
    return err;
}

// A server without TLS, or one that has no place left, answers a client's handshake in plain RTSP:
// its status line says more than that the record is none.
static void quote_answer(struct tls_filter *f, const uint8_t *data, size_t len)
{
    char line[80], clean[80];
    size_t used = 0;
    if (!f->no_credentials || f->untrusted || len < 5 || memcmp(data, "RTSP/", 5) != 0)
        return;
    while (used < len && used + 1 < sizeof(line) && data[used] != '\r' && data[used] != '\n') {
        line[used] = (char)data[used];
        used++;
    }
    line[used] = '\0';
    utf8_copy(line, clean, sizeof(clean));
    snprintf(f->reason, sizeof(f->reason), "answers without TLS: %s", clean);
}

static int tls_decode(struct tcp_filter *base, const uint8_t *data, size_t len,
                      struct bytes_out *plain, struct bytes_out *wire)
{
    struct tls_filter *f = (struct tls_filter *)base;
    int err = 0;
    f->data = data;
    f->len = len;
    f->wire = wire;
    if (!f->established) {
        err = shake(f);
        if (err)
            quote_answer(f, data, len);
        size_t taken = len - f->len;
        if (!err && taken > f->handshake_left)
            err = err_say(f->reason, sizeof(f->reason), ERR_TOO_BIG,
                          "sends more than a TLS handshake needs");
        f->handshake_left -= err ? 0 : taken;
    }
    if (!err && f->established)
        err = read_records(f, plain);
    f->data = NULL;
    f->len = 0;
    f->wire = NULL;
    return err;
}

static int send_record(struct tls_filter *f, const uint8_t *data, size_t len)
{
    // Fewer bytes are taken where the peer limits its records (RFC 8449).
    while (len) {
        ssize_t n = gnutls_record_send(f->session, data, len);
        if (n == GNUTLS_E_INTERRUPTED || n == GNUTLS_E_AGAIN)
            continue;
        if (n <= 0)
            return ERR_NO_MEMORY;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int tls_encode(struct tcp_filter *base, const struct iovec *parts, int count,
                      struct bytes_out *wire)
{
    struct tls_filter *f = (struct tls_filter *)base;
    uint8_t record[RECORD];
    size_t used = 0;
    int err = 0;
    f->wire = wire;
    for (int i = 0; i < count; i++) {
        const uint8_t *at = parts[i].iov_base;
        size_t left = parts[i].iov_len;
        while (left && !err) {
            size_t len = left < RECORD - used ? left : RECORD - used;
            memcpy(record + used, at, len);
            used += len;
            at += len;
            left -= len;
            if (used == RECORD) {
                err = send_record(f, record, used);
                used = 0;
            }
        }
    }
    if (used && !err)
        err = send_record(f, record, used);
    f->wire = NULL;
    return err;
}

static void tls_finish(struct tcp_filter *base, struct bytes_out *wire)
{
    struct tls_filter *f = (struct tls_filter *)base;
    f->wire = wire;
    (void)gnutls_bye(f->session, GNUTLS_SHUT_WR);
    f->wire = NULL;
}

static size_t tls_overhead(const struct tcp_filter *base, size_t bytes)
{
    (void)base;
    return (bytes + RECORD - 1) / RECORD * RECORD_OVERHEAD;
}

static bool tls_ready(const struct tcp_filter *base)
{
    return ((const struct tls_filter *)base)->established;
}

static void tls_free(struct tcp_filter *base)
{
    struct tls_filter *f = (struct tls_filter *)base;
    gnutls_deinit(f->session);
    if (f->no_credentials)
        gnutls_certificate_free_credentials(f->no_credentials);
    free(f);
}

static const struct tcp_filter_ops tls_ops = {
    .start = tls_start,
    .decode = tls_decode,
    .encode = tls_encode,
    .finish = tls_finish,
    .overhead = tls_overhead,
    .ready = tls_ready,
    .free = tls_free,
    .is_secure = true,
};

// Takes over `no_credentials`; NULL: a server. Returns NULL: logged.
static struct tcp_filter *filter_new(const struct tls_credentials *credentials,
                                     gnutls_certificate_credentials_t no_credentials)
{
    struct tls_filter *f = calloc(1, sizeof(*f));
    unsigned flags = (no_credentials ? GNUTLS_CLIENT : GNUTLS_SERVER) | GNUTLS_NONBLOCK |
                     GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;
    if (!f || gnutls_init(&f->session, flags) != 0)
        goto free_filter;
    f->base.ops = &tls_ops;
    f->no_credentials = no_credentials;
    f->handshake_left = no_credentials ? TLS_HANDSHAKE_CLIENT : TLS_HANDSHAKE_SERVER;
    // AES with 128 bits costs the least on processors with AES instructions, ChaCha20 on others.
    // The peer chooses the group: one of finite fields (FFDHE8192) holds the loop for 0.3 s, each
    // of these curves for less than 2 ms.
    static const char rules[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:"
                                "+CHACHA20-POLY1305:+AES-256-GCM:-GROUP-ALL:+GROUP-X25519:"
                                "+GROUP-SECP256R1:+GROUP-SECP384R1";
    if (gnutls_priority_set_direct(f->session, rules, NULL) != 0 ||
        gnutls_credentials_set(f->session, GNUTLS_CRD_CERTIFICATE,
                               no_credentials ? no_credentials
                                              : tls_credentials_native(credentials)) != 0)
        goto deinit;
    gnutls_session_set_ptr(f->session, f);
    gnutls_transport_set_ptr(f->session, f);
    gnutls_transport_set_push_function(f->session, on_push);
    gnutls_transport_set_pull_function(f->session, on_pull);
    gnutls_transport_set_pull_timeout_function(f->session, on_pull_timeout);
    gnutls_handshake_set_max_packet_length(f->session, f->handshake_left);
    return &f->base;

deinit:
    gnutls_deinit(f->session);
free_filter:
    log_error("cannot set up TLS for a connection: out of memory");
    if (no_credentials)
        gnutls_certificate_free_credentials(no_credentials);
    free(f);
    return NULL;
}

struct tcp_filter *tls_server_filter_new(const struct tls_credentials *credentials)
{
    return filter_new(credentials, NULL);
}

struct tcp_filter *tls_client_filter_new(const struct tls_trust *trust)
{
    gnutls_certificate_credentials_t none;
    struct tcp_filter *base =
        gnutls_certificate_allocate_credentials(&none) == 0 ? filter_new(NULL, none) : NULL;
    if (!base)
        return NULL;
    struct tls_filter *f = (struct tls_filter *)base;
    struct in6_addr address;
    f->trust = *trust;
    gnutls_session_set_verify_function(f->session, on_verify);
    bool is_address = inet_pton(AF_INET, trust->host, &address) == 1 || strchr(trust->host, ':');
    if (!is_address) // RFC 6066, 3: names only
        (void)gnutls_server_name_set(f->session, GNUTLS_NAME_DNS, trust->host, strlen(trust->host));
    return base;
}

const char *tls_filter_reason(const struct tcp_filter *f)
{
    return ((const struct tls_filter *)f)->reason;
}
