// SPDX-License-Identifier: GPL-2.0-or-later
// The addresses under which a listening socket of this machine is reached.
#ifndef WEIR_NET_OWN_ADDRESSES_H
#define WEIR_NET_OWN_ADDRESSES_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

// Returns true for 0.0.0.0 and [::].
bool address_is_any(const struct sockaddr *a);
// Returns true if a socket of this machine can have the address; also if that is not known.
bool address_is_own(const struct sockaddr *a);
// Writes `listen` itself or, if it is every address, those of the interfaces that are up: IPv4
// before IPv6, loopback last, none that is valid on its link only. Ports are 0. Returns how many,
// at most `max`.
int own_addresses(const struct sockaddr *listen, struct sockaddr_storage *out, int max);

DECLS_END
#endif
