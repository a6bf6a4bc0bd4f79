// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/model/request.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/base/err.h"

// Reads a number at the cursor. Returns 0, ERR_MALFORMED or ERR_RANGE.
static int take_number(struct scan *s, int64_t min, int64_t max, int64_t *out)
{
    const char *first = s->at;
    *out = 0;
    if (!scan_int(s, max, out))
        return s->at == first ? ERR_MALFORMED : ERR_RANGE;
    if (*first == '0' && s->at - first > 1)
        return ERR_MALFORMED;
    return *out < min ? ERR_RANGE : 0;
}

bool request_parse_cc(struct scan s, char out[REQUEST_CC])
{
    size_t len = scan_left(&s);
    if (len == 0 || len >= REQUEST_CC)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = s.at[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    memcpy(out, s.at, len);
    out[len] = '\0';
    return true;
}

static int parse_get(struct scan *s, struct request *out)
{
    out->kind = REQUEST_GET;
    int err = take_number(s, 0, REQUEST_BYTES_MAX, &out->bytes);
    if (err || scan_end(s))
        return err;
    return scan_char(s, ' ') && request_parse_cc(*s, out->cc) ? 0 : ERR_MALFORMED;
}

static int parse_cbr(struct scan *s, struct request *out)
{
    out->kind = REQUEST_CBR;
    int64_t port, size;
    int err = take_number(s, 1, 65535, &port);
    if (err)
        return err;
    if (!scan_char(s, ' '))
        return ERR_MALFORMED;
    err = take_number(s, REQUEST_RATE_MIN, REQUEST_RATE_MAX, &out->rate_bps);
    if (err)
        return err;
    if (!scan_char(s, ' '))
        return ERR_MALFORMED;
    err = take_number(s, 1, REQUEST_SIZE_MAX, &size);
    if (err)
        return err;
    out->port = (int)port;
    out->size = (int)size;
    return scan_end(s) ? 0 : ERR_MALFORMED;
}

int request_parse(const char *data, size_t len, struct request *out)
{
    *out = (struct request){0};
    size_t seen = len < REQUEST_MAX ? len : REQUEST_MAX;
    const char *lf = seen ? memchr(data, '\n', seen) : NULL;
    if (!lf)
        return len < REQUEST_MAX ? ERR_AGAIN : ERR_TOO_BIG;
    struct scan s = scan_of(data, (size_t)(lf - data));
    int err = ERR_MALFORMED;
    if (scan_word(&s, "GET "))
        err = parse_get(&s, out);
    else if (scan_word(&s, "CBR "))
        err = parse_cbr(&s, out);
    return err ? err : (int)(lf - data) + 1;
}

int request_encode(const struct request *r, char *out)
{
    int len;
    if (r->kind == REQUEST_GET)
        len = snprintf(out, REQUEST_MAX, "GET %" PRId64 "%s%s\n", r->bytes, r->cc[0] ? " " : "",
                       r->cc);
    else
        len = snprintf(out, REQUEST_MAX, "CBR %d %" PRId64 " %d\n", r->port, r->rate_bps, r->size);
    assert(len > 0 && len < REQUEST_MAX);
    return len;
}
