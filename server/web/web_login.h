// SPDX-License-Identifier: GPL-2.0-or-later
// The login of a browser as it is in HTTP: the form with user and password, and the cookie with the
// token of login_sessions.h.
//
// The cookie is HttpOnly (no script reads it) and SameSite=Strict; over https it is Secure, and its
// prefix __Host- keeps other hosts of the domain and plain pages from writing it. Cookies are those
// of a host whatever the port is, so the name has the port: servers on one machine do not end each
// other's logins. A cookie counts for the server's own pages alone: browsers send one with what the
// pages of others request, too, if these are of the same site. Pure.
#ifndef WEIR_SERVER_WEB_WEB_LOGIN_H
#define WEIR_SERVER_WEB_WEB_LOGIN_H

#include "common/base/decls.h"
#include "server/http/message/http_request.h"

DECLS_BEGIN

enum {
    WEB_FORM_MAX = 2048,    // bytes
    WEB_USER_MAX = 64,      // bytes with NUL
    WEB_PASSWORD_MAX = 400, // bytes with NUL
    WEB_COOKIE_MAX = 256,   // bytes of a value of Set-Cookie, with NUL
};

struct web_credentials {
    char user[WEB_USER_MAX];
    char password[WEB_PASSWORD_MAX];
};

// Where a request arrived.
struct web_arrival {
    bool is_secure; // the connection is encrypted
    unsigned port;  // of the server
};

// Reads user=...&password=... Returns 0; ERR_MALFORMED: not both are there once, or one is empty;
// ERR_TOO_BIG: they do not fit.
int web_login_form(struct text form, struct web_credentials *out);
// Returns true if no page of another origin can have made the browser send the request. Over TLS a
// page of the same host that came without TLS is another one.
bool web_login_is_own(const struct web_arrival *at, const struct http_request *r);
// Returns the token of the request's cookie; .len == 0: there is none that counts.
struct text web_login_token(const struct web_arrival *at, const struct http_request *r);
// Writes the value of Set-Cookie that keeps the token for `seconds`; 0: the cookie is deleted.
void web_login_cookie(const struct web_arrival *at, const struct http_request *r, const char *token,
                      long seconds, char out[WEB_COOKIE_MAX]);

DECLS_END
#endif
