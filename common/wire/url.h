// SPDX-License-Identifier: GPL-2.0-or-later
// rtsp[s]://[USER[:PASSWORD]@]HOST[:PORT]/PATH[?level=N][&key=KEY] (RFC 2326, 3.2; IPv6 literals in
// brackets, ip_literal.h), and the URL of a medium from the SDP's control attribute (RFC 2326,
// C.1.1).
#ifndef WEIR_WIRE_URL_H
#define WEIR_WIRE_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    URL_MAX_TEXT = 1024, // bytes with NUL
    URL_MAX_HOST = 256,  // bytes with NUL
    URL_MAX_USER = 128,  // bytes with NUL
    URL_MAX_KEY = 256,   // bytes with NUL
    URL_MAX_PIN = 72,    // bytes of "sha256:" and 64 hexadecimal digits, with NUL
    URL_DEFAULT_PORT = 8554,
    URL_RTSP_PORT = 554, // default port of third-party servers
};

struct url {
    // As given, with the query but without the user, the key and the pin: the form used in reports.
    char text[URL_MAX_TEXT];
    char key[URL_MAX_KEY];   // of ?key=KEY, as given; empty: none
    char user[URL_MAX_USER]; // unescaped; empty: none
    char password[URL_MAX_USER];
    char host[URL_MAX_HOST]; // without brackets, with the zone after one %
    int port;
    bool has_port; // true if the URL contains a port
    bool secure;   // rtsps://
    // Of ?pin=sha256:HEX, in lower case: what the server's key must be (tls_trust.h); empty: none.
    char pin[URL_MAX_PIN];
    int level; // N of ?level=N, -1 if absent
};

// Returns 0, or ERR_MALFORMED with *reason (static text).
int url_parse(const char *text, struct url *out, const char **reason);

// Returns the length of "rtsp://" or "rtsps://" at the beginning of a text, in any case; 0:
// neither.
size_t url_scheme(const char *text);

// Returns true if a request line can hold the text: white space and control characters would break
// the line apart.
bool url_is_plain(const char *text);

// Removes NAME=VALUE from the query, each time it occurs, and writes the first value, which ends
// before '&', '#' or a track's name that a client has appended to the query ("/trackID=0"). Returns
// true if there was one; a value that does not fit is removed, and `value` is empty.
bool url_take_parameter(char *text, const char *name, char *value, size_t cap);

// Appends key=KEY to the query. Returns 0 or ERR_TOO_BIG: `text` is unchanged.
int url_add_key(char *text, size_t cap, const char *key);

// Writes the URL for requests: `text` without the key (url_add_key), and without the zone, which
// has no meaning on another machine (RFC 6874, 4).
void url_request_text(const struct url *u, char out[URL_MAX_TEXT]);

// Returns true if the URL has no path. Such a URL lists the files of a folder, if the server serves
// one.
bool url_is_root(const struct url *u);

// Writes the URL for SETUP: `control` if it is absolute; `base` if it is "*" or empty; otherwise
// `base`, including its query, followed by `control`. Servers expect the last form, although RFC
// 1808 differs. Returns 0; ERR_TOO_BIG; ERR_MALFORMED: the URL is not plain (url_is_plain).
int url_resolve(const char *base, const char *control, char *out, size_t cap);

DECLS_END
#endif
