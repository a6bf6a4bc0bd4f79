// SPDX-License-Identifier: GPL-2.0-or-later
// The IPv6 address in the brackets of "[ADDR6]:PORT" and of URLs, with its zone, which is the
// network interface of a link-local address (RFC 4007, 11): "fe80::1%eth0", in URLs
// "fe80::1%25eth0" (RFC 6874, 2). Both are read everywhere; "%25" alone is the zone "25".
#ifndef WEIR_BASE_IP_LITERAL_H
#define WEIR_BASE_IP_LITERAL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    IP_LITERAL_ADDRESS = 46, // bytes with NUL, INET6_ADDRSTRLEN
    IP_LITERAL_ZONE = 16,    // with NUL, IF_NAMESIZE
};

struct ip_literal {
    char address[IP_LITERAL_ADDRESS];
    char zone[IP_LITERAL_ZONE]; // an interface's name or number; empty: none
};

// Parts the `len` bytes between the brackets; what no address is, is left to inet_pton. 0, or
// ERR_MALFORMED with *why (static text): also if a link-local address (fe80::/10) has no zone,
// or another address has one.
int ip_literal_read(const char *at, size_t len, struct ip_literal *out, const char **why);

#ifdef __cplusplus
}
#endif
#endif
