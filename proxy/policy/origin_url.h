// SPDX-License-Identifier: GPL-2.0-or-later
// Which URL of an origin a viewer requests. With one origin the paths are the origin's:
// rtsp://PROXY/film.mp4 is rtsp://ORIGIN/film.mp4. Without, the path begins with the origin:
// rtsp://PROXY/HOST[:PORT]/film.mp4, for the hosts that are allowed only, so that the proxy is no
// open relay. User and password are those of the one origin, and go to no other host. Pure.
#ifndef WEIR_PROXY_POLICY_ORIGIN_URL_H
#define WEIR_PROXY_POLICY_ORIGIN_URL_H

#include "common/base/decls.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum { ORIGIN_URL_HOSTS = 64 };

struct origin_host {
    char name[URL_MAX_HOST]; // without brackets
    int port;                // 0: any
};

struct origin_rules {
    bool has_origin;
    struct url origin; // with has_origin
    bool srtp;         // their datagrams are SRTP even beside a plain connection
    int host_count;
    struct origin_host hosts[ORIGIN_URL_HOSTS]; // that are allowed besides
};

// Appends HOST[:PORT]; an IPv6 address may be without brackets if it has no port. Returns NULL, or
// why it was not appended (static text).
const char *origin_url_allow(struct origin_rules *rules, const char *text);

// `path`: of the viewer's URL, with its query; a track's name at its end and ?level=N are left out.
// Returns 0; ERR_NOT_FOUND: the path names no host, or does not begin with '/'; ERR_UNSUPPORTED:
// the host is not allowed; ERR_MALFORMED: the result is no URL, or request_path.h refuses the path.
int origin_url_of(const struct origin_rules *rules, const char *path, struct url *out);
// Returns true if an origin may redirect the proxy to this URL: its host is that of `origin`, or
// allowed. `rules`: struct origin_rules.
bool origin_url_may_follow(const void *rules, const struct url *to);
// Returns true if `path` names the same stream as `first`, whose query later requests leave out.
bool origin_url_is_same(const char *first, const char *path);

DECLS_END
#endif
