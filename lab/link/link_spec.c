// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/link_spec.h"

#include <math.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "lab/link/link_spec_read.h"

enum { PACKET_BYTES = 1500, QUEUE_BYTES_MAX = 1000 * 1000 * 1000 };

// Reads RATE@TIME.
static int read_later_rate(struct spec_reader *r, struct scan part)
{
    struct rate_schedule *s = &r->spec->rate;
    if (s->count == RATE_STEPS_MAX)
        return spec_fail(r, ERR_RANGE, "more than %d rates", RATE_STEPS_MAX);
    struct rate_step *step = &s->steps[s->count];
    struct scan rate, at = part;
    spec_take(&at, '@', &rate);
    if (!at.at)
        return spec_fail(r, ERR_MALFORMED, "'%s' is not RATE@TIME, nor loop=TIME at the end",
                         spec_excerpt(part).text);
    int err = spec_read(r, rate, &spec_rate_or_zero, &step->bps);
    if (!err)
        err = spec_read_time(r, at, &spec_schedule_time, &step->at);
    if (err)
        return err;
    if (step->at <= s->steps[s->count - 1].at)
        return spec_fail(r, ERR_RANGE, "'%s' is not after the rate before it",
                         spec_excerpt(part).text);
    s->count++;
    return 0;
}

static int read_loop(struct spec_reader *r, struct scan time)
{
    struct rate_schedule *s = &r->spec->rate;
    int err = spec_read_time(r, time, &spec_schedule_time, &s->loop);
    if (!err && s->loop <= s->steps[s->count - 1].at)
        return spec_fail(r, ERR_RANGE, "loop must be after the last rate");
    return err;
}

static int read_rate(struct spec_reader *r, struct scan value)
{
    struct rate_schedule *s = &r->spec->rate;
    struct scan part;
    spec_take(&value, ':', &part);
    r->spec->has_rate = true;
    s->count = 1;
    if (r->is_change && value.at)
        return spec_fail(r, ERR_MALFORMED, "a change takes one rate");
    int err = spec_read(r, part, r->is_change ? &spec_rate_or_zero : &spec_rate, &s->steps[0].bps);
    while (!err && spec_take(&value, ':', &part)) {
        bool is_loop = !value.at && scan_word(&part, "loop=");
        err = is_loop ? read_loop(r, part) : read_later_rate(r, part);
    }
    return err;
}

static int read_trace(struct spec_reader *r, struct scan value)
{
    size_t len = scan_left(&value);
    if (len == 0 || len >= LINK_PATH_MAX)
        return spec_fail(r, len ? ERR_RANGE : ERR_MALFORMED,
                         "'%s' is not a path of 1 to %d characters", spec_excerpt(value).text,
                         LINK_PATH_MAX - 1);
    memcpy(r->spec->trace, value.at, len);
    r->spec->trace[len] = '\0';
    return 0;
}

static int read_overhead(struct spec_reader *r, struct scan value)
{
    double bytes;
    int err = spec_read(r, value, &spec_overhead, &bytes);
    if (!err)
        r->spec->overhead = (uint32_t)lround(bytes);
    return err;
}

static int read_delay(struct spec_reader *r, struct scan value)
{
    return spec_read_time(r, value, &spec_time, &r->spec->delay);
}

static int read_jitter(struct spec_reader *r, struct scan value)
{
    return spec_read_time(r, value, &spec_time, &r->spec->jitter);
}

static int read_reorder(struct spec_reader *r, struct scan value)
{
    struct scan probability;
    spec_take(&value, ':', &probability);
    if (!value.at)
        return spec_fail(r, ERR_MALFORMED, "'%s' is not PERCENT:TIME, as in 1%%:10ms",
                         spec_excerpt(probability).text);
    int err = spec_read_probability(r, probability, &r->spec->reorder);
    return err ? err : spec_read_time(r, value, &spec_time, &r->spec->reorder_by);
}

enum key {
    KEY_RATE,
    KEY_TRACE,
    KEY_OVERHEAD,
    KEY_QUEUE,
    KEY_LOSS,
    KEY_DELAY,
    KEY_JITTER,
    KEY_REORDER,
    KEYS
};

static const struct {
    const char *name;
    int (*read)(struct spec_reader *r, struct scan value);
    bool can_change;
} keys[KEYS] = {
    [KEY_RATE] = {"rate", read_rate, true},
    [KEY_TRACE] = {"trace", read_trace, false},
    [KEY_OVERHEAD] = {"overhead", read_overhead, false},
    [KEY_QUEUE] = {"queue", spec_read_queue, false},
    [KEY_LOSS] = {"loss", spec_read_loss, true},
    [KEY_DELAY] = {"delay", read_delay, true},
    [KEY_JITTER] = {"jitter", read_jitter, true},
    [KEY_REORDER] = {"reorder", read_reorder, true},
};

