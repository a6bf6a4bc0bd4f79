// SPDX-License-Identifier: GPL-2.0-or-later
// Transports in the Transport header of SETUP (RFC 2326, 12.39): what the viewer offers, what the
// server takes of it, and what the viewer reads in the answer.
#ifndef WEIR_TRANSPORT_TRANSPORT_OFFER_H
#define WEIR_TRANSPORT_TRANSPORT_OFFER_H

#include "common/transport/transport_list.h"
#include "common/wire/rtsp_transport.h"

#ifdef __cplusplus
extern "C" {
#endif

// The viewer's alternative for the transport `name`; channels and ports are absent. `named`: the
// offer says the name, as the server knows it. `reports`: the server reads reports of each packet
// (RFC 8888). 0 or as transport_find.
int transport_offer_of(const char *name, bool named, bool reports, struct rtsp_transport *out);

// Reads the server's answer: the transport of `offered` that it took, in that list; NULL: none. A
// server that does not name it took the first of this kind of port or connection that is plain RTP.
const char *transport_offer_taken(const struct transport_list *offered,
                                  const struct rtsp_transport *answer);

// The server: the name of the transport that an alternative asks for, the default if it names none.
const char *transport_offer_name(const struct rtsp_transport *offer);
// The viewer reports each packet: the profile allows feedback, and the name shows that it read the
// SDP.
bool transport_offer_reports(const struct rtsp_transport *offer);
// Returns 0 if the server can give this alternative; ERR_UNSUPPORTED; ERR_IO: it has no raw
// sockets, which this transport needs. `why`: the reason for people, without a full stop.
int transport_offer_check(const struct rtsp_transport *offer, bool has_raw, char *why, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
