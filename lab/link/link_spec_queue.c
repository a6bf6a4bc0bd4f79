// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "lab/link/link_spec_read.h"

// A size as in the text. Times stay times until the link's rate is known.
enum picture_compare { ABSENT, BYTES, PACKETS, TIME };

struct size {
    enum picture_compare measure;
    uint64_t value;
};

struct sizes {
    struct size limit, mark, min, max;
};

enum option {
    OPT_LIMIT,
    OPT_ECN,
    OPT_MIN,
    OPT_MAX,
    OPT_PMIN,
    OPT_PMAX,
    OPT_WEIGHT,
    OPT_GENTLE,
    OPT_TARGET,
    OPT_INTERVAL,
    OPT_ALPHA,
    OPT_BETA,
    OPT_K,
    OPT_STEP,
    OPTIONS
};

static const char *const option_names[OPTIONS] = {
    [OPT_LIMIT] = "limit",   [OPT_ECN] = "ecn",           [OPT_MIN] = "min",
    [OPT_MAX] = "max",       [OPT_PMIN] = "pmin",         [OPT_PMAX] = "pmax",
    [OPT_WEIGHT] = "weight", [OPT_GENTLE] = "gentle",     [OPT_TARGET] = "target",
    [OPT_ALPHA] = "alpha",   [OPT_INTERVAL] = "interval", [OPT_BETA] = "beta",
    [OPT_K] = "k",           [OPT_STEP] = "step",
};

#define OPT(name) (1u << OPT_##name)
#define ALL_KINDS (OPT(LIMIT) | OPT(ECN))
#define PACKETS_OF(number)                                                                         \
    {                                                                                              \
        PACKETS, number                                                                            \
    }

static const struct kind {
    const char *name;
    unsigned options;
    struct size limit; // ABSENT: the text must contain one
    struct queue_config defaults;
} kinds[QUEUE_KINDS] = {
    [QUEUE_DROPTAIL] = {"droptail", ALL_KINDS, PACKETS_OF(1000), {0}},
    [QUEUE_DROPHEAD] = {"drophead", ALL_KINDS, PACKETS_OF(1000), {0}},
    [QUEUE_RED] = {"red",
                   ALL_KINDS | OPT(MIN) | OPT(MAX) | OPT(PMAX) | OPT(WEIGHT) | OPT(GENTLE),
                   PACKETS_OF(1000),
                   {.p_max = 0.1, .weight = 0.002}},
    [QUEUE_DRED] = {"dred",
                    ALL_KINDS | OPT(MIN) | OPT(MAX) | OPT(PMIN) | OPT(PMAX),
                    {ABSENT, 0},
                    {.p_min = 0.1, .p_max = 1}},
    [QUEUE_DRD] = {"drd",
                   ALL_KINDS | OPT(MIN) | OPT(MAX) | OPT(PMIN) | OPT(PMAX),
                   PACKETS_OF(1000),
                   {.p_min = 0.1, .p_max = 0.95}},
    // Defaults of RFC 8289, sections 4.3 and 4.4.
    [QUEUE_CODEL] = {"codel",
                     ALL_KINDS | OPT(TARGET) | OPT(INTERVAL),
                     PACKETS_OF(1000),
                     {.target = 5 * USEC_PER_MSEC, .interval = 100 * USEC_PER_MSEC}},
    // Defaults of RFC 9332, appendix A.1, with RTT_max = 100 ms: Tupdate = min(target, RTT_max /
    // 3), alpha = 0.1 Tupdate / RTT_max^2, beta = 0.3 / RTT_max. DualPI2 requires marks, so they
    // are on.
    [QUEUE_DUALPI2] = {"dualpi2",
                       ALL_KINDS | OPT(TARGET) | OPT(INTERVAL) | OPT(ALPHA) | OPT(BETA) | OPT(K) |
                           OPT(STEP),
                       PACKETS_OF(10000),
                       {.ecn = true,
                        .target = 15 * USEC_PER_MSEC,
                        .interval = 15 * USEC_PER_MSEC,
                        .alpha = 0.15,
                        .beta = 3,
                        .k = 2,
                        .step = USEC_PER_MSEC}},
};

