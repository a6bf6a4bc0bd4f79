// SPDX-License-Identifier: GPL-2.0-or-later
// Names of transports in order of preference. common/transport/transport_list.h reads them from
// text.
#ifndef WEIR_PROTOCOL_TRANSPORT_NAMES_H
#define WEIR_PROTOCOL_TRANSPORT_NAMES_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/protocol/transport_info.h"
#include "common/wire/rtsp_transport.h"

DECLS_BEGIN

// RTP to a multicast group, which third parties offer. It is no transport of weir-send.
#define TRANSPORT_MULTICAST "multicast"

struct transport_list {
    int count;
    bool any;                                        // the user left the choice to the program
    char names[RTSP_MAX_OFFERS][TRANSPORT_MAX_NAME]; // with their parameters
    bool udp[RTSP_MAX_OFFERS];                       // names[i] is over UDP
    // Live media that goes over the RTSP connection moves to this one, where datagrams pass
    // (path_mover.h); empty: it stays.
    char beside[TRANSPORT_MAX_NAME];
};

DECLS_END
#endif
