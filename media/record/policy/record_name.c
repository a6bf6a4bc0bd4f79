// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_name.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/put.h"

#define SUFFIX ".mkv"

struct part { // a conversion
    char letter;
    int digits;
    int min, max;
};

static const struct part parts[] = {
    {'Y', 4, 0, 9999}, {'m', 2, 1, 12}, {'d', 2, 1, 31},
    {'H', 2, 0, 23},   {'M', 2, 0, 59}, {'S', 2, 0, 60},
};

static const struct part *part_of(char letter)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i].letter == letter)
            return &parts[i];
    return NULL;
}

static int *member_of(char letter, struct record_time *t)
{
    switch (letter) {
    case 'Y':
        return &t->year;
    case 'm':
        return &t->month;
    case 'd':
        return &t->day;
    case 'H':
        return &t->hour;
    case 'M':
        return &t->minute;
    default:
        return &t->second;
    }
}

static int value_of(char letter, const struct record_time *t)
{
    struct record_time copy = *t;
    return *member_of(letter, &copy);
}

static const char *file_of(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    return slash ? slash + 1 : pattern;
}

int record_name_expand(const char *pattern, const char *name, char *out, size_t cap)
{
    struct put put = put_into(out, cap);
    bool found = false;
    for (const char *at = pattern; *at; at++) {
        bool is_name = at[0] == '%' && at[1] == 'N';
        size_t len = at[0] == '%' && at[1] ? 2 : 1;
        if (is_name)
            put_format(&put, "%s", name);
        else
            put_format(&put, "%.*s", (int)len, at);
        found = found || is_name;
        at += len - 1;
    }
    return put.full ? ERR_FULL : found ? 0 : ERR_NOT_FOUND;
}

const char *record_name_fault(const char *pattern)
{
    const char *file = file_of(pattern);
    size_t len = strlen(file), suffix = strlen(SUFFIX);
    if (len <= suffix || strcmp(file + len - suffix, SUFFIX) != 0)
        return "expects a name that ends in .mkv, such as 'DIR/%Y-%m-%d_%H-%M-%S.mkv'";
    if (file[0] == '.')
        return "expects a name that does not begin with a dot";
    for (const char *at = pattern; at < file; at++)
        if (*at == '%')
            return "expects % only in the name of the file: all recordings are in one folder";
    for (const char *at = file; *at; at++) {
        if (*at != '%')
            continue;
        at++;
        if (*at != '%' && !part_of(*at))
            return "expects, after a %, one of Y m d H M S and %";
    }
    return NULL;
}

bool record_name_has_time(const char *pattern)
{
    for (const char *at = file_of(pattern); *at; at++)
        if (*at == '%' && *++at != '%')
            return true;
    return false;
}

int record_name_make(const char *pattern, const struct record_time *t, int copy, char *out,
                     size_t cap)
{
    const char *file = file_of(pattern);
    size_t len = 0;
    for (const char *at = pattern; *at; at++) {
        char text[16] = {*at};
        if (at >= file && strcmp(at, SUFFIX) == 0 && copy > 1)
            snprintf(text, sizeof(text), "+%d.", copy);
        else if (at >= file && *at == '%' && *++at != '%')
            snprintf(text, sizeof(text), "%0*d", part_of(*at)->digits, value_of(*at, t));
        size_t more = strlen(text);
        if (len + more >= cap)
            return ERR_FULL;
        memcpy(out + len, text, more);
        len += more;
    }
    out[len] = '\0';
    return 0;
}

// Reads a number of so many digits in its range. Returns false if there is none.
static bool read_part(const struct part *p, const char **name, int *out)
{
    int value = 0;
    for (int i = 0; i < p->digits; i++, (*name)++) {
        if (**name < '0' || **name > '9')
            return false;
        value = 10 * value + (**name - '0');
    }
    *out = value;
    return value >= p->min && value <= p->max;
}

static bool skip_copy(const char **name)
{
    const char *at = *name + 1;
    int value = 0;
    if (**name != '+' || *at == '0')
        return false;
    for (; *at >= '0' && *at <= '9' && value <= RECORD_NAME_COPIES; at++)
        value = 10 * value + (*at - '0');
    *name = at;
    return value >= 2 && value <= RECORD_NAME_COPIES;
}

bool record_name_matches(const char *pattern, const char *name)
{
    struct record_time t;
    return record_name_time(pattern, name, &t);
}

bool record_name_time(const char *pattern, const char *name, struct record_time *t)
{
    *t = (struct record_time){.year = 1970, .month = 1, .day = 1};
    for (const char *at = file_of(pattern); *at; at++) {
        if (strcmp(at, SUFFIX) == 0 && *name == '+' && !skip_copy(&name))
            return false;
        if (*at == '%' && at[1] != '%') {
            at++;
            if (!read_part(part_of(*at), &name, member_of(*at, t)))
                return false;
            continue;
        }
        if (*at == '%')
            at++;
        if (*name++ != *at)
            return false;
    }
    return *name == '\0';
}

int record_name_folder(const char *pattern, char *out, size_t cap)
{
    size_t len = (size_t)(file_of(pattern) - pattern);
    const char *folder = len == 0 ? "." : pattern;
    if (len > 1)
        len--; // without the slash, unless it is the root
    int written = snprintf(out, cap, "%.*s", len ? (int)len : 1, folder);
    return written < (int)cap ? 0 : ERR_FULL;
}
