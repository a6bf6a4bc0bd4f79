// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/sim_transport.h"

#include <stdio.h>

#include "common/base/err.h"

enum transport_family { BY_TCP, BY_MINBUF, BY_MTP, BY_DATAGRAM };

// The programs' transports with these names.
static const struct {
    const char *name;
    enum transport_family family;
    const char *controller;
    bool responsive;
} kinds[] = {
    {"tcp", BY_TCP, NULL, true},
    {"minbuf", BY_MINBUF, NULL, true},
    {"mtp", BY_MTP, NULL, true},
    {"udp", BY_DATAGRAM, "fixed", false},
    {"psp", BY_DATAGRAM, "psp", true},
    {"psp-plain", BY_DATAGRAM, "psp-plain", true},
    {"tfrc", BY_DATAGRAM, "tfrc", true},
    {"arc", BY_DATAGRAM, "arc", true},
    {"scream", BY_DATAGRAM, "scream", true},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

// Returns the kind, or -1; *params: the text after the colon.
static int find(const char *via, const char **params)
{
    size_t len = strcspn(via, ":");
    *params = via[len] == ':' ? via + len + 1 : "";
    for (int i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, via, len) == 0)
            return i;
    }
    return -1;
}

static void controller_text(int kind, const char *params, char out[2 * STREAM_MAX_VIA])
{
    snprintf(out, 2 * STREAM_MAX_VIA, "%s%s%s", kinds[kind].controller, *params ? ":" : "", params);
}

int sim_transport_check(const char *via)
{
    char text[2 * STREAM_MAX_VIA];
    const char *params;
    int kind = find(via, &params);
    if (kind < 0)
        return ERR_NOT_FOUND;
    if (strlen(via) >= STREAM_MAX_VIA)
        return ERR_RANGE;
    switch (kinds[kind].family) {
    case BY_TCP:
    case BY_MINBUF:
        return sim_transport_tcp_check(params, kinds[kind].family == BY_MINBUF);
    case BY_MTP:
        return sim_transport_mtp_check(params);
    case BY_DATAGRAM:
        break;
    }
    controller_text(kind, params, text);
    return controller_check(text);
}

bool sim_transport_reports(const char *via)
{
    const char *params;
    int kind = find(via, &params);
    return kind >= 0 && kinds[kind].family == BY_DATAGRAM && kinds[kind].responsive;
}

struct sim_transport *sim_transport_new(const struct sim_transport_config *config, usec_t now)
{
    char text[2 * STREAM_MAX_VIA];
    const char *params;
    int kind = find(config->via, &params);
    assert(kind >= 0);
    switch (kinds[kind].family) {
    case BY_TCP:
    case BY_MINBUF:
        return sim_transport_tcp_new(config, params, kinds[kind].family == BY_MINBUF);
    case BY_MTP:
        return sim_transport_mtp_new(config, params, now);
    case BY_DATAGRAM:
        break;
    }
    controller_text(kind, params, text);
    return sim_transport_datagram_new(config, text, kinds[kind].responsive, now);
}