static int read_size(struct spec_reader *r, struct scan value, struct size *out)
{
    char last = scan_end(&value) ? '\0' : value.end[-1];
    enum picture_compare measure = last == 'B' ? BYTES : last == 'p' ? PACKETS : TIME;
    const struct spec_quantity *q = measure == BYTES     ? &spec_bytes
                                    : measure == PACKETS ? &spec_packets
                                                         : &spec_queue_time;
    double number;
    int err = spec_read(r, value, q, &number);
    if (!err)
        *out = (struct size){measure, (uint64_t)llround(number)};
    return err;
}

static int fail_option(struct spec_reader *r, struct scan name, const struct kind *kind)
{
    char list[128];
    struct put out = put_into(list, sizeof(list));
    for (int i = 0; i < OPTIONS; i++) {
        if (kind->options & 1u << i)
            put_format(&out, "%s%s", i ? ", " : "", option_names[i]);
    }
    return spec_fail(r, ERR_MALFORMED, "'%s' is not one of %s's %s", spec_excerpt(name).text,
                     kind->name, list);
}

static int read_option(struct spec_reader *r, enum option option, struct scan value,
                       struct sizes *sizes)
{
    struct queue_config *c = &r->spec->queue;
    switch (option) {
    case OPT_LIMIT:
        return read_size(r, value, &sizes->limit);
    case OPT_ECN: // droptail and drophead only; a flag elsewhere
        return read_size(r, value, &sizes->mark);
    case OPT_MIN:
        return read_size(r, value, &sizes->min);
    case OPT_MAX:
        return read_size(r, value, &sizes->max);
    case OPT_PMIN:
        return spec_read_probability(r, value, &c->p_min);
    case OPT_PMAX:
        return spec_read_probability(r, value, &c->p_max);
    case OPT_WEIGHT:
        return spec_read(r, value, &spec_weight, &c->weight);
    case OPT_TARGET:
        return spec_read_time(r, value, &spec_time_positive, &c->target);
    case OPT_INTERVAL:
        return spec_read_time(r, value, &spec_interval, &c->interval);
    case OPT_ALPHA:
        return spec_read(r, value, &spec_gain, &c->alpha);
    case OPT_BETA:
        return spec_read(r, value, &spec_gain, &c->beta);
    case OPT_K:
        return spec_read(r, value, &spec_gain, &c->k);
    case OPT_STEP:
        return spec_read_time(r, value, &spec_time_positive, &c->step);
    case OPT_GENTLE:
    case OPTIONS:
        break;
    }
    return ERR_MALFORMED;
}

static bool is_flag(enum option option, enum queue_kind kind)
{
    return option == OPT_GENTLE ||
           (option == OPT_ECN && kind != QUEUE_DROPTAIL && kind != QUEUE_DROPHEAD);
}

// Reads KEY=VALUE or a flag; a size in the first position is the limit.
static int read_part(struct spec_reader *r, struct scan part, bool first, unsigned *seen,
                     struct sizes *sizes)
{
    struct queue_config *c = &r->spec->queue;
    const struct kind *kind = &kinds[c->kind];
    bool bare_limit = first && !scan_end(&part) && *part.at >= '0' && *part.at <= '9';
    struct scan value = part;
    struct scan name;
    spec_take(&value, '=', &name);
    int option = bare_limit ? OPT_LIMIT : 0;
    while (!bare_limit && option < OPTIONS && !scan_is(name, option_names[option]))
        option++;
    if (option == OPTIONS || !(kind->options & 1u << option))
        return fail_option(r, name, kind);
    if (*seen & 1u << option)
        return spec_fail(r, ERR_MALFORMED, "'%s' more than once", option_names[option]);
    *seen |= 1u << option;
    if (bare_limit)
        return read_size(r, part, &sizes->limit);
    bool flag = is_flag((enum option)option, c->kind);
    if (flag != !value.at)
        return spec_fail(r, ERR_MALFORMED, "'%s' %s", option_names[option],
                         flag ? "takes no value" : "requires a value: KEY=VALUE");
    if (!flag)
        return read_option(r, (enum option)option, value, sizes);
    *(option == OPT_ECN ? &c->ecn : &c->gentle) = true;
    return 0;
}

