// SPDX-License-Identifier: GPL-2.0-or-later
// rtsp://[USER[:PASSWORD]@]HOST[:PORT]/PATH[?level=N] (RFC 2326, 3.2; IPv6 literals in brackets,
// ip_literal.h), and the URL of a medium from the SDP's control attribute (RFC 2326, C.1.1).
#ifndef WEIR_WIRE_URL_H
#define WEIR_WIRE_URL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    URL_MAX_TEXT = 1024, // bytes with NUL
    URL_MAX_HOST = 256,  // bytes with NUL
    URL_MAX_USER = 128,  // bytes with NUL
    URL_DEFAULT_PORT = 8554,
    URL_RTSP_PORT = 554, // default port of third-party servers
};

struct url {
    // As given, with the query but without the user: the form used in reports.
    char text[URL_MAX_TEXT];
    char user[URL_MAX_USER]; // unescaped; empty: none
    char password[URL_MAX_USER];
    char host[URL_MAX_HOST]; // without brackets, with the zone after one %
    int port;
    bool has_port; // true if the URL contains a port
    int level;     // N of ?level=N, -1 if absent
};

// Returns 0, or ERR_MALFORMED with *reason (static text).
int url_parse(const char *text, struct url *out, const char **reason);

// Returns true if a request line can hold the text: white space and control characters would break
// the line apart.
bool url_is_plain(const char *text);

// Writes the URL for requests: `text` without the zone, which has no meaning on another machine
// (RFC 6874, 4).
void url_request_text(const struct url *u, char out[URL_MAX_TEXT]);

// Returns true if the URL has no path. Such a URL lists the files of a folder, if the server serves
// one.
bool url_is_root(const struct url *u);

// Writes the URL for SETUP: `control` if it is absolute; `base` if it is "*" or empty; otherwise
// `base`, including its query, followed by `control`. Servers expect the last form, although RFC
// 1808 differs. Returns 0; ERR_TOO_BIG; ERR_MALFORMED: the URL is not plain (url_is_plain).
int url_resolve(const char *base, const char *control, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
