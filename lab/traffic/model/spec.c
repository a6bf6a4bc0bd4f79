// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/traffic/model/spec.h"

#include <stdio.h>

#include "common/base/err.h"

#define KIND(kind)  (1u << (kind))
#define ALL_KINDS   ((1u << SPEC_KINDS) - 1)
#define DATAGRAMS   (KIND(SPEC_CBR) | KIND(SPEC_PARETO))
#define SECONDS_MAX INT64_C(1000000000)

static const char *const kind_names[] = {
    [SPEC_ELEPHANTS] = "elephants", [SPEC_MICE] = "mice", [SPEC_CBR] = "cbr",
    [SPEC_PARETO] = "udp-pareto",   [SPEC_WEB] = "web",
};

static bool take_decimal(struct scan *s, int64_t max, double *out)
{
    int64_t whole;
    if (!scan_int(s, max, &whole))
        return false;
    *out = (double)whole;
    if (!scan_char(s, '.'))
        return true;
    if (scan_end(s) || *s->at < '0' || *s->at > '9')
        return false;
    *out += scan_fraction(s);
    return true;
}

// Reads digits with or without decimals, at most 1e9.
static bool parse_seconds(struct scan s, usec_t *out)
{
    double seconds;
    if (!take_decimal(&s, SECONDS_MAX, &seconds) || !scan_end(&s))
        return false;
    *out = (usec_t)(seconds * 1e6 + 0.5);
    return true;
}

static bool parse_int(struct scan s, int64_t min, int64_t max, int64_t *out)
{
    return scan_int(&s, max, out) && scan_end(&s) && *out >= min;
}

static bool set_n(struct spec *spec, struct scan value)
{
    int64_t n = 0;
    bool good = parse_int(value, 1, SPEC_FLOWS_MAX, &n);
    spec->n = (int)n;
    return good;
}

static bool set_cc(struct spec *spec, struct scan value)
{
    return request_parse_cc(value, spec->cc);
}

static bool set_bytes(struct spec *spec, struct scan value)
{
    return parse_int(value, 1, REQUEST_BYTES_MAX, &spec->bytes);
}

static bool set_rate(struct spec *spec, struct scan value)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
    double number;
    if (!take_decimal(&value, REQUEST_RATE_MAX, &number))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!scan_is(value, units[i].name))
            continue;
        double bps = number * units[i].factor;
        if (bps < (double)REQUEST_RATE_MIN || bps > (double)REQUEST_RATE_MAX)
            return false;
        spec->rate_bps = (int64_t)(bps + 0.5);
        return true;
    }
    return false;
}

static bool set_size(struct spec *spec, struct scan value)
{
    int64_t size = 0;
    bool good = parse_int(value, 1, REQUEST_SIZE_MAX, &size);
    spec->size = (int)size;
    return good;
}

static bool set_mean(struct spec *spec, struct scan value)
{
    return take_decimal(&value, 1000000000, &spec->mean) && scan_end(&value) && spec->mean >= 1 &&
           spec->mean <= 1e9;
}

static bool set_shape(struct spec *spec, struct scan value)
{
    return take_decimal(&value, 100, &spec->shape) && scan_end(&value) && spec->shape >= 1.01 &&
           spec->shape <= 100;
}

// A period of udp-pareto.
static bool set_on(struct spec *spec, struct scan value)
{
    return parse_seconds(value, &spec->on) && spec->on >= REQUEST_PERIOD_MIN &&
           spec->on <= REQUEST_PERIOD_MAX;
}

static bool set_off(struct spec *spec, struct scan value)
{
    return parse_seconds(value, &spec->off) && spec->off <= REQUEST_PERIOD_MAX &&
           (spec->kind == SPEC_WEB || spec->off >= REQUEST_PERIOD_MIN);
}

static bool set_start(struct spec *spec, struct scan value)
{
    return parse_seconds(value, &spec->start);
}

static bool set_stop(struct spec *spec, struct scan value)
{
    return parse_seconds(value, &spec->stop);
}

