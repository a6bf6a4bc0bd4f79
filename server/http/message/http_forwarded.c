// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_forwarded.h"

#include <string.h>

#include "common/base/err.h"

// Returns the text behind the last `c`, or all of it, without blanks around it.
static struct text behind_last(struct text t, char c)
{
    size_t at = t.len;
    while (at > 0 && t.at[at - 1] != c)
        at--;
    return http_request_trim((struct text){t.at + at, t.len - at});
}

// Returns the value of for= in an item of Forwarded, without quotes; .at == NULL: it has none.
static struct text find_for(struct text item)
{
    while (item.len) {
        const char *end = memchr(item.at, ';', item.len);
        size_t len = end ? (size_t)(end - item.at) : item.len;
        struct text pair = http_request_trim((struct text){item.at, len});
        item = (struct text){item.at + len, item.len - len};
        if (item.len)
            item = (struct text){item.at + 1, item.len - 1};
        if (pair.len < 4 || !text_is_nocase((struct text){pair.at, 4}, "for="))
            continue;
        struct text value = {pair.at + 4, pair.len - 4};
        bool is_quoted = value.len >= 2 && value.at[0] == '"' && value.at[value.len - 1] == '"';
        return is_quoted ? (struct text){value.at + 1, value.len - 2} : value;
    }
    return (struct text){0};
}

int http_forwarded_client(const struct http_request *r, char out[HTTP_FORWARDED_TEXT])
{
    struct text standard = http_request_last(r, "Forwarded");
    struct text other = http_request_last(r, "X-Forwarded-For");
    if (!standard.at && !other.at)
        return ERR_NOT_FOUND;
    if (standard.at && other.at)
        return ERR_MALFORMED;
    struct text value =
        standard.at ? find_for(behind_last(standard, ',')) : behind_last(other, ',');
    if (value.len && *value.at == '[') { // [IPv6]:PORT
        const char *end = memchr(value.at, ']', value.len);
        value = (struct text){value.at + 1, end ? (size_t)(end - value.at) - 1 : 0};
    } else if (value.len) { // IPv4:PORT; a bare IPv6 address has several colons
        const char *colon = memchr(value.at, ':', value.len);
        size_t before = colon ? (size_t)(colon - value.at) : value.len;
        if (colon && !memchr(colon + 1, ':', value.len - before - 1))
            value.len = before;
    }
    if (!value.len || value.len >= HTTP_FORWARDED_TEXT)
        return ERR_MALFORMED;
    text_copy(value, out, HTTP_FORWARDED_TEXT);
    return out[strspn(out, "0123456789abcdefABCDEF.:")] == '\0' ? 0 : ERR_MALFORMED;
}
