// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/text.h"

#include <string.h>

char text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool text_is(struct text t, const char *s)
{
    return t.len == strlen(s) && (t.len == 0 || memcmp(t.at, s, t.len) == 0);
}

bool text_is_nocase(struct text t, const char *s)
{
    if (t.len != strlen(s))
        return false;
    for (size_t i = 0; i < t.len; i++)
        if (text_lower(t.at[i]) != text_lower(s[i]))
            return false;
    return true;
}

void text_copy(struct text t, char *out, size_t cap)
{
    size_t len = t.len < cap ? t.len : cap - 1;
    if (len)
        memcpy(out, t.at, len);
    out[len] = '\0';
}

struct text text_of_scan(struct scan s)
{
    struct text t = {s.at, scan_left(&s)};
    return t;
}

struct scan text_scan(struct text t)
{
    return scan_of(t.at ? t.at : "", t.len);
}

struct text text_trimmed(struct scan s, size_t cap)
{
    s = scan_trimmed(s);
    if (scan_left(&s) >= cap)
        s.end = s.at + cap - 1;
    return text_of_scan(scan_trimmed(s)); // the cut may expose white space
}

// The characters of a token, RFC 2326, 15.1.
bool text_is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (text_lower(c) >= 'a' && text_lower(c) <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

struct scan text_take_token(struct scan *s)
{
    struct scan token = {s->at, s->at};
    while (token.end < s->end && text_is_token_char(*token.end))
        token.end++;
    s->at = token.end;
    return token;
}

// Returns true if there are no control characters but tab and line ends, so that no header can
// inject lines into a log or another header.
bool text_is_clean(struct scan s)
{
    for (; !scan_end(&s); s.at++) {
        unsigned char c = (unsigned char)*s.at;
        if (c == '\r' && (scan_left(&s) < 2 || s.at[1] != '\n'))
            return false;
        if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
            return false;
    }
    return true;
}
