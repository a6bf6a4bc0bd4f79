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

struct field {
    int64_t min, max;
    int64_t *out;
};

// Reads numbers with one space between them.
static int take_fields(struct scan *s, const struct field *fields, int count)
{
    for (int i = 0; i < count; i++) {
        if (i > 0 && !scan_char(s, ' '))
            return ERR_MALFORMED;
        int err = take_number(s, fields[i].min, fields[i].max, fields[i].out);
        if (err)
            return err;
    }
    return scan_end(s) ? 0 : ERR_MALFORMED;
}

enum { CBR_FIELDS = 3, PARETO_FIELDS = 7 };

static int parse_datagrams(struct scan *s, enum request_kind kind, struct request *out)
{
    int64_t port = 0, size = 0, shape = 0;
    const struct field fields[PARETO_FIELDS] = {
        {1, 65535, &port},
        {REQUEST_RATE_MIN, REQUEST_RATE_MAX, &out->rate_bps},
        {1, REQUEST_SIZE_MAX, &size},
        {REQUEST_PERIOD_MIN, REQUEST_PERIOD_MAX, &out->on_us},
        {REQUEST_PERIOD_MIN, REQUEST_PERIOD_MAX, &out->off_us},
        {REQUEST_SHAPE_MIN, REQUEST_SHAPE_MAX, &shape},
        {0, REQUEST_SEED_MAX, &out->seed},
    };
    out->kind = kind;
    int err = take_fields(s, fields, kind == REQUEST_CBR ? CBR_FIELDS : PARETO_FIELDS);
    out->port = (int)port;
    out->size = (int)size;
    out->shape = (int)shape;
    return err;
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
        err = parse_datagrams(&s, REQUEST_CBR, out);
    else if (scan_word(&s, "PARETO "))
        err = parse_datagrams(&s, REQUEST_PARETO, out);
    return err ? err : (int)(lf - data) + 1;
}

int request_encode(const struct request *r, char *out)
{
    int len;
    if (r->kind == REQUEST_GET)
        len = snprintf(out, REQUEST_MAX, "GET %" PRId64 "%s%s\n", r->bytes, r->cc[0] ? " " : "",
                       r->cc);
    else if (r->kind == REQUEST_CBR)
        len = snprintf(out, REQUEST_MAX, "CBR %d %" PRId64 " %d\n", r->port, r->rate_bps, r->size);
    else
        len = snprintf(out, REQUEST_MAX,
                       "PARETO %d %" PRId64 " %d %" PRId64 " %" PRId64 " %d %" PRId64 "\n", r->port,
                       r->rate_bps, r->size, r->on_us, r->off_us, r->shape, r->seed);
    assert(len > 0 && len < REQUEST_MAX);
    return len;
}
