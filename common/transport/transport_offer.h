// SPDX-License-Identifier: GPL-2.0-or-later
// Transports in the Transport header of SETUP (RFC 2326, 12.39): the viewer's offers, the server's
// selection, and the viewer's reading of the response.
#ifndef WEIR_TRANSPORT_TRANSPORT_OFFER_H
#define WEIR_TRANSPORT_TRANSPORT_OFFER_H

#include "common/base/decls.h"
#include "common/transport/transport_list.h"
#include "common/wire/rtsp_transport.h"

DECLS_BEGIN

// The viewer's alternative for the transport `name`; channels and ports are absent. `named`: the
// offer says the name, as the server knows it. `reports`: the server reads reports of each packet
// (RFC 8888). 0 or as transport_find.
int transport_offer_of(const char *name, bool named, bool reports, struct rtsp_transport *out);

// Reads the server's response. Returns which transport of `offered` the server selected; NULL: none
// of them. If the response contains no name, it is the first plain RTP transport with the same kind
// of port or connection.
const char *transport_offer_taken(const struct transport_list *offered,
                                  const struct rtsp_transport *answer);

// At the server: returns the name of the requested transport; the default if the alternative
// contains no name.
const char *transport_offer_name(const struct rtsp_transport *offer);
// Returns true if the viewer reports each packet: its profile allows feedback, and the name shows
// that it has read the SDP.
bool transport_offer_reports(const struct rtsp_transport *offer);
// At the server: returns 0 if this alternative is supported; ERR_UNSUPPORTED; ERR_IO: the transport
// requires raw sockets, which the server does not have. `why`: the reason for people, without a
// full stop.
int transport_offer_check(const struct rtsp_transport *offer, bool has_raw, char *why, size_t cap);

DECLS_END
#endif
