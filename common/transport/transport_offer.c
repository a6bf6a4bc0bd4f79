// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/transport/transport_offer.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/net/raw_tcp.h"

enum { MAX_PORT_FOR_RTP = 65534 }; // the port for RTCP is the next one

int transport_offer_of(const char *name, bool named, bool reports, struct rtsp_transport *out)
{
    const struct transport_kind *kind;
    const char *params;
    *out = (struct rtsp_transport){.multicast = strcmp(name, TRANSPORT_MULTICAST) == 0,
                                   .interleaved = {-1, -1},
                                   .client_port = {-1, -1},
                                   .server_port = {-1, -1},
                                   .port = {-1, -1}};
    int err = out->multicast ? 0 : transport_find(name, &kind, &params);
    if (err || out->multicast)
        return err;
    out->tcp = !kind->datagram;
    out->avpf = kind->reports && reports;
    if (named) {
        snprintf(out->weir, sizeof(out->weir), "%s", name);
        out->ecn = kind->echoes_ecn;
    }
    return 0;
}

const char *transport_offer_taken(const struct transport_list *offered,
                                  const struct rtsp_transport *answer)
{
    const struct transport_kind *kind;
    const char *params;
    const char *taken = NULL;
    for (int i = 0; i < offered->count; i++) {
        const char *name = offered->names[i];
        if (answer->multicast && strcmp(name, TRANSPORT_MULTICAST) == 0)
            return name;
        if (answer->multicast || transport_find(name, &kind, &params) != 0 ||
            kind->datagram == answer->tcp)
            continue;
        if (answer->weir[0] ? strcmp(answer->weir, name) == 0 : !taken && kind->plain_rtp)
            taken = name;
    }
    return taken;
}

const char *transport_offer_name(const struct rtsp_transport *offer)
{
    if (offer->weir[0])
        return offer->weir;
    return offer->tcp ? transport_kinds[0]->name : "udp";
}

bool transport_offer_reports(const struct rtsp_transport *offer)
{
    return offer->avpf && offer->weir[0];
}

int transport_offer_check(const struct rtsp_transport *offer, bool has_raw, char *why, size_t cap)
{
    const struct transport_kind *kind;
    const char *params;
    const char *name = transport_offer_name(offer);
    int err = transport_find(name, &kind, &params);
    int port = offer->client_port[0];
    char names[256];
    transport_names(names, sizeof(names));
    if (err == ERR_NOT_FOUND)
        snprintf(why, cap, "unknown transport \"%s\" (available: %s)", name, names);
    else if (err)
        snprintf(why, cap, "transport \"%s\": %s", name, err_text(err));
    else if (offer->multicast || kind->datagram == offer->tcp)
        snprintf(why, cap, "transport \"%s\" requires unicast %s", kind->name,
                 kind->datagram ? "UDP" : "TCP");
    else if (kind->datagram && (port <= 0 || port > MAX_PORT_FOR_RTP))
        snprintf(why, cap, "transport \"%s\" requires client_port=", kind->name);
    else if (kind->needs_raw && !has_raw) {
        snprintf(why, cap, "%s", RAW_TCP_REMEDY);
        return ERR_IO;
    } else if (kind->responsive && !transport_offer_reports(offer))
        snprintf(why, cap, "transport \"%s\" requires feedback: RTP/AVPF (RFC 4585, RFC 8888)",
                 kind->name);
    else
        return 0;
    return ERR_UNSUPPORTED;
}
