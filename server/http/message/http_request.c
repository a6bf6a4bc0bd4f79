// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_request.h"

#include <string.h>

#include "common/base/err.h"
#include "common/wire/request_path.h"

enum {
    BAD = 400,
    URI_TOO_LONG = 414,
    EXPECTATION = 417,
    HEAD_TOO_LARGE = 431,
    NOT_IMPLEMENTED = 501,
    VERSION = 505,
};

static const char *const methods[HTTP_OTHER] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                                "CONNECT", "OPTIONS", "TRACE", "PATCH"};

// ---- Pieces of text

// Cuts off the text before `c`. Returns false if there is none.
static bool cut(struct text *rest, char c, struct text *out)
{
    const char *at = rest->len ? memchr(rest->at, c, rest->len) : NULL;
    if (!at)
        return false;
    *out = (struct text){rest->at, (size_t)(at - rest->at)};
    rest->len -= out->len + 1;
    rest->at = at + 1;
    return true;
}

struct text http_request_trim(struct text t)
{
    while (t.len && (*t.at == ' ' || *t.at == '\t'))
        t = (struct text){t.at + 1, t.len - 1};
    while (t.len && (t.at[t.len - 1] == ' ' || t.at[t.len - 1] == '\t'))
        t.len--;
    return t;
}

static bool is_token(struct text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (!text_is_token_char(t.at[i]))
            return false;
    return t.len > 0;
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (text_lower(c) >= 'a' && text_lower(c) <= 'z');
}

static bool is_of(struct text t, const char *others)
{
    for (size_t i = 0; i < t.len; i++)
        if (!is_alnum(t.at[i]) && (t.at[i] == '\0' || !strchr(others, t.at[i])))
            return false;
    return true;
}

static bool begins_nocase(struct text t, const char *prefix)
{
    size_t len = strlen(prefix);
    return t.len >= len && text_is_nocase((struct text){t.at, len}, prefix);
}

// uri-host [ ":" port ] (RFC 9110, 7.2; RFC 3986, 3.2.2).
static bool is_host(struct text t)
{
    struct text name, port = t;
    bool literal = t.len && *t.at == '[';
    if (literal && (!cut(&port, ']', &name) || (port.len && *port.at != ':')))
        return false;
    if (literal) {
        name = (struct text){name.at + 1, name.len - 1};
        port = port.len ? (struct text){port.at + 1, port.len - 1} : port;
    } else if (!cut(&port, ':', &name)) {
        name = t;
        port.len = 0;
    }
    for (size_t i = 0; i < port.len; i++)
        if (port.at[i] < '0' || port.at[i] > '9')
            return false;
    return is_of(name, literal ? ":.%-_~" : "-._~!$&'()*+,;=%");
}

// ---- HTTP or RTSP

// Returns 1 if the first line ends in a version of HTTP, 0 if it does not, ERR_AGAIN if it has not
// ended.
static int names_http(const uint8_t *data, size_t len)
{
    const uint8_t *end = memchr(data, '\n', len < HTTP_LINE_MAX ? len : HTTP_LINE_MAX);
    struct text line = {(const char *)data, end ? (size_t)(end - data) : 0};
    struct text word;
    if (!end)
        return len < HTTP_LINE_MAX ? ERR_AGAIN : 0;
    bool has_words = false;
    while (cut(&line, ' ', &word))
        has_words = true;
    return has_words && begins_nocase(line, "HTTP/");
}

int http_request_begins(const uint8_t *data, size_t len)
{
    for (; len && (*data == '\r' || *data == '\n'); len--) // RFC 9112, 2.2
        data++;
    for (int i = 0; i < HTTP_OTHER; i++) {
        size_t all = strlen(methods[i]);
        if (memcmp(data, methods[i], len < all ? len : all) != 0)
            continue;
        if (len <= all)
            return ERR_AGAIN;
        if (data[all] == ' ') // RTSP has OPTIONS, too
            return i == HTTP_OPTIONS ? names_http(data, len) : 1;
    }
    return names_http(data, len) == 1;
}

// ---- The first line

static int decode_version(struct text t, int *minor)
{
    if (t.len != 8 || memcmp(t.at, "HTTP/", 5) != 0 || t.at[5] < '0' || t.at[5] > '9' ||
        t.at[6] != '.' || t.at[7] < '0' || t.at[7] > '9')
        return BAD;
    *minor = t.at[7] == '0' ? 0 : 1; // RFC 9110, 2.5: a later minor version is served as 1.1
    return t.at[5] == '1' ? 0 : VERSION;
}

