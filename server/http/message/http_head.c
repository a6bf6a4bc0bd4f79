// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/http/message/http_head.h"

#include <stdio.h>
#include <string.h>

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {204, "No Content"},
    {206, "Partial Content"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

static const char *reason_of(int status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return ""; // RFC 9112, 4: it may be empty
}

// Writes an IMF-fixdate (RFC 9110, 5.6.7). The date of a day: H. Hinnant, "chrono-Compatible
// Low-Level Date Algorithms", civil_from_days.
static void add_date(struct http_head *h, usec_t wall)
{
    static const char week[][4] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t seconds = wall / USEC_PER_SEC;
    int64_t since_1970 = seconds / 86400;
    int64_t days = since_1970 + 719468; // since March 1 of year 0
    int64_t era = days / 146097;
    int64_t of_era = days % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; // 0 is March
    int day = (int)(of_year - (153 * month + 2) / 5 + 1);
    int civil = (int)(month < 10 ? month + 2 : month - 10); // 0 is January
    int of_day = (int)(seconds % 86400);
    char text[64];
    snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT", week[since_1970 % 7], day,
             months[civil], (int)((year + era * 400 + (civil < 2)) % 10000), of_day / 3600,
             of_day / 60 % 60, of_day % 60);
    http_head_add(h, "Date", text);
}

void http_head_begin(struct http_head *h, int status, const char *program, usec_t wall)
{
    h->status = status;
    h->len =
        (size_t)snprintf(h->text, sizeof(h->text), "HTTP/1.1 %d %s\r\n", status, reason_of(status));
    if (wall > 0)
        add_date(h, wall);
    if (program)
        http_head_add(h, "Server", program);
}

// Leaves room for what http_head_end adds.
void http_head_add(struct http_head *h, const char *name, const char *value)
{
    enum { ROOM = sizeof(h->text) - 96 };
    if (strpbrk(value, "\r\n"))
        return;
    int len =
        h->len < ROOM ? snprintf(h->text + h->len, ROOM - h->len, "%s: %s\r\n", name, value) : 0;
    if (len > 0 && (size_t)len < ROOM - h->len)
        h->len += (size_t)len;
    h->text[h->len] = '\0';
}

void http_head_add_number(struct http_head *h, const char *name, size_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%zu", value);
    http_head_add(h, name, text);
}

void http_head_add_retry(struct http_head *h)
{
    if (h->status == 429 || h->status == 503) // failed logins are forgotten after a minute
        http_head_add(h, "Retry-After", h->status == 429 ? "60" : "1");
}

void http_head_end(struct http_head *h, size_t length, bool ends)
{
    char number[64] = "";
    if (h->status >= 200 && h->status != 204 && length != SIZE_MAX)
        snprintf(number, sizeof(number), "Content-Length: %zu\r\n", length);
    h->len += (size_t)snprintf(h->text + h->len, sizeof(h->text) - h->len, "%s%s\r\n", number,
                               ends ? "Connection: close\r\n" : "");
}

int http_head_no_method(enum http_method m)
{
    return m == HTTP_OTHER ? 501 : 405;
}
