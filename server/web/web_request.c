// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/web/web_request.h"

#include <string.h>

#include "common/base/err.h"

int web_request_begins(const uint8_t *data, size_t len)
{
    static const char *const methods[] = {"GET ", "HEAD ", "POST "};
    int found = 0;
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        size_t all = strlen(methods[i]);
        size_t some = len < all ? len : all;
        if (memcmp(data, methods[i], some) == 0) {
            if (some == all)
                return 1;
            found = ERR_AGAIN;
        }
    }
    return found;
}

// Cuts off the text before `c`. Returns false if there is none.
static bool cut(struct text *rest, char c, struct text *out)
{
    const char *at = memchr(rest->at, c, rest->len);
    if (!at)
        return false;
    *out = (struct text){rest->at, (size_t)(at - rest->at)};
    rest->len -= out->len + 1;
    rest->at = at + 1;
    return true;
}

static struct text trim(struct text t)
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

// Returns true if all characters are printable ASCII without blanks.
static bool is_target(struct text t)
{
    for (size_t i = 0; i < t.len; i++)
        if (t.at[i] <= ' ' || t.at[i] > '~')
            return false;
    return t.len > 0 && t.at[0] == '/';
}

static int decode_first_line(struct text line, struct web_request *out)
{
    struct text target;
    if (!cut(&line, ' ', &out->method) || !cut(&line, ' ', &target) || !is_token(out->method) ||
        !is_target(target))
        return ERR_MALFORMED;
    if (text_is(line, "HTTP/1.1"))
        out->minor = 1;
    else if (!text_is(line, "HTTP/1.0"))
        return ERR_MALFORMED;
    out->query = (struct text){target.at + target.len, 0};
    if (cut(&target, '?', &out->path))
        out->query = target;
    else
        out->path = target;
    return 0;
}

static int decode_header(struct text line, struct web_request *out)
{
    struct text name;
    if (!cut(&line, ':', &name) || !is_token(name))
        return ERR_MALFORMED;
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.at[i] < ' ' && line.at[i] != '\t')
            return ERR_MALFORMED;
    if (out->header_count == WEB_REQUEST_HEADERS)
        return ERR_TOO_BIG;
    out->headers[out->header_count].name = name;
    out->headers[out->header_count++].value = trim(line);
    return 0;
}

int web_request_decode(const uint8_t *data, size_t len, struct web_request *out, size_t *used)
{
    const uint8_t *end = memmem(data, len < WEB_REQUEST_MAX ? len : WEB_REQUEST_MAX, "\r\n\r\n", 4);
    if (!end)
        return len < WEB_REQUEST_MAX ? ERR_AGAIN : ERR_TOO_BIG;
    *out = (struct web_request){0};
    *used = (size_t)(end - data) + 4;
    struct text rest = {(const char *)data, *used - 2};
    struct text line;
    int err = ERR_MALFORMED;
    for (bool first = true; cut(&rest, '\n', &line); first = false) {
        if (!line.len || line.at[line.len - 1] != '\r')
            return ERR_MALFORMED;
        line.len--;
        err = first ? decode_first_line(line, out) : decode_header(line, out);
        if (err)
            return err;
    }
    struct text body = web_request_header(out, "Content-Length");
    if ((body.at && !text_is(body, "0")) || web_request_header(out, "Transfer-Encoding").at)
        return ERR_TOO_BIG;
    return err;
}

struct text web_request_header(const struct web_request *r, const char *name)
{
    for (int i = 0; i < r->header_count; i++)
        if (text_is_nocase(r->headers[i].name, name))
            return r->headers[i].value;
    return (struct text){0};
}

bool web_request_lists(const struct web_request *r, const char *name, const char *token)
{
    for (int i = 0; i < r->header_count; i++) {
        if (!text_is_nocase(r->headers[i].name, name))
            continue;
        struct text rest = r->headers[i].value;
        struct text item;
        while (cut(&rest, ',', &item))
            if (text_is_nocase(trim(item), token))
                return true;
        if (text_is_nocase(trim(rest), token))
            return true;
    }
    return false;
}
