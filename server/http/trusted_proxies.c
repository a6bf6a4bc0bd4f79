// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/trusted_proxies.h"

#include <stdio.h>
#include <string.h>

#include "common/net/udp_socket.h"
#include "server/http/peer_key.h"

const char *trusted_proxies_read(struct trusted_proxies *p, const char *text)
{
    char full[128];
    const char *reason;
    if (p->count == TRUSTED_PROXIES_MAX)
        return "at most 16 addresses";
    bool is_bare_v6 = text[0] != '[' && strchr(text, ':');
    int len = snprintf(full, sizeof(full), is_bare_v6 ? "[%s]:0" : "%s:0", text);
    if (len >= 0 && (size_t)len < sizeof(full) &&
        sockaddr_read(full, &p->addresses[p->count], &reason) == 0) {
        p->count++;
        return NULL;
    }
    return "expects a numeric address without a port, such as 192.0.2.7 or 2001:db8::7";
}

bool trusted_proxies_has(const struct trusted_proxies *p, const struct sockaddr *peer)
{
    struct place_key key = peer_key_alone(peer);
    for (int i = 0; i < p->count; i++) {
        struct place_key proxy = peer_key_alone((const struct sockaddr *)&p->addresses[i]);
        if (key.high == proxy.high && key.low == proxy.low)
            return true;
    }
    return false;
}