// RFC 9112, 3.2: origin-form, absolute-form, and for some methods authority-form or "*".
static int decode_target(struct text target, struct http_request *out)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.at[i] <= ' ' || target.at[i] > '~' || target.at[i] == '#')
            return BAD; // a fragment is the client's alone (RFC 9110, 7.1)
    out->query = (struct text){target.at + target.len, 0};
    out->path = target;
    if (out->method == HTTP_CONNECT)
        return target.len && is_host(target) ? 0 : BAD;
    if (out->method == HTTP_OPTIONS && text_is(target, "*"))
        return 0;
    size_t scheme = begins_nocase(target, "http://")    ? 7
                    : begins_nocase(target, "https://") ? 8
                                                        : 0;
    if (scheme) {
        struct text rest = {target.at + scheme, target.len - scheme};
        size_t host = 0;
        while (host < rest.len && rest.at[host] != '/' && rest.at[host] != '?')
            host++;
        out->host = (struct text){rest.at, host};
        target = (struct text){rest.at + host, rest.len - host};
        if (!host || !is_host(out->host))
            return BAD;
    }
    if (!scheme && (!target.len || *target.at != '/'))
        return BAD;
    if (cut(&target, '?', &out->path))
        out->query = target;
    else
        out->path = target;
    if (!out->path.len) // http://HOST, without a path
        out->path = (struct text){"/", 1};
    return 0;
}

static int decode_first_line(struct text line, struct http_request *out)
{
    struct text target;
    if (!cut(&line, ' ', &out->method_text) || !cut(&line, ' ', &target) ||
        !is_token(out->method_text))
        return BAD;
    out->method = HTTP_GET;
    while (out->method < HTTP_OTHER && !text_is(out->method_text, methods[out->method]))
        out->method++;
    int err = decode_version(line, &out->minor);
    return err ? err : decode_target(target, out);
}

// ---- Headers

static int decode_header(struct text line, struct http_request *out)
{
    struct text name;
    if (!cut(&line, ':', &name) || !is_token(name))
        return BAD;
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.at[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return BAD;
    }
    if (out->header_count == HTTP_HEADERS_MAX)
        return HEAD_TOO_LARGE;
    out->headers[out->header_count++] = (struct http_header){name, http_request_trim(line)};
    return 0;
}

// Returns the number of headers of that name, and the value of the last one.
static int find_all(const struct http_request *r, const char *name, struct text *value)
{
    int count = 0;
    for (int i = 0; i < r->header_count; i++) {
        if (!text_is_nocase(r->headers[i].name, name))
            continue;
        *value = r->headers[i].value;
        count++;
    }
    return count;
}

static int decode_length(struct text t, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < t.len; i++) {
        if (t.at[i] < '0' || t.at[i] > '9')
            return BAD;
        uint64_t digit = (uint64_t)(t.at[i] - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * *out + digit;
    }
    return t.len ? 0 : BAD;
}

// Returns true if the request expects what this program does not know. HTTP/1.0 expects nothing.
static bool expects_other(const struct http_request *r)
{
    for (int i = 0; i < r->header_count && r->minor > 0; i++)
        if (text_is_nocase(r->headers[i].name, "Expect") &&
            !text_is_nocase(r->headers[i].value, "100-continue"))
            return true;
    return false;
}

// Decides where the request ends (RFC 9112, 6.3), and which host it is for (3.2).
static int decode_meaning(struct http_request *out)
{
    struct text host = {0}, length = {0}, coding = {0};
    int hosts = find_all(out, "Host", &host);
    int lengths = find_all(out, "Content-Length", &length);
    int codings = find_all(out, "Transfer-Encoding", &coding);
    if (hosts > 1 || (hosts == 0 && out->minor > 0) || !is_host(host))
        return BAD;
    if (!out->host.at) // RFC 9112, 3.2.2: that of an absolute target counts
        out->host = host;
    if (lengths > 1 || (lengths && codings) || (codings && out->minor == 0))
        return BAD;
    if (codings && (codings > 1 || !text_is_nocase(coding, "chunked")))
        return NOT_IMPLEMENTED;
    out->is_chunked = codings > 0;
    int err = lengths ? decode_length(length, &out->length) : 0;
    return !err && expects_other(out) ? EXPECTATION : err;
}

