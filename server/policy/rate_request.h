// SPDX-License-Identifier: GPL-2.0-or-later
// What a viewer requests of its max rate by RTCP: a TMMBR (RFC 5104, 4.2.1), which is in force
// until the next request; or a REMB (draft-alvestrand-rmcat-remb-03, 2.2), which a receiver repeats
// each second and which is in force for RATE_REQUEST_REMB_LIFE. A server between us and viewers,
// such as Janus, passes on the lowest of their REMBs, and none when the last viewer has left. Pure.
#ifndef WEIR_SERVER_POLICY_RATE_REQUEST_H
#define WEIR_SERVER_POLICY_RATE_REQUEST_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/wire/rtcp.h"

DECLS_BEGIN

static const usec_t RATE_REQUEST_REMB_LIFE = 10 * USEC_PER_SEC;

// Returns true if `item` requests a max rate of the source `ssrc`. A REMB may name no source, or 0
// as Janus does: then it is for all of the session.
bool rate_request_is_for(const struct rtcp_item *item, uint32_t ssrc);

// Returns bit/s, at least `lowest`; 0: no limit, as the rate is more than an int has. It includes
// the item's `max_rate.overhead` of each packet.
int rate_request_of(const struct rtcp_item *item, int lowest);

// Returns how long the request is in force; USEC_NEVER: until the next one.
usec_t rate_request_until(const struct rtcp_item *item, usec_t now);

DECLS_END
#endif
