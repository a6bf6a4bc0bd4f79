// SPDX-License-Identifier: GPL-2.0-or-later
// What a server says of itself by DNS-SD (RFC 6763), service type _weir._tcp: an instance name, a
// port, and a TXT record of path=/PATH and, if it takes TLS only, tls=1. Never a key or a user.
// What comes from the network is untrusted. Pure.
#ifndef WEIR_WIRE_SERVICE_TEXT_H
#define WEIR_WIRE_SERVICE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/url.h"

DECLS_BEGIN

#define SERVICE_TYPE "_weir._tcp"
enum {
    SERVICE_NAME_MAX = 64,  // bytes with NUL: an instance name has at most 63 (RFC 6763, 4.1.1)
    SERVICE_PATH_MAX = 201, // bytes with NUL: a TXT string has at most 255 (RFC 6763, 6.1)
};

struct service_text {
    char path[SERVICE_PATH_MAX]; // begins with '/'
    bool tls;
};

// Writes a name that is UTF-8 without control characters; what does not fit is cut off.
void service_name_clean(const char *name, char out[SERVICE_NAME_MAX]);
// Writes the path up to its query, which may contain a key; "/" if the rest is too long or cannot
// stand in a URL.
void service_path_clean(const char *path, size_t len, char out[SERVICE_PATH_MAX]);
// Reads one string of a TXT record into *out; ignores keys that are not known. The caller sets
// *out to the path "/" without TLS first. Keys are compared without case (RFC 6763, 6.4).
void service_text_read(struct service_text *out, const void *string, size_t len);
// Writes the URL of a server at `address`, an IPv4 or IPv6 literal; `zone` is the interface of a
// link-local IPv6 address, else NULL. Returns false: it is no URL (url_parse).
bool service_url(const struct service_text *t, const char *address, const char *zone, int port,
                 char out[URL_MAX_TEXT]);

DECLS_END
#endif
