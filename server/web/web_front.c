// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_front.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "server/web/web_files.h"
#include "server/web/websocket.h"

static const char FILES[] = "/.weir/";
static const char PAGE[] = "index.html";
static const char EMBED[] = "weir.js"; // pages of others load it
static const char STILL[] = ".jpg";
static const char PROTOCOL[] = "rtsp.onvif.org";

const char *web_origins_read(struct web_origins *o, const char *text)
{
    if (o->count == WEB_ORIGINS_MAX)
        return "at most 16 origins";
    const char *host = strstr(text, "://");
    size_t scheme = host ? (size_t)(host - text) : 0;
    bool known = (scheme == 4 && strncmp(text, "http", 4) == 0) ||
                 (scheme == 5 && strncmp(text, "https", 5) == 0);
    // These characters would end the origin in a header.
    if (!known || !host[3] || strpbrk(host + 3, "/?#;, \t\r\n'\"*"))
        return "expects the beginning of a URL, such as https://example.org or "
               "http://10.0.0.7:8080";
    o->origins[o->count++] = text;
    return NULL;
}

// ---- Who asks

static const char *host_of(const char *origin)
{
    return strstr(origin, "://") + 3;
}

static bool is_allowed_host(const struct web_front *w, struct text host)
{
    for (int i = 0; i < w->allowed->count; i++)
        if (text_is_nocase(host, host_of(w->allowed->origins[i])))
            return true;
    return false;
}

// As the metrics server does.
static bool is_host_good(const struct web_front *w, struct text host)
{
    if (!w->open || !host.at || is_allowed_host(w, host))
        return true;
    const char *colon = memchr(host.at, ':', host.len);
    struct text name = {host.at, colon ? (size_t)(colon - host.at) : host.len};
    if (text_is_nocase(name, "localhost"))
        return true;
    char text[128];
    text_copy(host, text, sizeof(text));
    const char *digits = *text == '[' ? "[]0123456789abcdefABCDEF.:" : "0123456789.:";
    return host.len < sizeof(text) && text[strspn(text, digits)] == '\0';
}

// Programs that are no browsers name no origin.
static bool is_origin_good(const struct web_front *w, struct text origin, struct text host)
{
    if (!origin.at)
        return true;
    for (int i = 0; i < w->allowed->count; i++)
        if (text_is_nocase(origin, w->allowed->origins[i]))
            return true;
    const char *slashes = memmem(origin.at, origin.len, "://", 3);
    if (!slashes || !host.at)
        return false;
    size_t scheme = (size_t)(slashes - origin.at) + 3;
    return origin.len - scheme == host.len &&
           strncasecmp(origin.at + scheme, host.at, host.len) == 0;
}

// ---- Answers

static const char *reason_of(int status)
{
    switch (status) {
    case 101:
        return "Switching Protocols";
    case 200:
        return "OK";
    case 308:
        return "Permanent Redirect";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 413:
        return "Content Too Large";
    case 426:
        return "Upgrade Required";
    case 429:
        return "Too Many Requests";
    case 503:
        return "Service Unavailable";
    default:
        return "Internal Server Error";
    }
}

static void add_header(struct web_answer *a, const char *name, const char *value)
{
    int len =
        snprintf(a->head + a->head_len, sizeof(a->head) - a->head_len, "%s: %s\r\n", name, value);
    if (len > 0 && (size_t)len < sizeof(a->head) - a->head_len)
        a->head_len += (size_t)len;
    else
        a->head[a->head_len] = '\0';
}

static void begin(const struct web_front *w, int status, struct web_answer *a)
{
    *a = (struct web_answer){.status = status, .ends = w->last};
    a->head_len =
        (size_t)snprintf(a->head, sizeof(a->head), "HTTP/1.1 %d %s\r\n", status, reason_of(status));
    add_header(a, "Server", w->program);
}

static void end(struct web_answer *a)
{
    // The longest answer leaves room.
    a->head_len += (size_t)snprintf(a->head + a->head_len, sizeof(a->head) - a->head_len, "\r\n");
}

