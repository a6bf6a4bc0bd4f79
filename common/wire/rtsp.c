// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/rtsp.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/scan.h"
#include "common/wire/utc_time.h"

enum { MAX_SECONDS = 1000000000 };
static const int64_t MAX_FRAME = (int64_t)1 << 40;

static const char *const method_names[] = {
    [RTSP_OPTIONS] = "OPTIONS",
    [RTSP_DESCRIBE] = "DESCRIBE",
    [RTSP_SETUP] = "SETUP",
    [RTSP_PLAY] = "PLAY",
    [RTSP_PAUSE] = "PAUSE",
    [RTSP_TEARDOWN] = "TEARDOWN",
    [RTSP_GET_PARAMETER] = "GET_PARAMETER",
    [RTSP_SET_PARAMETER] = "SET_PARAMETER",
    [RTSP_UNKNOWN] = "UNKNOWN",
    [RTSP_ANNOUNCE] = "ANNOUNCE",
    [RTSP_RECORD] = "RECORD",
};

const char *rtsp_method_name(enum rtsp_method method)
{
    return method_names[method];
}

// Returns the bytes of the start line and headers with the empty line that ends them; 0:
// incomplete.
static size_t head_bytes(const char *data, size_t len)
{
    const char *end = data + len;
    for (const char *lf = data; (lf = memchr(lf, '\n', (size_t)(end - lf))) != NULL;) {
        lf++;
        if (end - lf >= 1 && lf[0] == '\n')
            return (size_t)(lf + 1 - data);
        if (end - lf >= 2 && lf[0] == '\r' && lf[1] == '\n')
            return (size_t)(lf + 2 - data);
    }
    return 0;
}

// Some cameras answer with another version than the request's.
static int decode_status_line(struct scan line, struct rtsp_item *item)
{
    int a, b, c;
    if (!scan_word(&line, "RTSP/") || !scan_digit(&line, &a) || !scan_char(&line, '.') ||
        !scan_digit(&line, &b) || !scan_char(&line, ' ') || !scan_digit(&line, &a) ||
        !scan_digit(&line, &b) || !scan_digit(&line, &c) || a < 1 || a > 5)
        return ERR_MALFORMED;
    if (!scan_end(&line) && !scan_char(&line, ' '))
        return ERR_MALFORMED;
    item->kind = RTSP_RESPONSE;
    item->status = a * 100 + b * 10 + c;
    item->reason = text_of_scan(scan_trimmed(line));
    return 0;
}

static int decode_request_line(struct scan line, struct rtsp_item *item)
{
    struct text method = text_of_scan(text_take_token(&line));
    if (method.len == 0 || !scan_char(&line, ' '))
        return ERR_MALFORMED;
    struct scan uri = scan_until(&line, ' ');
    if (scan_end(&uri) || memchr(uri.at, '\t', scan_left(&uri)) || !scan_is(line, "RTSP/1.0"))
        return ERR_MALFORMED;
    item->kind = RTSP_REQUEST;
    item->uri = text_of_scan(uri);
    item->method = RTSP_UNKNOWN;
    for (int m = 0; m <= RTSP_RECORD; m++)
        if (m != RTSP_UNKNOWN && text_is(method, method_names[m]))
            item->method = (enum rtsp_method)m;
    return 0;
}

// Joins the value of the last header and the line by one space: a value that contains a line end is
// dangerous.
static int continue_value(struct scan line, struct rtsp_item *item)
{
    line = scan_trimmed(line);
    if (item->header_count == 0 || scan_end(&line))
        return 0;
    struct text *value = &item->headers[item->header_count - 1].value;
    char *end = item->unfolded + item->unfolded_len;
    bool joined = item->unfolded_len > 0 && value->at + value->len == end;
    size_t more = (joined ? 0 : value->len) + 1 + scan_left(&line);
    if (more > sizeof(item->unfolded) - item->unfolded_len)
        return ERR_TOO_BIG;
    if (!joined) {
        if (value->len)
            memcpy(end, value->at, value->len);
        value->at = end;
        end += value->len;
    }
    *end = ' ';
    memcpy(end + 1, line.at, scan_left(&line));
    value->len += 1 + scan_left(&line);
    item->unfolded_len += more;
    return 0;
}

