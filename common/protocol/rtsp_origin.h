// SPDX-License-Identifier: GPL-2.0-or-later
// The server that an RTSP client talks to: its URL, the credentials for it, and where a redirect
// (RFC 2326, section 11.3) leads. Credentials belong to one origin, which is scheme, host and port
// (RFC 6454, section 4): a redirect to another origin does not take them along.
#ifndef WEIR_PROTOCOL_RTSP_ORIGIN_H
#define WEIR_PROTOCOL_RTSP_ORIGIN_H

#include "common/base/decls.h"
#include "common/protocol/rtsp_auth.h"
#include "common/wire/text.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum { RTSP_MAX_REDIRECTS = 5 };

struct rtsp_origin {
    struct url url; // as the user gave it, or as the last redirect did
    int redirects;
    bool withheld; // a redirect led away from the origin that the credentials are for
    struct rtsp_auth auth;
};

void rtsp_origin_init(struct rtsp_origin *o, const struct url *url, rtsp_hash_fn *hash);
// Goes to `location`, the value of a Location header (.at == NULL: the response has none). 0, or
// ERR_MALFORMED with *why (static text): the location is unusable, or this is one redirect more
// than RTSP_MAX_REDIRECTS.
int rtsp_origin_redirect(struct rtsp_origin *o, struct text location, const char **why);

DECLS_END
#endif
