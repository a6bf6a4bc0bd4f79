// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses of proxies whose many connections are those of many viewers (--trust-proxy).
#ifndef WEIR_SERVER_HTTP_TRUSTED_PROXIES_H
#define WEIR_SERVER_HTTP_TRUSTED_PROXIES_H

#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum { TRUSTED_PROXIES_MAX = 16 };

struct trusted_proxies { // all zero at first
    int count;
    struct sockaddr_storage addresses[TRUSTED_PROXIES_MAX]; // their ports are 0
};

// Appends a numeric address, IPv6 with or without brackets. Returns NULL, or why it was not
// appended (static text).
const char *trusted_proxies_read(struct trusted_proxies *p, const char *text);
// Returns true if `peer`, of any port, is one of them.
bool trusted_proxies_has(const struct trusted_proxies *p, const struct sockaddr *peer);

DECLS_END
#endif