static struct size scaled(struct size s, unsigned by, unsigned of)
{
    s.value = s.value * by / of;
    s.value += s.value == 0;
    return s;
}

// RED: max = 3 min, as Floyd advises; min is such that the limit is 4 max, with room for bursts
// that the average lets through. DRED and DRD drop from half the limit on.
static int complete_thresholds(struct spec_reader *r, struct sizes *z)
{
    bool red = r->spec->queue.kind == QUEUE_RED;
    if (z->min.measure == ABSENT && z->max.measure == ABSENT)
        z->min = scaled(z->limit, 1, red ? 12 : 2);
    else if (z->min.measure == ABSENT)
        z->min = scaled(z->max, 1, red ? 3 : 2);
    bool to_limit = !red && z->limit.measure == z->min.measure && z->limit.value > z->min.value;
    if (z->max.measure == ABSENT)
        z->max = to_limit ? z->limit : scaled(z->min, red ? 3 : 2, 1);
    if (z->min.measure != z->max.measure)
        return spec_fail(r, ERR_MALFORMED, "min and max must both be bytes, packets or times");
    if (z->min.value >= z->max.value)
        return spec_fail(r, ERR_RANGE, "min must be below max");
    if (r->spec->queue.p_min > r->spec->queue.p_max)
        return spec_fail(r, ERR_RANGE, "pmin must not be above pmax");
    return 0;
}

static void store(struct size s, struct queue_size *size, usec_t *as_time)
{
    size->bytes = s.measure == BYTES ? s.value : 0;
    size->packets = s.measure == PACKETS ? s.value : 0;
    *as_time = s.measure == TIME ? (usec_t)s.value : USEC_NEVER;
}

int spec_read_queue(struct spec_reader *r, struct scan value)
{
    struct scan part;
    spec_take(&value, ':', &part);
    int k = 0;
    while (k < QUEUE_KINDS && !scan_is(part, kinds[k].name))
        k++;
    if (k == QUEUE_KINDS)
        return spec_fail(r, ERR_MALFORMED,
                         "'%s' is not one of droptail, drophead, red, dred, drd, codel, dualpi2",
                         spec_excerpt(part).text);
    struct queue_config *c = &r->spec->queue;
    *c = kinds[k].defaults;
    c->kind = (enum queue_kind)k;
    struct sizes sizes = {.limit = {ABSENT, 0}};
    unsigned seen = 0;
    for (bool first = true; spec_take(&value, ':', &part); first = false) {
        int err = read_part(r, part, first, &seen, &sizes);
        if (err)
            return err;
    }
    if (sizes.limit.measure == ABSENT)
        sizes.limit = kinds[k].limit;
    if (sizes.limit.measure == ABSENT)
        return spec_fail(r, ERR_MALFORMED, "%s requires a limit, as in %s:64KB", kinds[k].name,
                         kinds[k].name);
    if (kinds[k].options & OPT(MIN)) {
        int err = complete_thresholds(r, &sizes);
        if (err)
            return err;
    }
    store(sizes.limit, &c->limit, &r->spec->as_time.limit);
    store(sizes.mark, &c->mark, &r->spec->as_time.mark);
    store(sizes.min, &c->min, &r->spec->as_time.min);
    store(sizes.max, &c->max, &r->spec->as_time.max);
    return 0;
}