static const struct key {
    const char *name;
    unsigned kinds;
    unsigned required; // set of kinds that require the key
    bool (*set)(struct spec *spec, struct scan value);
    const char *allowed;
} keys[] = {
    {"n", ALL_KINDS, 0, set_n, "1 to 1000 flows"},
    {"cc", ALL_KINDS & ~DATAGRAMS, 0, set_cc, "the name of a congestion control, such as reno"},
    {"bytes", KIND(SPEC_MICE), KIND(SPEC_MICE), set_bytes, "1 to 1000000000000 bytes"},
    {"rate", DATAGRAMS, DATAGRAMS, set_rate, "1kbit to 10gbit, such as 3mbit"},
    {"size", DATAGRAMS, 0, set_size, "1 to 1472 bytes"},
    {"mean", KIND(SPEC_WEB), 0, set_mean, "1 to 1000000000 bytes"},
    {"shape", KIND(SPEC_WEB) | KIND(SPEC_PARETO), 0, set_shape, "1.01 to 100"},
    {"on", KIND(SPEC_PARETO), 0, set_on, "0.001 to 3600 seconds"},
    {"off", KIND(SPEC_WEB), 0, set_off, "0 to 3600 seconds"},
    {"off", KIND(SPEC_PARETO), 0, set_off, "0.001 to 3600 seconds"},
    {"start", ALL_KINDS, 0, set_start, "seconds after the epoch"},
    {"stop", ALL_KINDS, 0, set_stop, "seconds after the epoch"},
};
enum { KEY_COUNT = sizeof(keys) / sizeof(keys[0]) };

// Lists the keys of a kind, " n cc ...", for messages.
static void list_keys(enum spec_kind kind, char *out, size_t cap)
{
    size_t len = 0;
    for (int i = 0; i < KEY_COUNT && len < cap; i++) {
        if (keys[i].kinds & KIND(kind))
            len += (size_t)snprintf(out + len, cap - len, " %s", keys[i].name);
    }
}

static int apply_part(struct spec *spec, struct scan part, unsigned *seen, char *error, size_t cap)
{
    struct scan value = part;
    struct scan name = scan_until(&value, '=');
    for (int i = 0; i < KEY_COUNT; i++) {
        if (!(keys[i].kinds & KIND(spec->kind)) || !scan_is(name, keys[i].name))
            continue;
        if (*seen & 1u << i)
            return err_say(error, cap, ERR_MALFORMED, "%s: %s is given twice", spec->text,
                           keys[i].name);
        *seen |= 1u << i;
        if (keys[i].set(spec, value))
            return 0;
        return err_say(error, cap, ERR_RANGE, "%s: %s expects %s", spec->text, keys[i].name,
                       keys[i].allowed);
    }
    char list[128];
    list_keys(spec->kind, list, sizeof(list));
    return err_say(error, cap, ERR_MALFORMED, "%s: %s has no \"%.*s\" (available:%s)", spec->text,
                   kind_names[spec->kind], (int)scan_left(&name), name.at, list);
}

static bool find_kind(struct scan name, enum spec_kind *out)
{
    for (int i = 0; i < SPEC_KINDS; i++) {
        if (scan_is(name, kind_names[i])) {
            *out = (enum spec_kind)i;
            return true;
        }
    }
    return false;
}

int spec_parse(const char *text, struct spec *spec, char *error, size_t error_cap)
{
    *spec = (struct spec){.text = text,
                          .n = 1,
                          .size = 1000,
                          .mean = 50000,
                          .on = USEC_PER_SEC / 2,
                          .off = USEC_PER_SEC,
                          .stop = USEC_NEVER};
    struct scan rest = scan_of(text, strlen(text));
    bool has_keys = memchr(text, ':', scan_left(&rest)) != NULL;
    if (!find_kind(scan_until(&rest, ':'), &spec->kind))
        return err_say(error, error_cap, ERR_MALFORMED,
                       "a SPEC begins with elephants:, mice:, cbr:, udp-pareto: or web:");
    spec->shape = spec->kind == SPEC_PARETO ? 1.5 : 1.2;
    unsigned seen = 0;
    while (has_keys) {
        has_keys = !scan_end(&rest) && memchr(rest.at, ',', scan_left(&rest)) != NULL;
        int err = apply_part(spec, scan_until(&rest, ','), &seen, error, error_cap);
        if (err)
            return err;
    }
    for (int i = 0; i < KEY_COUNT; i++) {
        if (keys[i].required & KIND(spec->kind) && !(seen & 1u << i))
            return err_say(error, error_cap, ERR_MALFORMED, "%s: %s requires %s=, %s", text,
                           kind_names[spec->kind], keys[i].name, keys[i].allowed);
    }
    if (spec->stop <= spec->start)
        return err_say(error, error_cap, ERR_RANGE, "%s: stop must come after start", text);
    return 0;
}
