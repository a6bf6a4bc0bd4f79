// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/rtsp/rtsp_request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

int rtsp_request_format(const struct rtsp_request *r, char *out, size_t cap)
{
    bool session = r->session && *r->session;
    char content[96] = "";
    if (r->body)
        snprintf(content, sizeof(content),
                 "Content-Type: text/parameters\r\nContent-Length: %zu\r\n", strlen(r->body));
    int len = snprintf(out, cap,
                       "%s %s RTSP/1.0\r\nCSeq: %d\r\nUser-Agent: weir-play\r\n%s%s%s%s%s\r\n%s",
                       rtsp_method_name(r->method), r->uri, r->cseq, session ? "Session: " : "",
                       session ? r->session : "", session ? "\r\n" : "",
                       r->headers ? r->headers : "", content, r->body ? r->body : "");
    return len >= 0 && (size_t)len < cap ? len : ERR_FULL;
}

// Of a figure, whatever its unit: what is computed of it stays far from the ends of its type.
static const int64_t LARGEST = 1000000000000;

static bool read_int(struct text value, int64_t max, int64_t *out)
{
    struct scan s = scan_of(value.at, value.len);
    return scan_int(&s, max, out) && scan_end(&s);
}

// "12.5", to the end.
static bool read_figure(struct scan s, double *out)
{
    int64_t whole;
    if (!scan_int(&s, LARGEST, &whole))
        return false;
    *out = (double)whole + (scan_char(&s, '.') ? scan_fraction(&s) : 0);
    return scan_end(&s);
}

// "cc.NAME=VALUE": a figure of the sender's rate controller. More than there is room for are left
// out.
static void read_variable(struct scan s, struct transport_info *out)
{
    struct transport_variable v;
    if (!scan_word(&s, "cc."))
        return;
    struct text name = text_of_scan(scan_until(&s, '='));
    if (!name.len || name.len >= sizeof(v.name) || !read_figure(s, &v.value))
        return;
    for (size_t i = 0; i < name.len; i++)
        if (!text_is_token_char(name.at[i]))
            return;
    text_copy(name, v.name, sizeof(v.name));
    for (int i = 0; i < TRANSPORT_VARIABLES; i++) {
        if (out->variable[i].name[0])
            continue;
        out->variable[i] = v;
        return;
    }
}

static void read_transport(struct text value, struct rtsp_measures *measures)
{
    struct transport_info *out = &measures->transport;
    const struct {
        const char *name;
        double *value;
    } fields[] = {
        {"rtt_ms=", &out->rtt_ms},
        {"rate_bps=", &out->rate_bps},
        {"loss=", &out->loss},
        {"unsent_bytes=", &out->unsent_bytes},
        {"cwnd=", &out->cwnd_packets},
        {"loss_events=", &out->loss_events},
        {"allowed_bps=", &out->allowed_bps},
        {"skipped=", &measures->skipped},
    };
    struct scan all = scan_of(value.at, value.len);
    while (!scan_end(&all)) {
        struct scan word = scan_until(&all, ' ');
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            struct scan s = word;
            double figure;
            if (scan_word(&s, fields[i].name) && read_figure(s, &figure))
                *fields[i].value = figure;
        }
        read_variable(word, out);
    }
}

void rtsp_measures_read(struct text body, struct rtsp_measures *out)
{
    *out = (struct rtsp_measures){.level = -1, .skipped = NAN};
    transport_info_clear(&out->transport);
    size_t at = 0;
    struct text name;
    struct text value;
    int64_t number;
    while (rtsp_parameter_next(body, &at, &name, &value) == 1) {
        if (text_is_nocase(name, "clock") && read_int(value, INT64_MAX / 16, &number)) {
            out->has_clock = true;
            out->sender_wall = number;
        } else if (text_is_nocase(name, "level") && read_int(value, 1000, &number)) {
            out->level = (int)number;
        } else if (text_is_nocase(name, "transport")) {
            read_transport(value, out);
        }
    }
}