static int fail_key(struct spec_reader *r, struct scan name)
{
    char list[128];
    struct put out = put_into(list, sizeof(list));
    for (int i = 0; i < KEYS; i++) {
        if (!r->is_change || keys[i].can_change)
            put_format(&out, "%s%s", i ? ", " : "", keys[i].name);
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not one of %s%s", spec_excerpt(name).text, list,
                     r->is_change ? ", which can change" : "");
}

static int read_part(struct spec_reader *r, unsigned *seen)
{
    struct scan value = r->part;
    struct scan name;
    spec_take(&value, '=', &name);
    if (scan_end(&r->part))
        return spec_fail(r, ERR_MALFORMED, "an empty part; a link is KEY=VALUE[,KEY=VALUE...]");
    int key = 0;
    while (key < KEYS && !scan_is(name, keys[key].name))
        key++;
    if (key == KEYS || (r->is_change && !keys[key].can_change))
        return fail_key(r, name);
    if (*seen & 1u << key)
        return spec_fail(r, ERR_MALFORMED, "'%s' more than once", keys[key].name);
    *seen |= 1u << key;
    if (!value.at)
        return spec_fail(r, ERR_MALFORMED, "'%s' requires a value: KEY=VALUE", keys[key].name);
    return keys[key].read(r, value);
}

// Checks the constraints between keys.
static int check_together(struct spec_reader *r, unsigned seen)
{
    const unsigned rate = 1u << KEY_RATE, trace = 1u << KEY_TRACE;
    if ((seen & rate) && (seen & trace))
        return spec_fail(r, ERR_MALFORMED, "rate conflicts with trace");
    if ((seen & (1u << KEY_QUEUE | 1u << KEY_OVERHEAD)) && !r->is_change &&
        !(seen & (rate | trace)))
        return spec_fail(r, ERR_MALFORMED, "queue and overhead require a rate or a trace");
    return 0;
}

static int read_text(struct spec_reader *r, const char *text, unsigned *seen)
{
    put_into(r->error, r->error_cap);
    *seen = 0;
    size_t len = strnlen(text, LINK_SPEC_TEXT_MAX + 1);
    if (len > LINK_SPEC_TEXT_MAX)
        return spec_fail(r, ERR_RANGE, "more than %d characters", LINK_SPEC_TEXT_MAX);
    *r->spec = (struct link_spec){.as_time = {USEC_NEVER, USEC_NEVER, USEC_NEVER, USEC_NEVER}};
    int err = spec_read_queue(r, scan_of("droptail", 8));
    struct scan rest = scan_of(text, len);
    while (!err && len && spec_take(&rest, ',', &r->part))
        err = read_part(r, seen);
    r->part = scan_of("", 0);
    return err ? err : check_together(r, *seen);
}

int link_spec_parse(const char *text, struct link_spec *spec, char *error, size_t error_cap)
{
    struct spec_reader r = {spec, false, scan_of("", 0), error, error_cap};
    unsigned seen;
    return read_text(&r, text, &seen);
}

int link_change_parse(const char *text, struct link_change *change, char *error, size_t error_cap)
{
    struct spec_reader r = {&change->spec, true, scan_of("", 0), error, error_cap};
    unsigned seen;
    int err = read_text(&r, text, &seen);
    change->rate = seen & 1u << KEY_RATE;
    change->delay = seen & 1u << KEY_DELAY;
    change->jitter = seen & 1u << KEY_JITTER;
    change->loss = seen & 1u << KEY_LOSS;
    change->reorder = seen & 1u << KEY_REORDER;
    return err;
}

static void resolve(usec_t *time, double bps, struct queue_size *size)
{
    if (*time == USEC_NEVER)
        return;
    double bytes = usec_to_sec(*time) * bps / 8;
    size->packets = 0;
    size->bytes = (uint64_t)fmin(fmax(bytes, PACKET_BYTES), QUEUE_BYTES_MAX);
    *time = USEC_NEVER;
}

void link_spec_resolve(struct link_spec *spec, double bps)
{
    struct queue_config *q = &spec->queue;
    resolve(&spec->as_time.limit, bps, &q->limit);
    resolve(&spec->as_time.mark, bps, &q->mark);
    resolve(&spec->as_time.min, bps, &q->min);
    resolve(&spec->as_time.max, bps, &q->max);
    // Two times of less than a packet have become the same size; disciplines divide by max - min.
    if (q->min.bytes && q->max.bytes <= q->min.bytes)
        q->max.bytes = q->min.bytes + PACKET_BYTES;
}
