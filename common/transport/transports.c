// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/transport/transport.h"

// A row: the name under which a transport's own file defines its `const struct transport_kind`.
#define TRANSPORTS(ROW)                                                                            \
    ROW(transport_minbuf)                                                                          \
    ROW(transport_tcp)                                                                             \
    ROW(transport_udp)                                                                             \
    ROW(transport_psp)                                                                             \
    ROW(transport_psp_plain)                                                                       \
    ROW(transport_tfrc)                                                                            \
    ROW(transport_arc)                                                                             \
    ROW(transport_scream)                                                                          \
    ROW(transport_mtp)                                                                             \
    ROW(transport_mtp_raw)                                                                         \
    /* the last */

#define DECLARE(KIND) extern const struct transport_kind KIND;
#define ADDRESS(KIND) &KIND,
TRANSPORTS(DECLARE)
const struct transport_kind *const transport_kinds[] = {TRANSPORTS(ADDRESS) NULL};

int transport_number(const struct transport_kind *kind)
{
    int i = 0;
    while (transport_kinds[i] != kind)
        i++;
    return i;
}

int transport_find(const char *name, const struct transport_kind **kind, const char **params)
{
    size_t len = strcspn(name, ":");
    for (int i = 0; transport_kinds[i]; i++) {
        const struct transport_kind *k = transport_kinds[i];
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
    t->srtp = path->srtp;
    t->media.ops = &t->ops->media;
    t->media.reliable = kind->reliable;
    t->media.responsive = kind->responsive;
    t->media.measures = kind->measures;
    t->tracks[TRACK_VIDEO] = (struct track_path){.channel = {path->channel[0], path->channel[1]},
                                                 .socket = {path->socket[0], path->socket[1]},
                                                 .peer = {path->peer[0], path->peer[1]}};
    snprintf(t->name, sizeof(t->name), "%s", name);
    return t;
}

bool transport_needs_raw(const char *name)
{
    const struct transport_kind *kind;
    const char *params;
    return transport_find(name, &kind, &params) == 0 && kind->needs_raw;
}

bool transport_is_interleaved(const char *name)
{
    const struct transport_kind *kind;
    const char *params;
    return transport_find(name, &kind, &params) == 0 && !kind->datagram && !kind->needs_raw;
}

bool transport_needs_udp(const char *name)
{
    const struct transport_kind *kind;
    const char *params;
    return transport_find(name, &kind, &params) == 0 && kind->datagram;
}

void transport_names(char *out, size_t cap)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; transport_kinds[i] && used < cap; i++)
        used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? ", " : "",
                                 transport_kinds[i]->name);
}
