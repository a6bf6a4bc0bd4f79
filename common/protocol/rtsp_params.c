// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/protocol/rtsp_params.h"

#include <math.h>

#include "common/base/scan.h"
#include "common/wire/rtsp.h"

// Upper limit of a value in any unit: arithmetic on it stays far from the limits of int64_t and
// double.
static const int64_t LARGEST = 1000000000000;

static bool read_int(struct text value, int64_t max, int64_t *out)
{
    struct scan s = scan_of(value.at, value.len);
    return scan_int(&s, max, out) && scan_end(&s);
}

// Decodes a decimal number such as "12.5", which must end the text.
static bool read_figure(struct scan s, double *out)
{
    int64_t whole;
    if (!scan_int(&s, LARGEST, &whole))
        return false;
    *out = (double)whole + (scan_char(&s, '.') ? scan_fraction(&s) : 0);
    return scan_end(&s);
}

// Decodes "cc.NAME=VALUE", a variable of the sender's rate controller. Variables beyond
// TRANSPORT_VARIABLES are dropped.
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

static void read_transport(struct text value, struct rtsp_params *params)
{
    struct transport_info *out = &params->transport;
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
        {"skipped=", &params->skipped},
    };
    struct relay_field relay[RELAY_FIELDS];
    relay_info_fields(&params->relay, relay);
    struct scan all = scan_of(value.at, value.len);
    while (!scan_end(&all)) {
        struct scan word = scan_until(&all, ' ');
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            struct scan s = word;
            double figure;
            if (scan_word(&s, fields[i].name) && read_figure(s, &figure))
                *fields[i].value = figure;
        }
        for (int i = 0; relay[i].name; i++) {
            struct scan s = word;
            double figure;
            if (scan_word(&s, relay[i].name) && scan_char(&s, '=') && read_figure(s, &figure))
                *relay[i].value = figure;
        }
        read_variable(word, out);
    }
}

// "SECONDS REASON". A malformed line is skipped.
static void read_away(struct text value, struct rtsp_params *out)
{
    struct scan s = scan_of(value.at, value.len);
    double seconds;
    if (!read_figure(scan_until(&s, ' '), &seconds))
        return;
    out->source_away_s = seconds;
    text_copy((struct text){s.at, scan_left(&s)}, out->source_why, sizeof(out->source_why));
}

void rtsp_params_decode(struct text body, struct rtsp_params *out)
{
    *out = (struct rtsp_params){.level = -1, .skipped = NAN, .source_away_s = NAN};
    transport_info_clear(&out->transport);
    out->relay = relay_info_unknown();
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
        } else if (text_is_nocase(name, "source-away")) {
            read_away(value, out);
        }
    }
}