static void add_body(struct web_answer *a, const char *type, const char *body, size_t len,
                     bool head)
{
    char number[32];
    snprintf(number, sizeof(number), "%zu", len);
    add_header(a, "Content-Type", type);
    add_header(a, "Content-Length", number);
    add_header(a, "X-Content-Type-Options", "nosniff");
    if (a->ends)
        add_header(a, "Connection", "close");
    a->body = body;
    a->body_len = head ? 0 : len;
    end(a);
}

// A sentence for people, in a->text after begin().
static void say(struct web_answer *a, bool head)
{
    add_header(a, "Cache-Control", "no-store");
    add_body(a, "text/plain; charset=utf-8", a->text, strlen(a->text), head);
}

static void add_policy(const struct web_front *w, struct web_answer *a)
{
    char policy[1536];
    int at = snprintf(
        policy, sizeof(policy),
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
        "img-src 'self' data: blob:; media-src blob:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'");
    for (int i = 0; i < w->allowed->count && at < (int)sizeof(policy); i++)
        at += snprintf(policy + at, sizeof(policy) - (size_t)at, " %s", w->allowed->origins[i]);
    if (at < (int)sizeof(policy))
        add_header(a, "Content-Security-Policy", policy);
    else
        add_header(a, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    add_header(a, "Referrer-Policy", "no-referrer"); // the URL may have a key
}

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot && strcmp(dot, ".html") == 0)
        return "text/html; charset=utf-8";
    if (dot && strcmp(dot, ".css") == 0)
        return "text/css; charset=utf-8";
    return "text/javascript; charset=utf-8";
}

static const struct web_file *find_file(struct text name)
{
    for (size_t i = 0; i < web_file_count; i++)
        if (text_is(name, web_files[i].name))
            return &web_files[i];
    return NULL;
}

static void answer_file(const struct web_front *w, const struct web_request *r, bool head,
                        struct web_answer *a)
{
    size_t prefix = sizeof(FILES) - 1;
    bool below = r->path.len >= prefix && memcmp(r->path.at, FILES, prefix) == 0;
    bool icon = text_is(r->path, "/favicon.ico");
    struct text name = below ? (struct text){r->path.at + prefix, r->path.len - prefix}
                             : (struct text){PAGE, sizeof(PAGE) - 1};
    const struct web_file *file = icon ? NULL : find_file(name);
    begin(w, file ? 200 : 404, a);
    if (!file) {
        snprintf(a->text, sizeof(a->text), "no such file\n");
        say(a, head);
        return;
    }
    add_header(a, "Cache-Control", "no-cache");
    add_header(a, "Cross-Origin-Resource-Policy",
               strcmp(file->name, EMBED) == 0 ? "cross-origin" : "same-origin");
    add_policy(w, a);
    add_body(a, type_of(file->name), file->bytes, file->len, head);
}

static void answer_upgrade(const struct web_front *w, const struct web_request *r,
                           struct web_answer *a)
{
    char accept[WEBSOCKET_ACCEPT_TEXT];
    struct text key = web_request_header(r, "Sec-WebSocket-Key");
    bool version = text_is(web_request_header(r, "Sec-WebSocket-Version"), "13");
    bool good = web_request_lists(r, "Connection", "Upgrade") && key.at &&
                web_request_lists(r, "Sec-WebSocket-Protocol", PROTOCOL);
    if (!version || !good || websocket_accept_key(key, accept) != 0) {
        begin(w, version ? 400 : 426, a);
        a->ends = true;
        if (!version)
            add_header(a, "Sec-WebSocket-Version", "13");
        snprintf(a->text, sizeof(a->text),
                 "expected a WebSocket (RFC 6455, version 13) with the subprotocol %s\n", PROTOCOL);
        say(a, false);
        return;
    }
    begin(w, 101, a);
    a->ends = false;
    a->upgrades = true;
    add_header(a, "Upgrade", "websocket");
    add_header(a, "Connection", "Upgrade");
    add_header(a, "Sec-WebSocket-Accept", accept);
    add_header(a, "Sec-WebSocket-Protocol", PROTOCOL);
    end(a);
}

static void forbid(const struct web_front *w, struct text value, const char *what, bool head,
                   struct web_answer *a)
{
    char name[128];
    text_copy(value, name, sizeof(name));
    begin(w, 403, a);
    a->ends = true;
    snprintf(a->text, sizeof(a->text), "%s %s\n", name, what);
    say(a, head);
}

