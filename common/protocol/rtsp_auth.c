// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_auth.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/scan.h"

enum { MAX_RENEWED = 8 }; // nonces in a row

// ---- Challenges ----

// Takes `name=value` or `name="value"`. Returns false at the end, or if the text is neither.
static bool take_parameter(struct scan *s, struct text *name, struct scan *value)
{
    while (scan_char(s, ',') || scan_char(s, ' '))
        ;
    struct scan token = text_take_token(s);
    if (scan_end(&token) || !scan_char(s, '='))
        return false;
    *name = text_of_scan(token);
    if (!scan_char(s, '"')) {
        *value = scan_trimmed(scan_until(s, ','));
        return true;
    }
    *value = *s;
    while (!scan_end(s) && *s->at != '"')
        s->at++;
    value->end = s->at;
    return scan_char(s, '"');
}

// A value that a request line cannot contain makes the challenge useless: returns false.
static bool keep(struct scan value, char out[RTSP_AUTH_MAX])
{
    if (scan_left(&value) >= RTSP_AUTH_MAX || !text_is_clean(value) ||
        memchr(value.at, '\\', scan_left(&value)))
        return false;
    text_copy(text_of_scan(value), out, RTSP_AUTH_MAX);
    return true;
}

static bool offers_auth(struct scan value)
{
    while (!scan_end(&value))
        if (scan_is(scan_trimmed(scan_until(&value, ',')), "auth"))
            return true;
    return false;
}

static bool read_digest(struct scan s, struct rtsp_auth *out, bool *stale)
{
    struct text name;
    struct scan value;
    bool good = true, has_nonce = false;
    while (take_parameter(&s, &name, &value)) {
        struct text text = text_of_scan(value);
        if (text_is_nocase(name, "realm")) {
            good &= keep(value, out->realm);
        } else if (text_is_nocase(name, "nonce")) {
            good &= has_nonce = keep(value, out->nonce);
        } else if (text_is_nocase(name, "opaque")) {
            good &= out->has_opaque = keep(value, out->opaque);
        } else if (text_is_nocase(name, "qop")) {
            out->qop = offers_auth(value);
            good &= out->qop;
        } else if (text_is_nocase(name, "stale")) {
            *stale = text_is_nocase(text, "true");
        } else if (text_is_nocase(name, "algorithm")) {
            out->sha256 = text_is_nocase(text, "SHA-256");
            good &= out->sha256 || text_is_nocase(text, "MD5");
        }
    }
    return good && has_nonce;
}

// Keeps the challenge if it is stronger than `best`. *stale: the server only requires a new nonce.
static void consider(struct text header, struct rtsp_auth *best, bool *stale)
{
    struct scan s = scan_trimmed(text_scan(header));
    struct text scheme = text_of_scan(text_take_token(&s));
    struct rtsp_auth candidate = {.scheme = RTSP_AUTH_DIGEST};
    bool old = false;
    if (text_is_nocase(scheme, "Digest") && read_digest(s, &candidate, &old) &&
        (best->scheme != RTSP_AUTH_DIGEST || candidate.sha256 > best->sha256)) {
        *best = candidate;
        *stale = old;
    } else if (text_is_nocase(scheme, "Basic") && best->scheme == RTSP_AUTH_NONE) {
        best->scheme = RTSP_AUTH_BASIC;
    }
}

// One header may have several challenges (RFC 7235, 4.1).
static void consider_all(struct text header, struct rtsp_auth *best, bool *stale)
{
    bool is_quoted = false;
    for (size_t i = 0; i < header.len; i++) {
        bool begins = i == 0 || header.at[i - 1] == ' ' || header.at[i - 1] == ',';
        if (begins && !is_quoted)
            consider((struct text){header.at + i, header.len - i}, best, stale);
        is_quoted ^= header.at[i] == '"';
    }
}

