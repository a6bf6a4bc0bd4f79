// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/session/media_address.h"

#include <string.h>

#include "common/base/err.h"
#include "common/net/random.h"
#include "common/net/udp_socket.h"
#include "common/wire/path_token.h"

void media_address_on_host(struct media_address *a, const struct sockaddr_storage *host,
                           const int port[2])
{
    memset(a, 0, sizeof(*a));
    for (int i = 0; i < 2; i++) {
        a->peer[i] = *host;
        sockaddr_set_port((struct sockaddr *)&a->peer[i], port[i] >= 0 ? port[i] : port[0] + i);
    }
}

int media_address_by_token(struct media_address *a, const struct sockaddr_storage *host)
{
    memset(a, 0, sizeof(*a));
    a->host = *host;
    a->by_token = true;
    return random_fill(&a->token, sizeof(a->token)) ? 0 : ERR_IO;
}

static bool is_from(const struct datagram *d, const struct sockaddr_storage *address)
{
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    const struct sockaddr *known = (const struct sockaddr *)address;
    return sockaddr_same_host(from, known) && sockaddr_port(from) == sockaddr_port(known);
}

enum media_proof media_address_prove(struct media_address *a, int which, const struct datagram *d)
{
    uint64_t token;
    if (!a->by_token || !path_token_decode(d->data, d->len, &token))
        return PROOF_NONE;
    const struct sockaddr *from = (const struct sockaddr *)d->from;
    if (token != a->token || !sockaddr_same_host(from, (const struct sockaddr *)&a->host)) {
        a->wrong_tokens++;
        return PROOF_NONE;
    }
    if (is_from(d, &a->peer[which]))
        return PROOF_KNOWN;
    a->peer[which] = *d->from;
    return PROOF_NEW;
}

bool media_address_is_rtcp(const struct media_address *a, const struct datagram *d)
{
    return is_from(d, &a->peer[1]) || (!a->by_token && is_from(d, &a->peer[0]));
}
