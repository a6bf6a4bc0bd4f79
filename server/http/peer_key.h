// SPDX-License-Identifier: GPL-2.0-or-later
// What the address of a peer counts as, where connections or failures are counted (places.h).
#ifndef WEIR_SERVER_HTTP_PEER_KEY_H
#define WEIR_SERVER_HTTP_PEER_KEY_H

#include <sys/socket.h>

#include "common/base/decls.h"
#include "server/policy/places.h"

DECLS_BEGIN

// All peers that have no address of IP count as one.
struct place_key peer_key(const struct sockaddr *peer);
// The same of an address that counts by itself, whatever its network is: that of a trusted proxy.
struct place_key peer_key_alone(const struct sockaddr *peer);

DECLS_END
#endif
