// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/path_validation.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/random.h"
#include "common/net/timer.h"
#include "common/net/udp_socket.h"
#include "common/srtp/srtp_guard.h"
#include "common/wire/path_token.h"

#define REPEAT_AFTER  (50 * USEC_PER_MSEC)
#define GIVE_UP_AFTER (5 * USEC_PER_SEC)

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
    v->host = *host;
    v->by_token = true;
    return random_fill(&v->token, sizeof(v->token)) ? 0 : ERR_IO;
}

static bool is_from(const struct datagram *d, const struct sockaddr_storage *address)
{
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    const struct sockaddr *known = (const struct sockaddr *)address;
    return sockaddr_same_host(from, known) && sockaddr_port(from) == sockaddr_port(known);
}

enum path_validation_result path_validation_input(struct path_validation *v, int which,
                                                  const struct datagram *d)
{
    uint64_t token;
    if (!v->by_token || !path_token_decode(d->data, d->len, &token))
        return PATH_NO_RESPONSE;
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    if (token != v->token || !sockaddr_same_host(from, (const struct sockaddr *)&v->host)) {
        v->wrong_tokens++;
        return PATH_NO_RESPONSE;
    }
    if (is_from(d, &v->peer[which]))
        return PATH_CONFIRMED;
    v->peer[which] = *d->from;
    return PATH_VALIDATED;
}

bool path_validation_is_rtcp(const struct path_validation *v, const struct datagram *d)
{
    return is_from(d, &v->peer[1]) || (!v->by_token && is_from(d, &v->peer[0]));
}

// ---- The viewer

struct path_responder {
    struct path_responder_config config;
    struct timer *timer; // owned
    usec_t until;
    bool heard[2];
};

static void send_tokens(struct path_responder *p, usec_t now)
{
    for (int i = 0; i < 2; i++) {
        uint8_t packet[PATH_TOKEN_BYTES + SRTCP_TAIL_BYTES];
        size_t len = PATH_TOKEN_BYTES;
        path_token_encode(p->config.ssrc, p->config.token, packet);
        if (p->heard[i] || srtp_guard_seal_rtcp(p->config.srtp, packet, &len, sizeof(packet)) != 0)
            continue;
        // What the kernel refuses now is sent again after the interval.
        struct iovec part = {packet, len};
        (void)udp_socket_send(p->config.socket[i], p->config.to[i], &part, 1);
    }
    bool over = (p->heard[0] && p->heard[1]) || now >= p->until;
    timer_set(p->timer, over ? USEC_NEVER : now + REPEAT_AFTER);
}

static void on_timer(void *ctx, usec_t now)
{
    send_tokens(ctx, now);
}

struct path_responder *path_responder_new(const struct path_responder_config *config, usec_t now)
{
    struct path_responder *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->config = *config;
    p->until = now + GIVE_UP_AFTER;
    p->timer = timer_new(config->loop, on_timer, p);
    if (!p->timer) {
        free(p);
        return NULL;
    }
    send_tokens(p, now);
    return p;
}

void path_responder_free(struct path_responder *p)
{
    if (!p)
        return;
    timer_free(p->timer);
    free(p);
}

void path_responder_heard(struct path_responder *p, int which, usec_t now)
{
    if (p->heard[which])
        return;
    p->heard[which] = true;
    if (p->heard[0] && p->heard[1])
        p->config.on_validated(p->config.ctx, now);
}
