// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/link_spec_read.h"

#include <math.h>
#include <stdarg.h>

#include "common/base/err.h"
#include "common/base/put.h"

static const struct spec_unit time_units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {NULL, 0}};
static const struct spec_unit rate_units[] = {
    {"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {NULL, 0}};
static const struct spec_unit byte_units[] = {
    {"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {NULL, 0}};
static const struct spec_unit packet_units[] = {{"p", 1}, {NULL, 0}};
static const struct spec_unit percent_units[] = {{"%", 1}, {NULL, 0}};
static const struct spec_unit no_units[] = {{"", 1}, {NULL, 0}};

#define RATES "a rate from 1kbit to 100gbit (bit, kbit, mbit, gbit)"
#define SIZES "a size from 1B to 1GB (B, KB, MB, GB), from 1p to 1000000p, or a time up to 3600s"

const struct spec_quantity spec_time = {time_units, 0, 3600e6, false,
                                        "a time from 0 to 3600s (us, ms, s)"};
const struct spec_quantity spec_time_positive = {time_units, 1, 3600e6, false,
                                                 "a time from 1us to 3600s (us, ms, s)"};
const struct spec_quantity spec_interval = {time_units, 100, 3600e6, false,
                                            "a time from 100us to 3600s (us, ms, s)"};
const struct spec_quantity spec_schedule_time = {
    time_units, 1, 30 * 86400e6, false, "a time from 1us to 2592000s, 30 days (us, ms, s)"};
const struct spec_quantity spec_rate = {rate_units, 1e3, 1e11, false, RATES};
const struct spec_quantity spec_rate_or_zero = {rate_units, 1e3, 1e11, true, "0 or " RATES};
const struct spec_quantity spec_percent = {percent_units, 0, 100, false,
                                           "a percentage from 0% to 100%"};
const struct spec_quantity spec_bytes = {byte_units, 1, 1e9, false, SIZES};
const struct spec_quantity spec_overhead = {no_units, 0, 1000, false,
                                            "a number of bytes from 0 to 1000"};
const struct spec_quantity spec_packets = {packet_units, 1, 1e6, false, SIZES};
const struct spec_quantity spec_queue_time = {time_units, 1, 3600e6, false, SIZES};
const struct spec_quantity spec_weight = {no_units, 1e-6, 1, false, "a number from 0.000001 to 1"};
const struct spec_quantity spec_gain = {no_units, 1e-3, 1e3, true,
                                        "0 or a number from 0.001 to 1000"};

struct spec_excerpt spec_excerpt(struct scan s)
{
    struct spec_excerpt e;
    size_t len = scan_left(&s);
    size_t room = sizeof(e.text) - 1;
    size_t kept = len <= room ? len : room - 3;
    for (size_t i = 0; i < kept; i++)
        e.text[i] = s.at[i] >= ' ' && s.at[i] <= '~' ? s.at[i] : '?';
    memcpy(e.text + kept, "...", 3 * (kept < len));
    e.text[kept < len ? room : kept] = '\0';
    return e;
}

int spec_fail(struct spec_reader *r, int err, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    struct put line = put_into(r->error, r->error_cap);
    bool somewhere = !scan_end(&r->part);
    put_format(&line, "%s%s%s", spec_excerpt(r->part).text, somewhere ? ": " : "", what);
    return err;
}

// Reads any number of digits: a number too large for a double becomes infinite, which is out of
// every range.
static bool scan_number(struct scan *s, double *out)
{
    int digit;
    if (!scan_digit(s, &digit))
        return false;
    *out = digit;
    while (scan_digit(s, &digit))
        *out = *out * 10 + digit;
    if (!scan_char(s, '.'))
        return true;
    bool is_fraction = !scan_end(s) && *s->at >= '0' && *s->at <= '9';
    *out += scan_fraction(s);
    return is_fraction;
}

static bool apply_unit(struct scan rest, const struct spec_unit *units, double *number)
{
    for (; units->name; units++) {
        if (scan_is(rest, units->name)) {
            *number *= units->factor;
            return true;
        }
    }
    return *number == 0 && scan_end(&rest);
}

int spec_read(struct spec_reader *r, struct scan value, const struct spec_quantity *q, double *out)
{
    struct scan s = value;
    double number;
    int err = 0;
    if (!scan_number(&s, &number) || !apply_unit(s, q->units, &number))
        err = ERR_MALFORMED;
    else if ((number < q->min || number > q->max) && !(q->or_zero && number == 0))
        err = ERR_RANGE;
    if (err)
        return spec_fail(r, err, "'%s' is not %s", spec_excerpt(value).text, q->allowed);
    *out = number;
    return 0;
}

int spec_read_time(struct spec_reader *r, struct scan value, const struct spec_quantity *q,
                   usec_t *out)
{
    double us;
    int err = spec_read(r, value, q, &us);
    if (!err)
        *out = llround(us);
    return err;
}

int spec_read_probability(struct spec_reader *r, struct scan value, double *out)
{
    double percent;
    int err = spec_read(r, value, &spec_percent, &percent);
    if (!err)
        *out = percent / 100;
    return err;
}
