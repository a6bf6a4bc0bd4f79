// SPDX-License-Identifier: GPL-2.0-or-later
// How a server speaks RTSP and RTP, as a table of facts: weir-send's dialect, and that of third
// parties, which keep to RFC 2326, 3550 and 6184. A viewer chooses the dialect once, from the SDP,
// and then asks for the fact that it needs, not for the server.
#ifndef WEIR_PROTOCOL_SERVER_DIALECT_H
#define WEIR_PROTOCOL_SERVER_DIALECT_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/wire/sdp.h"

DECLS_BEGIN

struct server_dialect {
    // RTSP
    bool knows_weir_parameters; // SET_PARAMETER sets the level, latency ...; GET_PARAMETER reads
                                // the clock
    bool knows_weir_transports; // a Transport header may name one (x-weir=), and the server's
                                // congestion control (x-cc=)
    bool reads_alternatives;    // SETUP may offer several transports; else one, and 461 refuses it
    bool pipelines;             // a request may follow another one that has no response yet
    bool knows_now;             // PLAY may begin at "npt=now-"
    bool shares_files;          // a PLAY that seeks has no effect while others watch the same file
    bool has_levels;            // the SDP lists the levels of the stream
    // Media
    bool audio_has_own_flow;  // else audio comes among the video's packets, with its own type
    bool names_media_source;  // media may come from another host, which SETUP's response names
    bool numbers_from_stamps; // packets carry no frame number: it comes from RTP time stamps
    bool sets_from_sdp;       // parameter sets may be in the SDP, and missing before key frames
    bool describes_order;     // the SDP says whether frames are sent in decoding order
};

// The result is static.
const struct server_dialect *server_dialect_of(const struct sdp *sdp);

DECLS_END
#endif
