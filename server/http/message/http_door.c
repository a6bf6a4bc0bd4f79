// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_door.h"

#include <string.h>

#include "common/base/err.h"

const char *http_origins_read(struct http_origins *o, const char *text)
{
    if (strcmp(text, "*") == 0) {
        o->all = true;
        return NULL;
    }
    if (o->count == HTTP_ORIGINS_MAX)
        return "at most 16 origins";
    const char *host = strstr(text, "://");
    size_t scheme = host ? (size_t)(host - text) : 0;
    bool known = (scheme == 4 && strncmp(text, "http", 4) == 0) ||
                 (scheme == 5 && strncmp(text, "https", 5) == 0);
    // These characters would end the origin in a header.
    if (!known || !host[3] || strpbrk(host + 3, "/?#;, \t\r\n'\"*"))
        return "expects the beginning of a URL, such as https://example.org or "
               "http://10.0.0.7:8080, or * for pages of all";
    o->origins[o->count++] = text;
    return NULL;
}

static const char *host_of(const char *origin)
{
    return strstr(origin, "://") + 3;
}

bool http_door_is_host_good(const struct http_origins *o, const struct http_request *r,
                            bool is_local)
{
    struct text host = r->host;
    if (!host.at || o->all)
        return true;
    for (int i = 0; i < o->count; i++)
        if (text_is_nocase(host, host_of(o->origins[i])))
            return true;
    const char *colon = host.len ? memchr(host.at, ':', host.len) : NULL;
    struct text name = {host.at, colon ? (size_t)(colon - host.at) : host.len};
    if (text_is_nocase(name, "localhost"))
        return true;
    char text[128];
    text_copy(host, text, sizeof(text));
    const char *digits = *text == '[' ? "[]0123456789abcdefABCDEF.:" : "0123456789.:";
    if (host.len >= sizeof(text) || text[strspn(text, digits)] != '\0')
        return false;
    // Other numbers lead here, too, such as 0.0.0.0 and [::ffff:127.0.0.1]. To these browsers do
    // not say for which site's page they send a request (Fetch Metadata, 2: trustworthy URLs
    // alone).
    return !is_local || !*text || strncmp(text, "127.", 4) == 0 || strcmp(text, "[::1]") == 0 ||
           strncmp(text, "[::1]:", 6) == 0;
}

// Returns true if the origin is an allowed one.
static bool is_listed(const struct http_origins *o, struct text origin)
{
    for (int i = 0; i < o->count; i++)
        if (text_is_nocase(origin, o->origins[i]))
            return true;
    return false;
}

// Returns scheme, host and port of a URL; what it has no authority for is returned whole.
static struct text origin_of(struct text url)
{
    size_t slashes = 0;
    for (size_t i = 0; i < url.len; i++) {
        slashes += url.at[i] == '/';
        if (slashes == 3)
            return (struct text){url.at, i};
    }
    return url;
}

// Returns true if the host and port of the origin are those that the request is for. The scheme may
// be that of a proxy before this server.
static bool is_own(struct text origin, struct text host)
{
    for (size_t i = 0; host.at && i + 3 <= origin.len; i++) {
        if (memcmp(origin.at + i, "://", 3) != 0)
            continue;
        struct text name = {origin.at + i + 3, origin.len - i - 3};
        if (name.len != host.len)
            return false;
        for (size_t k = 0; k < name.len; k++)
            if (text_lower(name.at[k]) != text_lower(host.at[k]))
                return false;
        return name.len > 0;
    }
    return false;
}

enum http_visitor http_door_visitor(const struct http_origins *o, const struct http_request *r)
{
    struct text origin = http_request_header(r, "Origin");
    struct text site = http_request_header(r, "Sec-Fetch-Site");
    if (origin.at && is_own(origin, r->host))
        return HTTP_OWN;
    if (!origin.at && (text_is_nocase(site, "same-origin") || text_is_nocase(site, "none")))
        return HTTP_OWN;
    if (!origin.at) // an <img>, a <video>, a link
        origin = origin_of(http_request_header(r, "Referer"));
    // To an address that is neither encrypted nor local, a browser sends no Sec-Fetch-Site.
    if (!site.at && (!origin.at || is_own(origin, r->host)))
        return HTTP_OWN;
    return o->all || is_listed(o, origin) ? HTTP_ALLOWED : HTTP_FOREIGN;
}

void http_door_add(const struct http_origins *o, const struct http_request *r, bool is_public,
                   struct http_head *h)
{
    struct text origin = r ? http_request_header(r, "Origin") : (struct text){0};
    bool is_allowed = o->all || (r && http_door_visitor(o, r) == HTTP_ALLOWED);
    char text[256];
    text_copy(origin, text, sizeof(text));
    if (o->count && !o->all)
        http_head_add(h, "Vary", "Origin");
    if (o->all || (origin.at && origin.len < sizeof(text) && is_listed(o, origin))) {
        http_head_add(h, "Access-Control-Allow-Origin", o->all ? "*" : text);
        http_head_add(h, "Access-Control-Expose-Headers",
                      "Content-Length, Content-Range, Date, Age");
    }
    http_head_add(h, "Cross-Origin-Resource-Policy",
                  is_public || is_allowed ? "cross-origin" : "same-origin");
}

void http_door_add_preflight(const struct http_origins *o, const struct http_request *r,
                             const char *methods, const char *headers, struct http_head *h)
{
    http_head_add(h, "Allow", methods);
    if (http_door_visitor(o, r) != HTTP_ALLOWED)
        return;
    http_head_add(h, "Access-Control-Allow-Methods", methods);
    http_head_add(h, "Access-Control-Allow-Headers", headers);
    http_head_add(h, "Access-Control-Max-Age", "86400");
}
