// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/url.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/base/ip_literal.h"
#include "common/base/level.h"

// Reads digits only, 0 .. max; returns -1 otherwise.
static int parse_number(const char *at, size_t len, int max)
{
    int value = 0;
    if (!len || len > 9)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (at[i] < '0' || at[i] > '9')
            return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value <= max ? value : -1;
}

size_t url_scheme(const char *text)
{
    if (strncasecmp(text, "rtsp://", 7) == 0)
        return 7;
    return strncasecmp(text, "rtsps://", 8) == 0 ? 8 : 0;
}

bool url_is_plain(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    }
    return true;
}

static int parse_authority(const char *at, size_t len, struct url *out, const char **reason)
{
    const char *host = at;
    size_t host_len;
    const char *rest; // the text after the host
    char scoped[IP_LITERAL_ADDRESS + IP_LITERAL_ZONE];
    if (len && at[0] == '[') {
        const char *close = memchr(at, ']', len);
        if (!close) {
            *reason = "'[' without ']'";
            return ERR_MALFORMED;
        }
        struct ip_literal literal;
        int err = ip_literal_read(at + 1, (size_t)(close - at) - 1, &literal, reason);
        if (err)
            return err;
        // The form that getaddrinfo(3) accepts.
        host_len = (size_t)snprintf(scoped, sizeof(scoped), "%s%s%s", literal.address,
                                    literal.zone[0] ? "%" : "", literal.zone);
        host = scoped;
        rest = close + 1;
    } else {
        const char *colon = memchr(at, ':', len);
        rest = colon ? colon : at + len;
        host_len = (size_t)(rest - at);
    }
    if (!host_len || host_len >= sizeof(out->host)) {
        *reason = host_len ? "the host's name is too long" : "no host";
        return ERR_MALFORMED;
    }
    memcpy(out->host, host, host_len);
    out->host[host_len] = '\0';

    size_t left = (size_t)(at + len - rest);
    out->port = URL_DEFAULT_PORT;
    out->has_port = left;
    if (left && (rest[0] != ':' || (out->port = parse_number(rest + 1, left - 1, 65535)) < 1)) {
        *reason = "the port must be a number from 1 to 65535 (put an IPv6 address in brackets)";
        return ERR_MALFORMED;
    }
    return 0;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

// RFC 3986, 2.1. Returns false if the text is too long, or contains characters that would break a
// header line or RFC 2617's strings.
static bool unescape(const char *at, size_t len, char out[URL_MAX_USER])
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        char c = at[i];
        if (c == '%' && i + 2 < len && hex_digit(at[i + 1]) >= 0 && hex_digit(at[i + 2]) >= 0) {
            c = (char)(hex_digit(at[i + 1]) << 4 | hex_digit(at[i + 2]));
            i += 2;
        }
        if (used + 1 >= URL_MAX_USER || (unsigned char)c < ' ' || c == 0x7f || c == '"')
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

// Parses "USER[:PASSWORD]".
static int parse_user(const char *at, size_t len, struct url *out, const char **reason)
{
    const char *colon = memchr(at, ':', len);
    size_t user = colon ? (size_t)(colon - at) : len;
    if (user && !memchr(at, '"', len) && unescape(at, user, out->user) &&
        (!colon || unescape(colon + 1, len - user - 1, out->password)))
        return 0;
    *reason =
        "the user's name or password is empty, too long, or has characters that cannot be sent";
    return ERR_MALFORMED;
}

// Returns the first NAME=VALUE of a query; NULL: there is none. *end: the end of its value.
static char *find_parameter(char *text, const char *name, char **end)
{
    size_t name_len = strlen(name);
    for (char *at = strchr(text, '?'); at && *at; at += strcspn(at, "&")) {
        at++;
        if (strncmp(at, name, name_len) != 0 || at[name_len] != '=')
            continue;
        // Clients put the name of a track after the query of its stream.
        static const char *const tracks[] = {"/trackID=", "/streamid=", "/stream="};
        *end = at + strcspn(at, "&#");
        for (size_t i = 0; i < sizeof(tracks) / sizeof(*tracks); i++) {
            char *track = strstr(at, tracks[i]);
            if (track && track < *end)
                *end = track;
        }
        return at;
    }
    return NULL;
}

bool url_take_parameter(char *text, const char *name, char *value, size_t cap)
{
    char *end, *at;
    bool found = false;
    value[0] = '\0';
    while ((at = find_parameter(text, name, &end))) {
        const char *from = at + strlen(name) + 1;
        size_t len = (size_t)(end - from);
        if (!found && len < cap) {
            memcpy(value, from, len);
            value[len] = '\0';
        }
        found = true;
        if (*end == '&')
            end++;
        else
            at--; // the '&' or '?' before it
        memmove(at, end, strlen(end) + 1);
    }
    return found;
}

int url_add_key(char *text, size_t cap, const char *key)
{
    size_t used = strlen(text), more = strlen(key) + 5;
    if (used + more + 1 > cap)
        return ERR_TOO_BIG;
    snprintf(text + used, cap - used, "%ckey=%s", strchr(text, '?') ? '&' : '?', key);
    return 0;
}

static bool check_pin(struct url *u)
{
    if (!u->secure || strncmp(u->pin, "sha256:", 7) != 0 || strlen(u->pin) != URL_MAX_PIN - 1)
        return false;
    for (char *c = u->pin + 7; *c; c++) {
        int digit = hex_digit(*c);
        if (digit < 0)
            return false;
        *c = "0123456789abcdef"[digit];
    }
    return true;
}

static int parse_query(const char *query, struct url *out, const char **reason)
{
    out->level = -1;
    while (*query) {
        size_t len = strcspn(query, "&");
        if (len >= 6 && strncmp(query, "level=", 6) == 0) {
            out->level = parse_number(query + 6, len - 6, LADDER_MAX_LEVELS - 1);
            if (out->level < 0) {
                *reason = "?level= expects a number from 0 to 31";
                return ERR_MALFORMED;
            }
        }
        query += len;
        query += *query == '&';
    }
    return 0;
}

int url_parse(const char *text, struct url *out, const char **reason)
{
    memset(out, 0, sizeof(*out));
    if (strlen(text) >= sizeof(out->text)) {
        *reason = "too long";
        return ERR_MALFORMED;
    }
    size_t scheme = url_scheme(text);
    if (!scheme) {
        *reason = "it does not begin with rtsp://";
        return ERR_MALFORMED;
    }
    if (!url_is_plain(text)) {
        *reason = "it contains white space or control characters";
        return ERR_MALFORMED;
    }
    out->secure = scheme == 8;
    const char *authority = text + scheme;
    size_t len = strcspn(authority, "/?#");
    size_t user = len; // the last '@' separates: passwords may contain others
    while (user > 0 && authority[user - 1] != '@')
        user--;
    int err = user ? parse_user(authority, user - 1, out, reason) : 0;
    if (err)
        return err;
    authority += user;
    len -= user;
    memcpy(out->text, text, scheme);
    memcpy(out->text + scheme, authority, strlen(authority) + 1);
    if (url_take_parameter(out->text, "pin", out->pin, sizeof(out->pin)) && !check_pin(out)) {
        *reason = "?pin= expects sha256: and 64 hexadecimal digits, and an rtsps:// URL";
        return ERR_MALFORMED;
    }
    if (url_take_parameter(out->text, "key", out->key, sizeof(out->key)) && !out->key[0]) {
        *reason = "?key= expects a key of 1 to 255 characters";
        return ERR_MALFORMED;
    }
    err = parse_authority(authority, len, out, reason);
    if (err)
        return err;
    const char *query = strchr(out->text, '?');
    return parse_query(query ? query + 1 : "", out, reason);
}

void url_request_text(const struct url *u, char out[URL_MAX_TEXT])
{
    const char *at = u->text;
    size_t scheme = url_scheme(at);
    size_t authority = scheme + strcspn(at + scheme, "/?#");
    const char *close = memchr(at, ']', authority);
    const char *zone = close ? memchr(at, '%', (size_t)(close - at)) : NULL;
    if (zone)
        snprintf(out, URL_MAX_TEXT, "%.*s%s", (int)(zone - at), at, close);
    else
        memcpy(out, at, URL_MAX_TEXT);
}

bool url_is_root(const struct url *u)
{
    const char *authority = u->text + url_scheme(u->text);
    const char *path = authority + strcspn(authority, "/?#");
    return *path == '\0' || strcmp(path, "/") == 0;
}

int url_resolve(const char *base, const char *control, char *out, size_t cap)
{
    int len;
    if (!*control || strcmp(control, "*") == 0) {
        len = snprintf(out, cap, "%s", base);
    } else if (url_scheme(control)) {
        len = snprintf(out, cap, "%s", control);
    } else {
        size_t end = strlen(base);
        bool slash = (end && base[end - 1] == '/') || *control == '/';
        bool both = end && base[end - 1] == '/' && *control == '/';
        len = snprintf(out, cap, "%s%s%s", base, slash ? "" : "/", control + both);
    }
    if (len < 0 || (size_t)len >= cap)
        return ERR_TOO_BIG;
    return url_is_plain(out) ? 0 : ERR_MALFORMED;
}
