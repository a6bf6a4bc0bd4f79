// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_login.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "server/http/message/http_door.h"

enum { NAME_MAX_ = 32 };

int web_login_form(struct text form, struct web_credentials *out)
{
    int err = http_form_parameter(form, "user", out->user, sizeof(out->user));
    if (!err)
        err = http_form_parameter(form, "password", out->password, sizeof(out->password));
    if (!err && *out->user && *out->password)
        return 0;
    return err == ERR_TOO_BIG ? err : ERR_MALFORMED;
}

static bool has_scheme(struct text origin, const char *scheme)
{
    size_t len = strlen(scheme);
    return origin.len > len && text_is_nocase((struct text){origin.at, len}, scheme);
}

bool web_login_is_own(const struct web_arrival *at, const struct http_request *r)
{
    static const struct http_origins none;
    struct text origin = http_request_header(r, "Origin");
    return http_door_visitor(&none, r) == HTTP_OWN &&
           !(at->is_secure && origin.at && !has_scheme(origin, "https://"));
}

static void name_of(const struct web_arrival *at, bool is_https, char out[NAME_MAX_])
{
    snprintf(out, NAME_MAX_, "%sweir-%u", is_https ? "__Host-" : "", at->port % 65536);
}

struct text web_login_token(const struct web_arrival *at, const struct http_request *r)
{
    char name[NAME_MAX_];
    struct text token = {0};
    if (!web_login_is_own(at, r))
        return token;
    name_of(at, true, name);
    int err = http_request_cookie(r, name, &token);
    name_of(at, false, name);
    if (err == ERR_NOT_FOUND && !at->is_secure)
        err = http_request_cookie(r, name, &token);
    return err ? (struct text){0} : token;
}

void web_login_cookie(const struct web_arrival *at, const struct http_request *r, const char *token,
                      long seconds, char out[WEB_COOKIE_MAX])
{
    // A proxy before this server may speak TLS for it: the page knows.
    bool is_https = at->is_secure || has_scheme(http_request_header(r, "Origin"), "https://");
    char name[NAME_MAX_];
    name_of(at, is_https, name);
    snprintf(out, WEB_COOKIE_MAX, "%s=%s; Path=/; Max-Age=%ld; HttpOnly; SameSite=Strict%s", name,
             seconds ? token : "", seconds, is_https ? "; Secure" : "");
}
