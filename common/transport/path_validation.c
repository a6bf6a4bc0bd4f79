// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/path_validation.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/random.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/protocol/path_prober.h"
#include "common/srtp/srtp_guard.h"
#include "common/wire/path_token.h"

// ---- The server

void path_validation_on_host(struct path_validation *v, const struct sockaddr_storage *host,
                             const int port[2])
{
    memset(v, 0, sizeof(*v));
    for (int i = 0; i < 2; i++) {
        v->peer[i] = *host;
        sockaddr_set_port((struct sockaddr *)&v->peer[i], port[i] >= 0 ? port[i] : port[0] + i);
    }
}

int path_validation_by_token(struct path_validation *v, const struct sockaddr_storage *host)
{
    memset(v, 0, sizeof(*v));
    if (host)
        v->host = *host;
    v->by_token = true;
    bool drawn = random_fill(&v->token, sizeof(v->token)) && random_fill(&v->key, sizeof(v->key));
    return drawn ? 0 : ERR_IO;
}

static bool is_from(const struct datagram *d, const struct sockaddr_storage *address)
{
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    const struct sockaddr *known = (const struct sockaddr *)address;
    return sockaddr_same_host(from, known) && sockaddr_port(from) == sockaddr_port(known);
}

static void hash_address(struct siphash *h, const struct sockaddr_storage *a)
{
    uint64_t words[3] = {0};
    if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)a;
        memcpy(words, &v6->sin6_addr, sizeof(v6->sin6_addr));
        words[2] = v6->sin6_scope_id;
    } else {
        memcpy(words, &((const struct sockaddr_in *)a)->sin_addr, sizeof(struct in_addr));
    }
    words[2] = words[2] << 32 | (uint64_t)a->ss_family << 16 |
               (uint64_t)sockaddr_port((const struct sockaddr *)a);
    for (int i = 0; i < 3; i++)
        siphash_word(h, words[i]);
}

uint64_t path_validation_challenge(const struct path_validation *v, int which,
                                   const struct sockaddr_storage *from)
{
    struct siphash h;
    siphash_init(&h, &v->key);
    siphash_word(&h, v->changes[which] << 1 | (uint64_t)which);
    hash_address(&h, from);
    return siphash_finish(&h, NULL, 0);
}

bool path_validation_is_known(const struct path_validation *v, int which, const struct datagram *d)
{
    return is_from(d, &v->peer[which]);
}

static enum path_validation_result wrong(struct path_validation *v)
{
    v->wrong_tokens++;
    return PATH_WRONG;
}

enum path_validation_result path_validation_input(struct path_validation *v, int which,
                                                  const struct datagram *d)
{
    uint64_t token, response;
    if (!v->by_token)
        return PATH_NO_RESPONSE;
    if (path_response_decode(d->data, d->len, &response)) {
        bool is_awaited = v->peer[which].ss_family != AF_UNSPEC || v->host.ss_family == AF_UNSPEC;
        bool right = is_awaited && response == path_validation_challenge(v, which, d->from);
        return right ? PATH_ANSWERED : wrong(v);
    }
    if (!path_token_decode(d->data, d->len, &token))
        return PATH_NO_RESPONSE;
    if (token != v->token)
        return wrong(v);
    if (is_from(d, &v->peer[which]))
        return PATH_CONFIRMED;
    if (v->peer[which].ss_family != AF_UNSPEC || v->host.ss_family == AF_UNSPEC)
        return PATH_UNKNOWN;
    if (!sockaddr_same_host((const struct sockaddr *)d->from, (const struct sockaddr *)&v->host))
        return wrong(v);
    v->peer[which] = *d->from;
    return PATH_VALIDATED;
}

void path_validation_change(struct path_validation *v, int which, const struct sockaddr_storage *to)
{
    v->peer[which] = *to;
    v->changes[which]++;
}

bool path_validation_is_rtcp(const struct path_validation *v, const struct datagram *d)
{
    return is_from(d, &v->peer[1]) || (!v->by_token && is_from(d, &v->peer[0]));
}

// ---- The viewer

struct path_responder {
    struct path_responder_config config;
    struct timer *timer; // owned
    struct path_prober prober;
    bool has_responded; // from the port for RTP, since the server validated its address
};

// What the kernel refuses now is sent again, or asked for again, after an interval.
static void send_packet(struct path_responder *p, int which, uint8_t *packet, size_t cap)
{
    size_t len = PATH_TOKEN_BYTES;
    if (srtp_guard_seal_rtcp(p->config.srtp, packet, &len, cap) != 0)
        return;
    struct iovec part = {packet, len};
    (void)udp_socket_send(p->config.socket[which], p->config.to[which], &part, 1);
}

static void on_timer(void *ctx, usec_t now)
{
    struct path_responder *p = ctx;
    int ports = path_prober_on_timeout(&p->prober, now);
    for (int i = 0; i < 2; i++) {
        uint8_t packet[PATH_TOKEN_BYTES + SRTCP_TAIL_BYTES];
        path_token_encode(p->config.ssrc, p->config.token, packet);
        if (ports & 1 << i)
            send_packet(p, i, packet, sizeof(packet));
    }
    timer_set(p->timer, path_prober_next_timeout(&p->prober));
}

struct path_responder *path_responder_new(const struct path_responder_config *config, usec_t now)
{
    struct path_responder *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->timer) {
        free(p);
        return NULL;
    }
    path_prober_begin(&p->prober, now);
    on_timer(p, now);
    return p;
}

void path_responder_free(struct path_responder *p)
{
    if (!p)
        return;
    timer_free(p->timer);
    free(p);
}

void path_responder_set_due(struct path_responder *p, bool due, usec_t now)
{
    if (!p)
        return;
    path_prober_set_due(&p->prober, due, now);
    timer_set(p->timer, path_prober_next_timeout(&p->prober));
}

static void respond(struct path_responder *p, int which, uint64_t challenge)
{
    uint8_t packet[PATH_TOKEN_BYTES + SRTCP_TAIL_BYTES];
    path_response_encode(p->config.ssrc, challenge, packet);
    send_packet(p, which, packet, sizeof(packet));
    p->has_responded |= which == 0;
}

// A challenge shows that the server is there, not that it knows the address. The timer is left
// alone, but at the first time: media only moves the deadline, which the timer finds when it fires.
bool path_responder_input(struct path_responder *p, int which, const uint8_t *data, size_t len,
                          usec_t now)
{
    uint64_t value;
    if (path_challenge_decode(data, len, &value)) {
        respond(p, which, value);
        return true;
    }
    bool is_token = path_token_decode(data, len, &value);
    bool changed = is_token && which == 0 && p->has_responded;
    p->has_responded &= !changed;
    if (path_prober_heard(&p->prober, which, which == 0 && !is_token, now)) {
        timer_set(p->timer, path_prober_next_timeout(&p->prober));
        p->config.on_validated(p->config.ctx, now);
    } else if (changed && p->config.on_changed) {
        p->config.on_changed(p->config.ctx, now);
    }
    return is_token;
}
