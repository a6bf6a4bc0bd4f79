// SPDX-License-Identifier: GPL-2.0-or-later
// "NAME[:PARAMS][,NAME[:PARAMS]...]": transports in order of preference. Parameters may contain
// commas (minbuf:1,3). A part that begins with a digit belongs to the name before it. After a name
// with parameters, so does a part that is not a transport's name (tfrc:damp,selfclock,udp). "auto"
// stands for TRANSPORT_LIST_FIRST, from which live media moves to TRANSPORT_LIST_BESIDE.
#ifndef WEIR_TRANSPORT_TRANSPORT_LIST_H
#define WEIR_TRANSPORT_TRANSPORT_LIST_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/protocol/transport_names.h"
#include "common/transport/transport.h"

DECLS_BEGIN

// It works on every network, and begins at once. The viewer of stored media has a buffer, in which
// TCP's repair is in time: nothing is lost, and packets are full however small the frames are.
#define TRANSPORT_LIST_FIRST "minbuf"
// The controller made for live media.
#define TRANSPORT_LIST_BESIDE "scream"

// Only splits the text; transport_find checks the names. 0; ERR_MALFORMED: an empty part, or
// parameters without a name; ERR_TOO_BIG: too many names, or a name that is too long.
int transport_list_split(const char *text, struct transport_list *out);
// The value of an option, as option_read and option_value have it (option_table.h): also checks the
// names and their parameters.
const char *transport_list_read(struct transport_list *list, const char *value, char *why,
                                size_t cap);
const char *transport_list_value(int i, const char **help);
// The transports to request instead of `list` from a server that does not know Weir's: plain RTP
// over TCP or UDP. TCP, which passes firewalls, is first if the list has both or is the default.
// TRANSPORT_MULTICAST alone stays so.
struct transport_list transport_list_standard(const struct transport_list *list);
// Returns true if one of them needs raw sockets.
bool transport_list_needs_raw(const struct transport_list *list);

DECLS_END
#endif