// In requests neither is allowed: no player sends continuation lines (RFC 2068, 4.2).
static int decode_header(struct scan line, struct rtsp_item *item)
{
    bool lenient = item->kind == RTSP_RESPONSE;
    if (lenient && (*line.at == ' ' || *line.at == '\t'))
        return continue_value(line, item);
    struct scan name = text_take_token(&line);
    while (lenient && (scan_char(&line, ' ') || scan_char(&line, '\t')))
        ;
    if (scan_end(&name) || !scan_char(&line, ':'))
        return lenient ? 0 : ERR_MALFORMED;
    if (item->header_count == RTSP_MAX_HEADERS)
        return ERR_TOO_BIG;
    item->headers[item->header_count].name = text_of_scan(name);
    item->headers[item->header_count].value = text_of_scan(scan_trimmed(line));
    item->header_count++;
    return 0;
}

static int content_length(const struct rtsp_item *item, size_t *out)
{
    int64_t length = -1;
    for (int i = 0; i < item->header_count; i++) {
        bool is_empty = item->kind == RTSP_RESPONSE && !item->headers[i].value.len;
        if (!text_is_nocase(item->headers[i].name, "Content-Length") || is_empty)
            continue;
        struct scan s = text_scan(item->headers[i].value);
        int64_t value;
        if (!scan_int(&s, RTSP_MAX_BODY, &value)) {
            int ignored;
            while (scan_digit(&s, &ignored))
                ;
            return scan_end(&s) && item->headers[i].value.len ? ERR_TOO_BIG : ERR_MALFORMED;
        }
        if (!scan_end(&s) || (length >= 0 && value != length))
            return ERR_MALFORMED; // two different values: the stream could be parsed in two ways
        length = value;
    }
    *out = length < 0 ? 0 : (size_t)length;
    return 0;
}

static int decode_cseq(const struct rtsp_item *item)
{
    struct scan s = text_scan(rtsp_header(item, "CSeq"));
    int64_t value;
    return scan_int(&s, INT32_MAX, &value) && scan_end(&s) ? (int)value : -1;
}

static int decode_message(const char *data, size_t len, struct rtsp_item *item, size_t *used)
{
    if (!text_is_token_char(data[0]))
        // Not a text protocol, for example TLS: there is no need to wait for more.
        return ERR_MALFORMED;
    size_t head = head_bytes(data, len < RTSP_MAX_HEAD ? len : RTSP_MAX_HEAD);
    if (head == 0)
        return len < RTSP_MAX_HEAD ? ERR_AGAIN : ERR_TOO_BIG;
    struct scan in = scan_of(data, head);
    struct scan line;
    if (!text_is_clean(in))
        return ERR_MALFORMED;
    scan_line(&in, &line);
    struct scan start = line;
    int err = scan_word(&start, "RTSP/") ? decode_status_line(line, item)
                                         : decode_request_line(line, item);
    while (err == 0 && scan_line(&in, &line) && !scan_end(&line))
        err = decode_header(line, item);
    size_t body = 0;
    if (err == 0)
        err = content_length(item, &body);
    if (err)
        return err;
    if (len - head < body)
        return ERR_AGAIN;
    item->cseq = decode_cseq(item);
    item->body.at = data + head;
    item->body.len = body;
    *used += head + body;
    return 0;
}

// RFC 2326, 10.12: '$', channel, length in 16 bits, data.
static int decode_interleaved(const uint8_t *data, size_t len, struct rtsp_item *item, size_t *used)
{
    if (len < RTSP_INTERLEAVED_HEAD || len - RTSP_INTERLEAVED_HEAD < load_be16(data + 2))
        return ERR_AGAIN;
    item->kind = RTSP_INTERLEAVED;
    item->channel = data[1];
    item->data = data + RTSP_INTERLEAVED_HEAD;
    item->data_len = load_be16(data + 2);
    *used += RTSP_INTERLEAVED_HEAD + item->data_len;
    return 0;
}

void rtsp_interleaved_encode(uint8_t out[RTSP_INTERLEAVED_HEAD], int channel, size_t len)
{
    assert(len <= UINT16_MAX);
    out[0] = '$';
    out[1] = (uint8_t)channel;
    store_be16(out + 2, (uint16_t)len);
}

int rtsp_decode(const uint8_t *data, size_t len, struct rtsp_item *item, size_t *used)
{
    size_t skip = 0;
    while (skip < len && (data[skip] == '\r' || data[skip] == '\n'))
        skip++;
    *used = skip;
    // Sets the fields one by one, because interleaved frames are the data path and clearing the
    // large table of headers is slow.
    item->method = RTSP_UNKNOWN;
    item->uri = item->reason = item->body = (struct text){NULL, 0};
    item->status = 0;
    item->cseq = -1;
    item->header_count = 0;
    item->unfolded_len = 0;
    item->channel = 0;
    item->data = NULL;
    item->data_len = 0;
    if (skip == len)
        return ERR_AGAIN;
    if (data[skip] == '$')
        return decode_interleaved(data + skip, len - skip, item, used);
    return decode_message((const char *)data + skip, len - skip, item, used);
}

