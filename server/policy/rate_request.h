// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer's TMMBR (RFC 5104, 4.2.1) requests, as a max rate of the session. Pure.
#ifndef WEIR_SERVER_POLICY_RATE_REQUEST_H
#define WEIR_SERVER_POLICY_RATE_REQUEST_H

#include "common/wire/rtcp.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns bit/s, at least `lowest`; 0: no limit, as the rate is more than an int has. The headers
// that the viewer counts are a small part of our packets, and are not subtracted.
int rate_request_of(const struct rtcp_item *tmmbr, int lowest);

#ifdef __cplusplus
}
#endif
#endif
