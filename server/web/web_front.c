// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_front.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"
#include "server/policy/http_target.h"
#include "server/policy/login_sessions.h"
#include "server/web/web_files.h"
#include "server/web/websocket.h"

static const char FILES[] = "/.weir/";
static const char PAGE[] = "index.html";
static const char LOGIN[] = "/.weir/login", LOGOUT[] = "/.weir/logout";
// For a request by a page: "Basic" would open the browser's own window for passwords.
static const char LOGIN_CHALLENGE[] = "Weir-Login realm=\"weir\"";
static const char EMBED[] = "weir.js"; // pages of others load it
static const char STILL[] = ".jpg", CLIP[] = ".mp4";
static const char PROTOCOL[] = "rtsp.onvif.org";
static const char METHODS[] = "GET, HEAD, OPTIONS";

// ---- Answers

static void begin_for(const struct web_front *w, const struct http_request *r, int status,
                      bool is_public, struct web_answer *a)
{
    *a = (struct web_answer){.ends = w->last || !r || http_request_ends(r)};
    http_head_begin(&a->head, status, w->program, w->wall);
    http_door_add(w->allowed, r, is_public, &a->head);
}

static void begin(const struct web_front *w, const struct http_request *r, int status,
                  struct web_answer *a)
{
    begin_for(w, r, status, false, a);
}

static void add_body(struct web_answer *a, const char *type, const char *body, size_t len)
{
    http_head_add(&a->head, "Content-Type", type);
    http_head_add(&a->head, "X-Content-Type-Options", "nosniff");
    a->body = body;
    a->body_len = len;
}

// A sentence for people, in a->text after begin().
static void say(struct web_answer *a)
{
    http_head_add(&a->head, "Cache-Control", "no-store");
    add_body(a, "text/plain; charset=utf-8", a->text, strlen(a->text));
}