// Whether the bytes are the first ones of `word`, as far as they go.
static bool begins(const uint8_t *data, size_t len, const char *word)
{
    size_t whole = strlen(word);
    return memcmp(data, word, len < whole ? len : whole) == 0;
}

static bool begins_message(const uint8_t *data, size_t len)
{
    enum { VERSION = sizeof("RTSP/1.0") - 1 }; // at the end of a request's line no blank follows
    if (begins(data, len, "RTSP/") && (len <= VERSION || data[VERSION] == ' '))
        return true;
    for (int m = 0; m <= RTSP_RECORD; m++)
        if (m != RTSP_UNKNOWN && begins(data, len, method_names[m]))
            return true;
    return false;
}

static bool begins_packet(const uint8_t *data, size_t len)
{
    return data[0] == '$' &&
           (len <= RTSP_INTERLEAVED_HEAD || data[RTSP_INTERLEAVED_HEAD] >> 6 == 2);
}

size_t rtsp_stray_bytes(const uint8_t *data, size_t len, bool skips)
{
    if (len == 0 || data[0] == '\r' || data[0] == '\n' || begins_message(data, len))
        return 0;
    if (data[0] == '$' && (!skips || begins_packet(data, len)))
        return 0;
    size_t i = 1;
    while (i < len && !begins_message(data + i, len - i) && !begins_packet(data + i, len - i))
        i++;
    return i;
}

struct text rtsp_header(const struct rtsp_item *item, const char *name)
{
    for (int i = 0; i < item->header_count; i++)
        if (text_is_nocase(item->headers[i].name, name))
            return item->headers[i].value;
    return (struct text){NULL, 0};
}

// RFC 2326, 3.6: "now", seconds, or hours:minutes:seconds.
static int decode_npt(struct scan *s, double *out)
{
    int64_t value[3];
    int fields = 0;
    if (scan_word(s, "now")) {
        *out = -1;
        return 0;
    }
    do {
        if (!scan_int(s, MAX_SECONDS, &value[fields++]))
            return ERR_MALFORMED;
    } while (fields < 3 && scan_char(s, ':'));
    if (fields == 2 || (fields == 3 && (value[1] > 59 || value[2] > 59)))
        return ERR_MALFORMED;
    *out = fields == 1 ? (double)value[0]
                       : (double)value[0] * 3600 + (double)value[1] * 60 + (double)value[2];
    if (scan_char(s, '.'))
        *out += scan_fraction(s);
    return *out <= MAX_SECONDS ? 0 : ERR_MALFORMED;
}

// What follows "clock=".
static int decode_clock(struct scan *s, struct rtsp_range *out)
{
    out->kind = RTSP_RANGE_CLOCK;
    if (utc_time_decode(s, &out->from) != 0 || !scan_char(s, '-'))
        return ERR_MALFORMED;
    return scan_end(s) || (utc_time_decode(s, &out->to) == 0 && scan_end(s)) ? 0 : ERR_MALFORMED;
}

// "-SECONDS-", what follows "npt=". Returns false if it is another range.
static bool decode_back(struct scan s, struct rtsp_range *out)
{
    double back;
    if (!scan_char(&s, '-') || scan_end(&s) || *s.at == 'n' || decode_npt(&s, &back) != 0 ||
        !scan_char(&s, '-') || !scan_end(&s))
        return false;
    out->kind = RTSP_RANGE_BACK;
    out->from = back;
    return true;
}

int rtsp_range_decode(struct text value, struct rtsp_range *out)
{
    struct scan rest = text_scan(value);
    struct scan s = scan_trimmed(
        scan_until(&rest, ';')); // `;time=` is the start time; it is ignored, as we begin at once
    *out = (struct rtsp_range){.from = -1, .to = -1};
    if (scan_word(&s, "clock="))
        return decode_clock(&s, out);
    if (scan_word(&s, "smpte"))
        return ERR_UNSUPPORTED;
    if (!scan_word(&s, "npt="))
        return ERR_MALFORMED;
    if (decode_back(s, out))
        return 0;
    bool has_from = !scan_end(&s) && *s.at != '-';
    if (has_from && decode_npt(&s, &out->from) != 0)
        return ERR_MALFORMED;
    if (!scan_char(&s, '-') || (scan_end(&s) && !has_from))
        return ERR_MALFORMED;
    if (!scan_end(&s) && (*s.at == 'n' || decode_npt(&s, &out->to) != 0 || !scan_end(&s)))
        return ERR_MALFORMED;
    return 0;
}

