// SPDX-License-Identifier: GPL-2.0-or-later
// A cursor over text from outside that is not NUL-terminated. A scan that fails may have moved the
// cursor, so the caller must reject the whole text. Independent of the locale: digits are 0-9, the
// decimal point is '.'.
#ifndef WEIR_BASE_SCAN_H
#define WEIR_BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
    const char *at; // borrowed
    const char *end;
};

static inline struct scan scan_of(const char *data, size_t len)
{
    struct scan s = {data, len ? data + len : data}; // NULL + 0 is undefined (C17, 6.5.6)
    return s;
}

static inline size_t scan_left(const struct scan *s)
{
    return (size_t)(s->end - s->at);
}

static inline bool scan_end(const struct scan *s)
{
    return s->at == s->end;
}

static inline bool scan_char(struct scan *s, char c)
{
    if (scan_end(s) || *s->at != c)
        return false;
    s->at++;
    return true;
}

static inline bool scan_word(struct scan *s, const char *word)
{
    size_t len = strlen(word);
    if (scan_left(s) < len || memcmp(s->at, word, len) != 0)
        return false;
    s->at += len;
    return true;
}

static inline bool scan_digit(struct scan *s, int *digit)
{
    if (scan_end(s) || *s->at < '0' || *s->at > '9')
        return false;
    *digit = *s->at++ - '0';
    return true;
}

// Reads one or more digits as a number <= `max` (max <= INT64_MAX / 10 - 1).
static inline bool scan_int(struct scan *s, int64_t max, int64_t *out)
{
    int digit;
    if (!scan_digit(s, &digit))
        return false;
    int64_t value = digit;
    while (value <= max && scan_digit(s, &digit))
        value = value * 10 + digit;
    *out = value;
    return value <= max;
}

// Reads the digits after a decimal point as a fraction of 1. Digits beyond 1e-9 are consumed and
// ignored.
static inline double scan_fraction(struct scan *s)
{
    double value = 0;
    double weight = 0.1;
    for (int digit; scan_digit(s, &digit); weight /= 10)
        value += weight > 1e-10 ? digit * weight : 0;
    return value;
}

static inline void scan_space(struct scan *s)
{
    while (!scan_end(s) && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

// Returns the text without leading and trailing white space.
static inline struct scan scan_trimmed(struct scan s)
{
    scan_space(&s);
    while (!scan_end(&s) && (s.end[-1] == ' ' || s.end[-1] == '\t'))
        s.end--;
    return s;
}

// Returns the text before the next `c` and moves the cursor past `c`; without a `c`, takes all the
// rest.
static inline struct scan scan_until(struct scan *s, char c)
{
    struct scan part = *s;
    const char *found = scan_end(s) ? NULL : (const char *)memchr(s->at, c, scan_left(s));
    part.end = found ? found : s->end;
    s->at = found ? found + 1 : s->end;
    return part;
}

// Reads the next line, without its LF or CRLF. Returns false at the end of the text.
static inline bool scan_line(struct scan *s, struct scan *line)
{
    if (scan_end(s))
        return false;
    *line = scan_until(s, '\n');
    if (!scan_end(line) && line->end[-1] == '\r')
        line->end--;
    return true;
}

static inline bool scan_is(struct scan s, const char *word)
{
    return scan_word(&s, word) && scan_end(&s);
}

#endif
