// SPDX-License-Identifier: GPL-2.0-or-later
// The parameters that weir-send reports in its response to GET_PARAMETER (RFC 2326, section 10.8).
#ifndef WEIR_PROTOCOL_RTSP_PARAMS_H
#define WEIR_PROTOCOL_RTSP_PARAMS_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/protocol/relay_info.h"
#include "common/protocol/transport_info.h"
#include "common/wire/text.h"

DECLS_BEGIN

enum { RTSP_PARAMS_WHY = 96 }; // bytes of a reason, with NUL

struct rtsp_params {
    bool has_clock;
    usec_t sender_wall;               // the sender's wall clock
    int level;                        // -1: not reported
    struct transport_info transport;  // NaN: not reported
    struct relay_info relay;          // NaN: not reported
    double source_away_s;             // since the server's source sends nothing; NaN: it sends
    char source_why[RTSP_PARAMS_WHY]; // with that: the reason, for people; may be empty
    double skipped;                   // frames that the sender left out; NaN: not reported
};

// Decodes the body of a response to GET_PARAMETER. A line that is unknown or malformed is skipped:
// its value counts as not reported.
void rtsp_params_decode(struct text body, struct rtsp_params *out);

DECLS_END
#endif
