// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/peer_key.h"

#include <netinet/in.h>
#include <string.h>

static struct place_key key_of(const struct sockaddr *peer,
                               struct place_key (*of_v6)(const uint8_t *))
{
    struct sockaddr_in6 v6;
    struct sockaddr_in v4 = {0};
    if (peer->sa_family == AF_INET6) {
        memcpy(&v6, peer, sizeof(v6));
        return of_v6(v6.sin6_addr.s6_addr);
    }
    if (peer->sa_family == AF_INET)
        memcpy(&v4, peer, sizeof(v4));
    return place_key_v4((const uint8_t *)&v4.sin_addr);
}

struct place_key peer_key(const struct sockaddr *peer)
{
    return key_of(peer, place_key_v6);
}

struct place_key peer_key_alone(const struct sockaddr *peer)
{
    return key_of(peer, place_key_alone);
}
