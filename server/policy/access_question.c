// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/access_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/base/utf8.h"
#include "server/policy/access_rules.h"

enum { HEAD_BYTES = 512 + ACCESS_SERVICE_PATH_MAX };

int access_service_url_read(const char *text, struct access_service_url *out)
{
    static const struct {
        const char *prefix, *host;
    } hosts[] = {{"http://127.0.0.1", "127.0.0.1"}, {"http://[::1]", "::1"}};
    size_t i = 0;
    while (i < 2 && strncmp(text, hosts[i].prefix, strlen(hosts[i].prefix)) != 0)
        i++;
    if (i == 2)
        return ERR_MALFORMED;
    const char *rest = text + strlen(hosts[i].prefix);
    struct scan s = scan_of(rest, strlen(rest));
    int64_t port = 80;
    if (scan_char(&s, ':') && (!scan_int(&s, 65535, &port) || port < 1))
        return ERR_MALFORMED;
    size_t left = scan_left(&s);
    if (left >= ACCESS_SERVICE_PATH_MAX || (left && *s.at != '/'))
        return ERR_MALFORMED;
    for (size_t k = 0; k < left; k++)
        if (s.at[k] <= ' ' || s.at[k] > '~' || s.at[k] == '#')
            return ERR_MALFORMED;
    *out = (struct access_service_url){.port = (int)port};
    snprintf(out->host, sizeof(out->host), "%s", hosts[i].host);
    snprintf(out->path, sizeof(out->path), "%.*s", left ? (int)left : 1, left ? s.at : "/");
    return 0;
}

// Writes a JSON string (RFC 8259, 7), or null. Returns false if the text is not valid.
static bool put_text(struct put *out, const char *name, const char *prefix, const char *text,
                     bool is_null)
{
    char valid[REQUEST_PATH_MAX + ACCESS_QUESTION_TEXT_MAX];
    utf8_copy(text, valid, sizeof(valid));
    put_format(out, "\"%s\":", name);
    if (is_null) {
        put_format(out, "null,");
        return true;
    }
    put_format(out, "\"%s", prefix);
    for (const char *c = valid; *c; c++) {
        bool is_escaped = *c == '"' || *c == '\\';
        put_format(out, "%s%c", is_escaped ? "\\" : "", *c);
    }
    put_format(out, "\",");
    return strcmp(text, valid) == 0;
}

int access_question_write(const struct access_service_url *to, const struct access_question *q,
                          char *out, size_t cap)
{
    const char *right = q->right == ACCESS_CONTROL   ? "control"
                        : q->right == ACCESS_METRICS ? "metrics"
                        : q->right == ACCESS_PUBLISH ? "publish"
                                                     : "watch";
    bool is_v6 = strchr(to->host, ':');
    if (cap <= HEAD_BYTES)
        return ERR_FULL;
    // The body first, as its length is in the head.
    struct put body = put_into(out + HEAD_BYTES, cap - HEAD_BYTES);
    put_format(&body, "{");
    bool good = put_text(&body, "user", "", q->user, !*q->user);
    good = put_text(&body, "password", "", q->password, !*q->user) && good;
    good = put_text(&body, "key", "", q->key, !*q->key) && good;
    good = put_text(&body, "address", "", q->address, false) && good;
    good = put_text(&body, "path", "/", q->path, false) && good;
    put_format(&body, "\"right\":\"%s\"}", right);
    struct put head = put_into(out, HEAD_BYTES);
    put_format(&head,
               "POST %s HTTP/1.1\r\nHost: %s%s%s:%d\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\nConnection: close\r\n\r\n",
               to->path, is_v6 ? "[" : "", to->host, is_v6 ? "]" : "", to->port, body.len);
    if (head.full || body.full)
        return ERR_FULL;
    if (!good)
        return ERR_MALFORMED;
    memmove(out + head.len, body.out, body.len + 1);
    return (int)(head.len + body.len);
}

int access_answer_read(const char *data, size_t len)
{
    static const char begin[] = "HTTP/1.";
    size_t fixed = sizeof(begin) - 1;
    if (memcmp(data, begin, len < fixed ? len : fixed) != 0)
        return ERR_MALFORMED;
    if (len < fixed + 6) // "1 200" and what ends it
        return ERR_AGAIN;
    const char *at = data + fixed;
    bool good = (at[0] == '0' || at[0] == '1') && at[1] == ' ' && (at[5] == ' ' || at[5] == '\r');
    for (int i = 2; i < 5; i++)
        good = good && at[i] >= '0' && at[i] <= '9';
    int status = good ? (at[2] - '0') * 100 + (at[3] - '0') * 10 + at[4] - '0' : 0;
    return status >= 100 ? status : ERR_MALFORMED;
}
