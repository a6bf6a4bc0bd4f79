// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/transport/kinds.h"

const struct transport_kind transport_kinds[] = {
    TRANSPORT_MINBUF,
    TRANSPORT_TCP,
    TRANSPORT_DATAGRAM("udp", "fixed", false,
                       "RTP over UDP at the media's rate, whatever the network does; udp:rate=BPS"),
    TRANSPORT_DATAGRAM("psp", "psp", true,
                       "UDP, damped packet spacing; psp:initial=,first=,step=,link="),
    TRANSPORT_DATAGRAM("psp-plain", "psp-plain", true, "UDP, packet spacing without damping"),
    TRANSPORT_DATAGRAM("tfrc", "tfrc", true,
                       "UDP, TCP-friendly rate control; tfrc:damp,selfclock or tfrc:komssys"),
    TRANSPORT_DATAGRAM("arc", "arc", true,
                       "UDP, adaptive rate control; arc:report=rtt|packet,k=,alpha=,tau="),
    TRANSPORT_MTP,
    TRANSPORT_MTP_RAW,
    {.name = NULL},
};

int transport_find(const char *name, const struct transport_kind **kind, const char **params)
{
    size_t len = strcspn(name, ":");
    for (const struct transport_kind *k = transport_kinds; k->name; k++) {
        if (strlen(k->name) != len || memcmp(k->name, name, len) != 0)
            continue;
        if (strlen(name) >= TRANSPORT_MAX_NAME)
            return ERR_MALFORMED;
        *kind = k;
        *params = name[len] == ':' ? name + len + 1 : "";
        return k->check(k, *params);
    }
    return ERR_NOT_FOUND;
}

struct transport *transport_open(const char *name, const struct transport_path *path, usec_t now)
{
    const struct transport_kind *kind;
    const char *params;
    struct transport *t = NULL;
    if (transport_find(name, &kind, &params) == 0)
        t = kind->create(kind, params, path, now);
    if (!t) {
        log_error("cannot set up transport %s", name);
        return NULL;
    }
    t->kind = kind;
    t->video = (struct transport_place){.channel = {path->channel[0], path->channel[1]},
                                        .socket = {path->socket[0], path->socket[1]},
                                        .peer = {path->peer[0], path->peer[1]}};
    snprintf(t->name, sizeof(t->name), "%s", name);
    return t;
}

void transport_names(char *out, size_t cap)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct transport_kind *k = transport_kinds; k->name && used < cap; k++)
        used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? ", " : "", k->name);
}
