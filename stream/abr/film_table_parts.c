// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/film_table_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/wire/rtsp.h"

static const char NAME[] = "film-table";

// ---- The server's end

bool film_table_part_at(struct text value, size_t *at)
{
    struct scan s = scan_of(value.at, value.len);
    int64_t n;
    if (!scan_int(&s, FILM_TABLE_MAX, &n) || !scan_end(&s))
        return false;
    *at = (size_t)n;
    return true;
}

int film_table_part_encode(const struct film_table *t, size_t at, char out[FILM_TABLE_LINE])
{
    uint8_t part[FILM_TABLE_PART];
    size_t total = film_table_encoded_bytes(t);
    if (at >= total)
        return ERR_RANGE;
    size_t len = film_table_encode_from(t, at, part, sizeof(part));
    int head = snprintf(out, FILM_TABLE_LINE, "%s: %zu/%zu ", NAME, at, total);
    return head + (int)base64_encode(part, len, BASE64_STANDARD, out + head);
}

// ---- The viewer's end

struct film_table_fetch {
    struct ladder ladder;
    int64_t groups;
    int group_frames;
    uint8_t *data; // owned
    size_t total;  // bytes of `data`; 0: not known yet
    size_t len;    // that have come
};

struct film_table_fetch *film_table_fetch_new(const struct ladder *ladder, int64_t groups,
                                              int group_frames)
{
    struct film_table_fetch *f = malloc(sizeof(*f));
    if (f)
        *f = (struct film_table_fetch){
            .ladder = *ladder, .groups = groups, .group_frames = group_frames};
    return f;
}

void film_table_fetch_free(struct film_table_fetch *f)
{
    if (!f)
        return;
    free(f->data);
    free(f);
}

void film_table_fetch_request(const struct film_table_fetch *f, char out[FILM_TABLE_REQUEST])
{
    snprintf(out, FILM_TABLE_REQUEST, "%s: %zu\r\n", NAME, f->len);
}

static int take_part(struct film_table_fetch *f, struct text value)
{
    struct scan s = scan_of(value.at, value.len);
    int64_t at, total;
    if (!scan_int(&s, FILM_TABLE_MAX, &at) || !scan_char(&s, '/') ||
        !scan_int(&s, INT32_MAX, &total) || !scan_char(&s, ' ') || (size_t)at != f->len ||
        total <= at || (f->total && f->total != (size_t)total))
        return ERR_MALFORMED;
    if (total > FILM_TABLE_MAX)
        return ERR_TOO_BIG;
    if (!f->data && !(f->data = malloc((size_t)total)))
        return ERR_NO_MEMORY;
    f->total = (size_t)total;
    int got = base64_decode((struct text){s.at, scan_left(&s)}, BASE64_STANDARD, f->data + f->len,
                            f->total - f->len);
    if (got <= 0)
        return ERR_MALFORMED;
    f->len += (size_t)got;
    return 0;
}

int film_table_fetch_take(struct film_table_fetch *f, struct text body, struct film_table **out)
{
    struct text name, value;
    size_t at = 0;
    *out = NULL;
    if (!body.len)
        return ERR_NOT_FOUND;
    if (rtsp_parameter_next(body, &at, &name, &value) != 1 || !text_is_nocase(name, NAME))
        return ERR_MALFORMED;
    if (text_is(value, "later"))
        return ERR_AGAIN;
    int err = take_part(f, value);
    if (err || f->len < f->total)
        return err;
    err = film_table_decode(f->data, f->len, out);
    err = err ? err : film_table_check(*out, &f->ladder, f->groups, f->group_frames);
    if (!err)
        return ERR_END;
    film_table_free(*out);
    *out = NULL;
    return err;
}
