// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/http_target.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"
#include "common/wire/request_path.h"

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

// Reads lower-case letters and digits.
static bool take_name(struct scan *s, char *out, size_t cap)
{
    size_t len = 0;
    while (!scan_end(s) && is_name_char(*s->at) && len + 1 < cap)
        out[len++] = *s->at++;
    out[len] = '\0';
    return len > 0;
}

// Reads a number as weir-send writes it: without leading zeros, so that a file has one name.
static bool take_number(struct scan *s, int64_t max, int64_t *out)
{
    const char *begin = s->at;
    return scan_int(s, max, out) && (*begin != '0' || s->at == begin + 1);
}

// Reads what is behind "NAME": ".mp4", "-NUMBER.m4s" or "-NUMBER.PART.m4s".
static int parse_media_file(struct scan s, struct http_target *out)
{
    int64_t part = 0;
    if (scan_is(s, ".mp4")) {
        out->file = HTTP_INIT;
        return 0;
    }
    if (!scan_char(&s, '-') || !take_number(&s, HTTP_MAX_NUMBER, &out->number) ||
        !scan_char(&s, '.'))
        return ERR_NOT_FOUND;
    out->file = HTTP_SEGMENT;
    if (!scan_is(s, "m4s")) {
        if (!take_number(&s, HTTP_MAX_PART, &part))
            return ERR_NOT_FOUND;
        out->file = HTTP_PART;
        if (!scan_char(&s, '.'))
            return ERR_NOT_FOUND;
    }
    out->part = (int)part;
    return scan_is(s, "m4s") ? 0 : ERR_NOT_FOUND;
}

// Returns the last slash before `end`; NULL: none.
static const char *slash_before(const char *path, const char *end)
{
    while (end > path)
        if (*--end == '/')
            return end;
    return NULL;
}

int http_target_parse(const char *path, struct http_target *out)
{
    *out = (struct http_target){0};
    const char *end = path + strlen(path);
    const char *slash = slash_before(path, end);
    if (path[0] != '/' || !slash || slash == path || !request_path_is_good(path + 1))
        return ERR_NOT_FOUND;
    struct scan file = scan_of(slash + 1, (size_t)(end - slash - 1));
    out->mount = (size_t)(slash - path);
    if (scan_is(file, "index.m3u8")) {
        out->file = HTTP_MULTIVARIANT;
        return 0;
    }
    if (scan_is(file, "index.mpd")) {
        out->file = HTTP_MPD;
        return 0;
    }
    if (!take_name(&file, out->name, sizeof(out->name)))
        return ERR_NOT_FOUND;
    if (scan_is(file, ".m3u8")) {
        out->file = HTTP_PLAYLIST;
        return 0;
    }
    const char *before = slash_before(path, slash);
    if (!before || before == path)
        return ERR_NOT_FOUND;
    struct scan token = scan_of(before + 1, (size_t)(slash - before - 1));
    out->mount = (size_t)(before - path);
    if (!take_name(&token, out->token, sizeof(out->token)) || !scan_end(&token))
        return ERR_NOT_FOUND;
    return parse_media_file(file, out);
}

static bool parse_number(const char *text, int64_t max, int64_t *out)
{
    struct scan s = scan_of(text, strlen(text));
    return take_number(&s, max, out) && scan_end(&s);
}

int http_reload_parse(const char *number, const char *part, struct http_reload *out)
{
    int64_t value = -1;
    *out = (struct http_reload){-1, -1};
    if (number && !parse_number(number, HTTP_MAX_NUMBER, &out->number))
        return ERR_MALFORMED;
    if (part && (!number || !parse_number(part, HTTP_MAX_PART, &value)))
        return ERR_MALFORMED;
    out->part = (int)value;
    return 0;
}

int http_range_parse(const char *header, size_t size, struct http_range *out)
{
    const int64_t most = INT64_MAX / 10 - 1;
    struct scan s = scan_of(header, strlen(header));
    int64_t first = 0, last = most, tail = 0;
    if (!scan_word(&s, "bytes="))
        return 1;
    bool has_first = scan_int(&s, most, &first);
    if (!scan_char(&s, '-'))
        return 1;
    bool has_last = scan_int(&s, most, has_first ? &last : &tail);
    if (!scan_end(&s) || (!has_first && !has_last) || last < first)
        return 1;
    if (!has_first) { // the last `tail` bytes
        if (tail == 0 || size == 0)
            return ERR_RANGE;
        out->bytes = (uint64_t)tail < size ? (size_t)tail : size;
        out->begin = size - out->bytes;
        return 0;
    }
    if ((uint64_t)first >= size)
        return ERR_RANGE;
    out->begin = (size_t)first;
    out->bytes = (uint64_t)last < size ? (size_t)(last - first) + 1 : size - out->begin;
    return 0;
}
