// SPDX-License-Identifier: GPL-2.0-or-later
// Which web pages may use a server, for each of its HTTP ports.
//
// A browser sends requests to any address for any page that the user visits, also to this machine.
// Three headers say for which page, and a page cannot write them:
//
//   Host            the name in the URL. "DNS rebinding" maps the name of an attacker to an address
//                   of the victim's machine: its page then has the origin of this server. So the
//                   name must be a number, localhost, or that of an allowed origin
//   Origin          the page's origin (RFC 6454), of a request by a script and of a WebSocket
//   Sec-Fetch-Site  (Fetch Metadata, 2.3) whether the page is another site's, or of another port:
//                   also for a request that has no Origin, such as that of an <img>
//
// Where a browser sends neither Origin nor Sec-Fetch-Site, the Referer says for which page. Pages
// of other origins are let in by --allow-origin only. Programs that are no browsers send none of
// the three. Pure.
#ifndef WEIR_SERVER_HTTP_MESSAGE_HTTP_DOOR_H
#define WEIR_SERVER_HTTP_MESSAGE_HTTP_DOOR_H

#include "common/base/decls.h"
#include "server/http/message/http_head.h"
#include "server/http/message/http_request.h"

DECLS_BEGIN

enum { HTTP_ORIGINS_MAX = 16 };

struct http_origins { // all zero at first
    bool all;         // "*": pages of every origin
    int count;
    const char *origins[HTTP_ORIGINS_MAX]; // borrowed, such as "https://example.org"
};

// Appends an origin (RFC 6454, 6.2): scheme, host and port; or "*". Borrows `text`. Returns NULL,
// or why it was not appended (static text).
const char *http_origins_read(struct http_origins *o, const char *text);

enum http_visitor {
    HTTP_OWN,     // no page, or one of this server
    HTTP_ALLOWED, // a page of an allowed origin
    HTTP_FOREIGN, // a page of another origin
};

// Returns true if the request's Host is a number, localhost or that of an allowed origin, or there
// is none. `is_local`: the connection is to a loopback address; then the number must be one.
bool http_door_is_host_good(const struct http_origins *o, const struct http_request *r,
                            bool is_local);
// Returns for what page a browser sends the request.
enum http_visitor http_door_visitor(const struct http_origins *o, const struct http_request *r);
// Adds what a browser has to know to give the response to the page or not to: CORS (Fetch, 3.2) and
// Cross-Origin-Resource-Policy, which all responses have, so that none differs from another for a
// page that must not know what there is. `r`: NULL: the request could not be read. `is_public`: any
// page may have it.
void http_door_add(const struct http_origins *o, const struct http_request *r, bool is_public,
                   struct http_head *h);
// Adds to the response to OPTIONS what pages of allowed origins may do (Fetch, 3.2.2).
void http_door_add_preflight(const struct http_origins *o, const struct http_request *r,
                             const char *methods, const char *headers, struct http_head *h);

DECLS_END
#endif