static void add_policy(const struct web_front *w, struct web_answer *a)
{
    char policy[1536];
    int at = snprintf(
        policy, sizeof(policy),
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "
        "img-src 'self' data: blob:; media-src blob:; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors %s",
        w->allowed->all ? "*" : "'self'");
    for (int i = 0; i < w->allowed->count && at < (int)sizeof(policy); i++)
        at += snprintf(policy + at, sizeof(policy) - (size_t)at, " %s", w->allowed->origins[i]);
    if (at < (int)sizeof(policy))
        http_head_add(&a->head, "Content-Security-Policy", policy);
    else
        http_head_add(&a->head, "Content-Security-Policy",
                      "default-src 'none'; frame-ancestors 'none'");
    http_head_add(&a->head, "Referrer-Policy", "no-referrer"); // the URL may have a key
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

static void answer_file(const struct web_front *w, const struct http_request *r,
                        struct web_answer *a)
{
    size_t prefix = sizeof(FILES) - 1;
    bool below = r->path.len >= prefix && memcmp(r->path.at, FILES, prefix) == 0;
    bool icon = text_is(r->path, "/favicon.ico");
    struct text name = below ? (struct text){r->path.at + prefix, r->path.len - prefix}
                             : (struct text){PAGE, sizeof(PAGE) - 1};
    const struct web_file *file = icon ? NULL : find_file(name);
    begin_for(w, r, file ? 200 : 404, file && strcmp(file->name, EMBED) == 0, a);
    if (!file) {
        snprintf(a->text, sizeof(a->text), "no such file\n");
        say(a);
        return;
    }
    http_head_add(&a->head, "Cache-Control", "no-cache");
    add_policy(w, a);
    add_body(a, type_of(file->name), file->bytes, file->len);
}

static void answer_upgrade(const struct web_front *w, const struct http_request *r,
                           struct web_answer *a)
{
    char accept[WEBSOCKET_ACCEPT_TEXT];
    struct text key = http_request_header(r, "Sec-WebSocket-Key");
    bool version = text_is(http_request_header(r, "Sec-WebSocket-Version"), "13");
    bool good = http_request_lists(r, "Connection", "Upgrade") && key.at &&
                http_request_lists(r, "Sec-WebSocket-Protocol", PROTOCOL);
    if (!version || !good || websocket_accept_key(key, accept) != 0) {
        begin(w, r, version ? 400 : 426, a);
        a->ends = true;
        if (!version)
            http_head_add(&a->head, "Sec-WebSocket-Version", "13");
        snprintf(a->text, sizeof(a->text),
                 "expected a WebSocket (RFC 6455, version 13) with the subprotocol %s\n", PROTOCOL);
        say(a);
        return;
    }
    begin(w, r, 101, a);
    a->ends = false;
    http_head_add(&a->head, "Upgrade", "websocket");
    http_head_add(&a->head, "Connection", "Upgrade");
    http_head_add(&a->head, "Sec-WebSocket-Accept", accept);
    http_head_add(&a->head, "Sec-WebSocket-Protocol", PROTOCOL);
}

static bool is_login(const struct http_request *r)
{
    return text_is(r->path, LOGIN) || text_is(r->path, LOGOUT);
}

static void refuse(const struct web_front *w, const struct http_request *r, int status,
                   const char *text, struct web_answer *a)
{
    begin(w, r, status, a);
    a->ends = true;
    if (status == 405)
        http_head_add(&a->head, "Allow", r && is_login(r) ? "POST" : METHODS);
    snprintf(a->text, sizeof(a->text), "%s\n", text);
    say(a);
}

static void forbid(const struct web_front *w, const struct http_request *r, struct text value,
                   const char *what, struct web_answer *a)
{
    char name[128], text[400];
    text_copy(value, name, sizeof(name));
    snprintf(text, sizeof(text), "%s %s", name, what);
    refuse(w, r, 403, text, a);
}

// Answers a request that must not have been plain.
static void answer_plain(const struct web_front *w, const struct http_request *r, bool upgrade,
                         struct web_answer *a)
{
    char url[2048], name[256];
    bool has_query = r->query.len > 0;
    text_copy(r->host, name, sizeof(name));
    int len = snprintf(url, sizeof(url), "https://%s%.*s%s%.*s", name, (int)r->path.len, r->path.at,
                       has_query ? "?" : "", (int)r->query.len, has_query ? r->query.at : "");
    bool known = r->host.len && r->host.len < sizeof(name) && len > 0 &&
                 (size_t)len < sizeof(url) && r->path.at[0] == '/' &&
                 name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789-._:[]")] == '\0';
    begin(w, r, known && !upgrade ? 308 : 403, a);
    a->ends = true;
    if (a->head.status == 308)
        http_head_add(&a->head, "Location", url);
    snprintf(a->text, sizeof(a->text),
             "plain http:// could be overheard: open the page with https:// (a server with "
             "--insecure allows it)\n");
    say(a);
}

static void answer_options(const struct web_front *w, const struct http_request *r,
                           struct web_answer *a)
{
    begin(w, r, 204, a);
    http_door_add_preflight(w->allowed, r, METHODS, "Authorization, Range", &a->head);
    http_head_add(&a->head, "Cache-Control", "no-store");
}

// A form's Content-Type may have parameters.
static bool is_form(const struct http_request *r)
{
    struct text type = http_request_header(r, "Content-Type");
    const char *end = type.len ? memchr(type.at, ';', type.len) : NULL;
    return text_is_nocase(
        http_request_trim((struct text){type.at, end ? (size_t)(end - type.at) : type.len}),
        "application/x-www-form-urlencoded");
}

static void answer_login(const struct web_front *w, const struct http_request *r,
                         struct web_answer *a)
{
    bool logs_in = text_is(r->path, LOGIN);
    if (r->method != HTTP_POST)
        refuse(w, r, http_head_no_method(r->method), "expected POST", a);
    else if (!web_login_is_own(&w->at, r))
        refuse(w, r, 403, "pages of other servers may not log in here: open a page of this one", a);
    else if (r->is_chunked)
        refuse(w, r, 411, "expected a form with Content-Length", a);
    else if (http_request_header(r, "Expect").at)
        refuse(w, r, 417, "send the form at once, without Expect", a);
    else if (r->length > WEB_FORM_MAX)
        refuse(w, r, 413, "the form is too long", a);
    else if (logs_in && !is_form(r))
        refuse(w, r, 415, "expected application/x-www-form-urlencoded: user=...&password=...", a);
    else
        *a = (struct web_answer){.task = logs_in ? WEB_LOGIN : WEB_LOGOUT};
}

void web_front_answer(const struct web_front *w, const struct http_request *r, struct web_answer *a)
{
    bool head = r->method == HTTP_HEAD;
    bool upgrade = http_request_lists(r, "Upgrade", "websocket");
    bool is_foreign = http_door_visitor(w->allowed, r) == HTTP_FOREIGN;
    if (w->encrypted_only) {
        answer_plain(w, r, upgrade, a);
    } else if (w->open && !http_door_is_host_good(w->allowed, r, w->is_local)) {
        forbid(w, r, r->host,
               "is not a name of this server: open the page by its address, or start the server "
               "with --allow-origin and the origin of this page",
               a);
    } else if (upgrade && is_foreign) {
        forbid(w, r, http_request_header(r, "Origin"),
               "has pages that may not play from this server: start it with --allow-origin and "
               "that origin to allow them",
               a);
    } else if (is_login(r)) {
        answer_login(w, r, a);
    } else if (r->length || r->is_chunked) {
        refuse(w, r, head || r->method == HTTP_GET ? 413 : http_head_no_method(r->method),
               "a request with a body is not served", a);
    } else if (r->method == HTTP_OPTIONS) {
        answer_options(w, r, a);
    } else if (!head && r->method != HTTP_GET) {
        refuse(w, r, http_head_no_method(r->method), "expected GET or HEAD", a);
    } else if (upgrade && !head) {
        answer_upgrade(w, r, a);
    } else if (!web_front_still_path(r).at && !web_front_clip_path(r).at &&
               !web_front_media_path(r).at) {
        answer_file(w, r, a);
    } else if (is_foreign) { // whether there is such a stream or not, and its camera stays off
        refuse(w, r, 403,
               "pages of other origins may not show pictures or play from this server: start it "
               "with --allow-origin and their origin to allow them",
               a);
    } else {
        *a = (struct web_answer){.task = web_front_still_path(r).at  ? WEB_STILL
                                         : web_front_clip_path(r).at ? WEB_CLIP
                                                                     : WEB_MEDIA};
    }
}

// Returns true if a rendition has this name, as live_packager and film_library give them. A film of
// a folder may end in .mp4, too.
static bool is_rendition(const char *name)
{
    return strcmp(name, "aac") == 0 || strcmp(name, "opus") == 0 ||
           (name[0] == 'v' && name[1] && name[1 + strspn(name + 1, "0123456789")] == '\0');
}

struct text web_front_media_path(const struct http_request *r)
{
    char path[REQUEST_URL_PATH_MAX];
    struct http_target t;
    if (http_request_path(r, path, sizeof(path)) != 0 || http_target_parse(path, &t) != 0 ||
        (t.file == HTTP_INIT && !is_rendition(t.name)))
        return (struct text){0};
    // Of the undecoded path: a slash is never escaped.
    int slashes = t.file == HTTP_INIT || t.file == HTTP_SEGMENT || t.file == HTTP_PART ? 2 : 1;
    size_t len = r->path.len;
    while (len && slashes)
        slashes -= r->path.at[--len] == '/';
    return request_path_is_alias(r->path.at, len) ? (struct text){0}
                                                  : (struct text){r->path.at, len};
}

// Returns the path before the suffix; .at == NULL: it has another one, or nothing before it.
static struct text path_before(const struct http_request *r, const char *suffix)
{
    size_t prefix = sizeof(FILES) - 1, len = strlen(suffix);
    struct text path = r->path;
    bool is_file = path.len >= prefix && memcmp(path.at, FILES, prefix) == 0;
    if (is_file || path.len <= len + 1 || memcmp(path.at + path.len - len, suffix, len) != 0)
        return (struct text){0};
    return (struct text){path.at, path.len - len};
}

struct text web_front_still_path(const struct http_request *r)
{
    return path_before(r, STILL);
}

// A film may have that suffix, too: its page has no such query.
struct text web_front_clip_path(const struct http_request *r)
{
    char value[1];
    bool has = http_request_parameter(r, "clip", value, sizeof(value)) != ERR_NOT_FOUND ||
               http_request_parameter(r, "recordings", value, sizeof(value)) != ERR_NOT_FOUND;
    return has ? path_before(r, CLIP) : (struct text){0};
}

// Begins the answer to a visit of a path. Returns false if the visit was refused: that is said.
static bool begin_visit(const struct web_front *w, const struct http_request *r, int status,
                        const char *reason, const char *challenge, struct web_answer *a)
{
    begin(w, r, status, a);
    if (status == 200)
        return true;
    struct text mode = http_request_header(r, "Sec-Fetch-Mode");
    if (status == 401)
        http_head_add(&a->head, "WWW-Authenticate",
                      mode.at && !text_is_nocase(mode, "navigate") ? LOGIN_CHALLENGE : challenge);
    http_head_add_retry(&a->head);
    snprintf(a->text, sizeof(a->text), "%s\n", reason);
    say(a);
    return false;
}

void web_front_still(const struct web_front *w, const struct http_request *r,
                     const struct web_still *still, struct web_answer *a)
{
    if (!begin_visit(w, r, still->status, still->reason, still->challenge, a))
        return;
    char age[40];
    snprintf(age, sizeof(age), "private, max-age=%d", still->max_age);
    http_head_add(&a->head, "Cache-Control", still->max_age ? age : "no-store");
    if (still->data) {
        add_body(a, "image/jpeg", still->data, still->bytes);
        return;
    }
    http_head_add(&a->head, "Content-Type", "image/jpeg"); // of HEAD: the length is not known yet
    a->body_len = SIZE_MAX;
}

void web_front_clip(const struct web_front *w, const struct http_request *r,
                    const struct web_clip *clip, struct web_answer *a)
{
    if (!begin_visit(w, r, clip->status, clip->reason, clip->challenge, a))
        return;
    char save[256];
    snprintf(save, sizeof(save), "attachment; filename=\"%s\"", clip->name);
    a->ends = true;
    http_head_add(&a->head, "Cache-Control", "no-store");
    http_head_add(&a->head, "X-Content-Type-Options", "nosniff");
    http_head_add(&a->head, "Content-Type", clip->is_list ? "application/json" : "video/mp4");
    if (!clip->is_list)
        http_head_add(&a->head, "Content-Disposition", save);
    a->body_len = SIZE_MAX;
}

void web_front_login(const struct web_front *w, const struct http_request *r,
                     const struct web_login *login, struct web_answer *a)
{
    char cookie[WEB_COOKIE_MAX];
    begin(w, r, login->status, a);
    if (login->status == 204) {
        web_login_cookie(&w->at, r, login->token,
                         login->token ? (long)(LOGIN_SESSION_TIME / USEC_PER_SEC) : 0, cookie);
        http_head_add(&a->head, "Set-Cookie", cookie);
        http_head_add(&a->head, "Cache-Control", "no-store");
        return;
    }
    if (login->status == 401)
        http_head_add(&a->head, "WWW-Authenticate", LOGIN_CHALLENGE);
    http_head_add_retry(&a->head);
    snprintf(a->text, sizeof(a->text), "%s\n", login->reason);
    say(a);
}

void web_front_refuse(const struct web_front *w, int status, struct web_answer *a)
{
    refuse(w, NULL, status,
           status == 414 || status == 431 ? "the request is too long"
           : status == 417                ? "nothing but 100-continue may be expected"
                                          : "not an HTTP request that this server understands",
           a);
}