// Answers a request that must not have been plain.
static void answer_plain(const struct web_front *w, const struct web_request *r, struct text host,
                         bool upgrade, bool head, struct web_answer *a)
{
    char url[2048], name[256];
    bool has_query = r->query.len > 0;
    text_copy(host, name, sizeof(name));
    int len = snprintf(url, sizeof(url), "https://%s%.*s%s%.*s", name, (int)r->path.len, r->path.at,
                       has_query ? "?" : "", (int)r->query.len, has_query ? r->query.at : "");
    bool known = host.len && host.len < sizeof(name) && len > 0 && (size_t)len < sizeof(url) &&
                 name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789-._:[]")] == '\0';
    begin(w, known && !upgrade ? 308 : 403, a);
    a->ends = true;
    if (a->status == 308)
        add_header(a, "Location", url);
    snprintf(a->text, sizeof(a->text),
             "plain http:// could be overheard: open the page with https:// (a server with "
             "--insecure allows it)\n");
    say(a, head);
}

void web_front_answer(const struct web_front *w, const struct web_request *r, struct web_answer *a)
{
    struct text host = web_request_header(r, "Host");
    struct text origin = web_request_header(r, "Origin");
    bool head = text_is(r->method, "HEAD");
    bool upgrade = web_request_lists(r, "Upgrade", "websocket");
    if (w->encrypted_only) {
        answer_plain(w, r, host, upgrade, head, a);
    } else if (!is_host_good(w, host)) {
        forbid(w, host,
               "is not a name of this server: open the page by its address, or start the server "
               "with --allow-origin and the origin of this page",
               head, a);
    } else if (upgrade && !is_origin_good(w, origin, host)) {
        forbid(w, origin,
               "has pages that may not play from this server: start it with --allow-origin and "
               "that origin to allow them",
               head, a);
    } else if (!head && !text_is(r->method, "GET")) {
        begin(w, 405, a);
        a->ends = true;
        add_header(a, "Allow", "GET, HEAD");
        snprintf(a->text, sizeof(a->text), "expected GET or HEAD\n");
        say(a, false);
    } else if (upgrade && !head) {
        answer_upgrade(w, r, a);
    } else if (web_front_still_path(r).at) {
        *a = (struct web_answer){.is_still = true};
    } else {
        answer_file(w, r, head, a);
        a->ends = a->ends || r->minor == 0 || web_request_lists(r, "Connection", "close");
    }
}

struct text web_front_still_path(const struct web_request *r)
{
    size_t prefix = sizeof(FILES) - 1, suffix = sizeof(STILL) - 1;
    struct text path = r->path;
    bool is_file = path.len >= prefix && memcmp(path.at, FILES, prefix) == 0;
    if (is_file || path.len <= suffix + 1 ||
        memcmp(path.at + path.len - suffix, STILL, suffix) != 0)
        return (struct text){0};
    return (struct text){path.at, path.len - suffix};
}

void web_front_still(const struct web_front *w, const struct web_request *r,
                     const struct web_still *still, struct web_answer *a)
{
    bool head = text_is(r->method, "HEAD");
    begin(w, still->status, a);
    a->ends = a->ends || r->minor == 0 || web_request_lists(r, "Connection", "close");
    if (still->status != 200) {
        if (still->status == 401)
            add_header(a, "WWW-Authenticate", still->challenge);
        if (still->status == 503)
            add_header(a, "Retry-After", "1");
        snprintf(a->text, sizeof(a->text), "%s\n", still->reason);
        say(a, head);
        return;
    }
    add_header(a, "Cache-Control", "no-store");
    add_header(a, "Cross-Origin-Resource-Policy", "same-origin");
    if (still->data) {
        add_body(a, "image/jpeg", still->data, still->bytes, head);
        return;
    }
    add_header(a, "Content-Type", "image/jpeg"); // of HEAD: the length is not known yet
    if (a->ends)
        add_header(a, "Connection", "close");
    end(a);
}

void web_front_refuse(const struct web_front *w, int err, struct web_answer *a)
{
    begin(w, err == ERR_TOO_BIG ? 413 : 400, a);
    a->ends = true;
    snprintf(a->text, sizeof(a->text),
             err == ERR_TOO_BIG ? "the request is too long\n" : "not an HTTP request\n");
    say(a, false);
}