int http_request_decode(const uint8_t *data, size_t len, struct http_request *out, size_t *used)
{
    struct text rest = {(const char *)data, len < HTTP_HEAD_MAX ? len : HTTP_HEAD_MAX};
    struct text line;
    int err = 0;
    *out = (struct http_request){0};
    while (rest.len >= 2 && memcmp(rest.at, "\r\n", 2) == 0)
        rest = (struct text){rest.at + 2, rest.len - 2};
    if (rest.len && *rest.at != '\r' && !text_is_token_char(*rest.at))
        return BAD;
    size_t begin = (size_t)(rest.at - (const char *)data);
    for (bool first = true; cut(&rest, '\n', &line) && !err; first = false) {
        if (!line.len || line.at[line.len - 1] != '\r')
            return BAD;
        line.len--;
        if (first && line.len > HTTP_LINE_MAX)
            return URI_TOO_LONG;
        if (!line.len) {
            *used = (size_t)(rest.at - (const char *)data);
            return decode_meaning(out);
        }
        err = first ? decode_first_line(line, out) : decode_header(line, out);
    }
    if (err)
        return err;
    bool in_first = !out->method_text.at;
    if (in_first && len - begin > HTTP_LINE_MAX)
        return URI_TOO_LONG;
    return len < HTTP_HEAD_MAX ? ERR_AGAIN : HEAD_TOO_LARGE;
}

struct text http_request_header(const struct http_request *r, const char *name)
{
    for (int i = 0; i < r->header_count; i++)
        if (text_is_nocase(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct text){0};
}

struct text http_request_last(const struct http_request *r, const char *name)
{
    struct text value = {0};
    find_all(r, name, &value);
    return value;
}

bool http_request_lists(const struct http_request *r, const char *name, const char *token)
{
    for (int i = 0; i < r->header_count; i++) {
        if (!text_is_nocase(r->headers[i].name, name))
            continue;
        struct text rest = r->headers[i].value;
        struct text item;
        while (cut(&rest, ',', &item))
            if (text_is_nocase(http_request_trim(item), token))
                return true;
        if (text_is_nocase(http_request_trim(rest), token))
            return true;
    }
    return false;
}

bool http_request_ends(const struct http_request *r)
{
    return r->minor == 0 || http_request_lists(r, "Connection", "close");
}

// ---- Parts of the target

static int hex(char c)
{
    c = text_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Returns as http_request_parameter does.
static int decode_value(struct text t, char *out, size_t cap)
{
    size_t len = 0;
    for (size_t i = 0; i < t.len; i++) {
        char c = t.at[i] == '+' ? ' ' : t.at[i];
        if (c == '%') {
            int high = i + 2 < t.len ? hex(t.at[i + 1]) : -1;
            int low = high >= 0 ? hex(t.at[i + 2]) : -1;
            if (low < 0)
                return ERR_MALFORMED;
            c = (char)(16 * high + low);
            i += 2;
        }
        if (c == '\0')
            return ERR_MALFORMED;
        if (len + 1 >= cap)
            return ERR_TOO_BIG;
        out[len++] = c;
    }
    out[len] = '\0';
    return 0;
}

int http_form_parameter(struct text form, const char *name, char *out, size_t cap)
{
    struct text rest = form, item, key, value = {0};
    for (bool more = rest.len > 0; more;) {
        more = cut(&rest, '&', &item);
        if (!more)
            item = rest;
        if (!cut(&item, '=', &key) || !text_is(key, name))
            continue;
        if (value.at)
            return ERR_MALFORMED;
        value = item;
    }
    return value.at ? decode_value(value, out, cap) : ERR_NOT_FOUND;
}

int http_request_parameter(const struct http_request *r, const char *name, char *out, size_t cap)
{
    return http_form_parameter(r->query, name, out, cap);
}

int http_request_cookie(const struct http_request *r, const char *name, struct text *out)
{
    int count = 0;
    for (int i = 0; i < r->header_count; i++) {
        if (!text_is_nocase(r->headers[i].name, "Cookie"))
            continue;
        struct text rest = r->headers[i].value, item, key;
        for (bool more = true; more;) {
            more = cut(&rest, ';', &item);
            if (!more)
                item = rest;
            item = http_request_trim(item);
            if (!cut(&item, '=', &key) || !text_is(key, name))
                continue;
            bool is_quoted = item.len > 1 && *item.at == '"' && item.at[item.len - 1] == '"';
            *out = is_quoted ? (struct text){item.at + 1, item.len - 2} : item;
            count++;
        }
    }
    return count == 1 ? 0 : count ? ERR_MALFORMED : ERR_NOT_FOUND;
}

int http_request_path(const struct http_request *r, char *out, size_t cap)
{
    char url[3 * REQUEST_PATH_MAX + 1];
    if (r->path.len >= sizeof(url) || cap < 2)
        return ERR_TOO_BIG;
    if (r->path.len > 1 && request_path_is_alias(r->path.at, r->path.len))
        return ERR_MALFORMED;
    text_copy(r->path, url, sizeof(url));
    out[0] = '/';
    return request_path_decode(url, out + 1, cap - 1);
}
