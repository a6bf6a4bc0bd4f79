// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the IPv6 address in the brackets of "[ADDR6]:PORT" and of URLs, with its zone: the network
// interface of a link-local address (RFC 4007, 11). The zone is written "fe80::1%eth0", in URLs
// "fe80::1%25eth0" (RFC 6874, 2). Both forms are accepted everywhere; "%25" alone is the zone "25".
#ifndef WEIR_BASE_IP_LITERAL_H
#define WEIR_BASE_IP_LITERAL_H

#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    IP_LITERAL_ADDRESS = 46, // bytes with NUL, INET6_ADDRSTRLEN
    IP_LITERAL_ZONE = 16,    // bytes with NUL, IF_NAMESIZE
};

struct ip_literal {
    char address[IP_LITERAL_ADDRESS];
    char zone[IP_LITERAL_ZONE]; // an interface's name or number; empty: no zone
};

// Splits the `len` bytes between the brackets into address and zone; does not check the address,
// which the caller passes to inet_pton. Returns 0, or ERR_MALFORMED with *reason (static text). A
// link-local address (fe80::/10) without a zone is malformed, and so is any other address with one.
int ip_literal_read(const char *at, size_t len, struct ip_literal *out, const char **reason);

DECLS_END
#endif
