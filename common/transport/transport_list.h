// SPDX-License-Identifier: GPL-2.0-or-later
// "NAME[:PARAMS][,NAME[:PARAMS]...]": transports in order of preference. Parameters may hold commas
// themselves (minbuf:1,3): a part that begins with a digit belongs to the name before it, and so
// does what is no transport's name behind a name that has parameters (tfrc:damp,selfclock,udp).
// "auto" stands for TRANSPORT_LIST_AUTO.
#ifndef WEIR_TRANSPORT_TRANSPORT_LIST_H
#define WEIR_TRANSPORT_TRANSPORT_LIST_H

#include <stdbool.h>

#include "common/protocol/transport_names.h"
#include "common/transport/transport.h"

#ifdef __cplusplus
extern "C" {
#endif

// UDP, then what passes where UDP is blocked, then what passes everywhere.
#define TRANSPORT_LIST_AUTO "mtp,mtp-raw,minbuf"

// Splits only; whether a name exists is transport_find's business. 0; ERR_MALFORMED: an empty part,
// or parameters without a name; ERR_TOO_BIG: too many, or one too long.
int transport_list_split(const char *text, struct transport_list *out);
// The transports to request instead of `list` from a server that does not know Weir's: plain RTP
// over TCP or UDP. TCP, which passes firewalls, is first if the list has both or is the default.
struct transport_list transport_list_standard(const struct transport_list *list);
// Returns true if one of them needs raw sockets.
bool transport_list_needs_raw(const struct transport_list *list);

#ifdef __cplusplus
}
#endif
#endif