int rtsp_scale_decode(struct text value, double *out)
{
    struct scan s = scan_trimmed(text_scan(value));
    bool minus = scan_char(&s, '-');
    int64_t whole;
    if (!scan_int(&s, RTSP_MAX_SCALE, &whole))
        return ERR_MALFORMED;
    double scale = (double)whole + (scan_char(&s, '.') ? scan_fraction(&s) : 0);
    if (!scan_end(&s) || scale > RTSP_MAX_SCALE)
        return ERR_MALFORMED;
    *out = minus ? -scale : scale;
    return 0;
}

int rtsp_frames_encode(const struct rtsp_frames *f, char *out, size_t cap)
{
    char until[32] = "";
    if (f->until > 0)
        snprintf(until, sizeof(until), ";until=%" PRId64, f->until);
    int len = snprintf(out, cap, "first=%" PRId64 ";show=%" PRId64 "%s%s", f->first, f->show,
                       f->ahead ? ";ahead" : "", until);
    return len < 0 || (size_t)len >= cap ? ERR_FULL : len;
}

int rtsp_frames_decode(struct text value, struct rtsp_frames *out)
{
    struct scan s = text_scan(value);
    if (!scan_word(&s, "first=") || !scan_int(&s, MAX_FRAME, &out->first) ||
        !scan_word(&s, ";show=") || !scan_int(&s, MAX_FRAME, &out->show) || out->show < out->first)
        return ERR_MALFORMED;
    out->ahead = scan_word(&s, ";ahead");
    out->until = 0;
    if (scan_word(&s, ";until=") &&
        (!scan_int(&s, MAX_FRAME, &out->until) || out->until <= out->show))
        return ERR_MALFORMED;
    return scan_end(&s) ? 0 : ERR_MALFORMED;
}

int rtsp_rewind_encode(const struct rtsp_rewind *r, char *out, size_t cap)
{
    int len = snprintf(out, cap, "behind=%.3f;back=%.0f", r->behind, r->back);
    return len < 0 || (size_t)len >= cap ? ERR_FULL : len;
}

static bool scan_amount(struct scan *s, double *out)
{
    int64_t whole;
    if (!scan_int(s, MAX_FRAME, &whole))
        return false;
    *out = (double)whole + (scan_char(s, '.') ? scan_fraction(s) : 0);
    return true;
}

int rtsp_rewind_decode(struct text value, struct rtsp_rewind *out)
{
    struct scan s = text_scan(value);
    bool good = scan_word(&s, "behind=") && scan_amount(&s, &out->behind) &&
                scan_word(&s, ";back=") && scan_amount(&s, &out->back) && scan_end(&s);
    return good ? 0 : ERR_MALFORMED;
}

int rtsp_parameter_next(struct text body, size_t *at, struct text *name, struct text *value)
{
    struct scan in = text_scan(body);
    in.at += *at;
    struct scan line;
    do {
        if (!scan_line(&in, &line))
            return 0;
        line = scan_trimmed(line);
    } while (scan_end(&line));
    if (!text_is_clean(line))
        return ERR_MALFORMED;
    struct scan key = text_take_token(&line);
    scan_space(&line);
    if (scan_end(&key) || (!scan_end(&line) && !scan_char(&line, ':')))
        return ERR_MALFORMED;
    *name = text_of_scan(key);
    *value = text_of_scan(scan_trimmed(line));
    *at = (size_t)(in.at - (in.end - body.len));
    return 1;
}

const char *rtsp_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        // RFC 2326, 7.1.1 and 11.
        {100, "Continue"},
        {200, "OK"},
        {400, "Bad Request"},
        {300, "Multiple Choices"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Time-out"},
        {413, "Request Entity Too Large"},
        {414, "Request-URI Too Large"},
        {415, "Unsupported Media Type"},
        {451, "Parameter Not Understood"},
        {452, "Conference Not Found"},
        {453, "Not Enough Bandwidth"},
        {454, "Session Not Found"},
        {455, "Method Not Valid in This State"},
        {456, "Header Field Not Valid for Resource"},
        {457, "Invalid Range"},
        {458, "Parameter Is Read-Only"},
        {459, "Aggregate operation not allowed"},
        {460, "Only aggregate operation allowed"},
        {461, "Unsupported transport"},
        {462, "Destination unreachable"},
        {463, "Key management Failure"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Time-out"},
        {505, "RTSP Version not supported"},
        {551, "Option not supported"},
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Unknown";
}