bool rtsp_auth_challenge(struct rtsp_auth *a, const struct rtsp_item *response)
{
    struct rtsp_auth best = {0};
    bool stale = false;
    for (int i = 0; i < response->header_count; i++)
        if (text_is_nocase(response->headers[i].name, "WWW-Authenticate"))
            consider_all(response->headers[i].value, &best, &stale);
    // A server that accepted a hash must not receive the password itself, nor send challenges
    // without end. Some let a nonce expire without saying `stale`.
    bool renewed = best.scheme == RTSP_AUTH_DIGEST && strcmp(best.nonce, a->nonce) != 0;
    int most = stale ? MAX_RENEWED : renewed ? 1 : 0;
    bool is_again = best.scheme <= a->scheme;
    if (!a->user[0] || best.scheme == RTSP_AUTH_NONE || (is_again && a->renewed >= most))
        return false;
    best.renewed = a->renewed + is_again;
    best.hash = a->hash;
    memcpy(best.user, a->user, sizeof(best.user));
    memcpy(best.password, a->password, sizeof(best.password));
    *a = best;
    return true;
}

void rtsp_auth_accepted(struct rtsp_auth *a)
{
    a->renewed = 0;
}

// ---- Credentials ----

struct hash_text {
    char hex[65];
};

static struct hash_text hash(const struct rtsp_auth *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct hash_text hash(const struct rtsp_auth *a, const char *format, ...)
{
    char text[4096];
    uint8_t sum[32];
    struct hash_text out = {""};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (!a->hash(a->sha256, text, strlen(text), sum))
        return out; // the server refuses it
    for (int i = 0; i < (a->sha256 ? 32 : 16); i++)
        snprintf(out.hex + 2 * i, 3, "%02x", sum[i]);
    return out;
}

// Base64 with padding (RFC 4648, section 4). `out` has room for 4 * ceil(len / 3) + 1 bytes.
static void base64(const uint8_t *data, size_t len, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t group = (uint32_t)data[i] << 16;
        group |= left > 1 ? (uint32_t)data[i + 1] << 8 : 0;
        group |= left > 2 ? data[i + 2] : 0;
        *out++ = digits[group >> 18];
        *out++ = digits[group >> 12 & 63];
        *out++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[group & 63] : '=';
    }
    *out = '\0';
}

static void put_basic(const struct rtsp_auth *a, char out[RTSP_AUTH_MAX_LINE])
{
    char plain[RTSP_AUTH_MAX + 2];
    char coded[(RTSP_AUTH_MAX + 2 + 2) / 3 * 4 + 1];
    int len = snprintf(plain, sizeof(plain), "%s:%s", a->user, a->password);
    base64((const uint8_t *)plain, (size_t)len, coded);
    snprintf(out, RTSP_AUTH_MAX_LINE, "Authorization: Basic %s\r\n", coded);
}

// RFC 2617, 3.2.2; RFC 7616, 3.4.
void rtsp_auth_line(struct rtsp_auth *a, const char *method, const char *uri, uint32_t cnonce,
                    char out[RTSP_AUTH_MAX_LINE])
{
    out[0] = '\0';
    if (a->scheme == RTSP_AUTH_BASIC)
        put_basic(a, out);
    if (a->scheme != RTSP_AUTH_DIGEST)
        return;
    struct hash_text user = hash(a, "%s:%s:%s", a->user, a->realm, a->password);
    struct hash_text request = hash(a, "%s:%s", method, uri);
    char extra[96] = "";
    struct hash_text response;
    if (a->qop) {
        char nonces[40];
        snprintf(nonces, sizeof(nonces), "%08x:%08" PRIx32, ++a->count, cnonce);
        snprintf(extra, sizeof(extra), ", qop=auth, nc=%.8s, cnonce=\"%s\"", nonces, nonces + 9);
        response = hash(a, "%s:%s:%s:auth:%s", user.hex, a->nonce, nonces, request.hex);
    } else {
        response = hash(a, "%s:%s:%s", user.hex, a->nonce, request.hex);
    }
    int len =
        snprintf(out, RTSP_AUTH_MAX_LINE,
                 "Authorization: Digest username=\"%s\", realm=\"%s\", nonce=\"%s\", "
                 "uri=\"%s\", response=\"%s\"%s%s%s%s%s\r\n",
                 a->user, a->realm, a->nonce, uri, response.hex,
                 a->sha256 ? ", algorithm=SHA-256" : "", extra, a->has_opaque ? ", opaque=\"" : "",
                 a->has_opaque ? a->opaque : "", a->has_opaque ? "\"" : "");
    if (len >= RTSP_AUTH_MAX_LINE)
        out[0] = '\0'; // a truncated line would corrupt the request
}
