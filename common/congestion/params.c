// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/congestion/params.h"

#include <assert.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/scan.h"

enum { MAX_ROWS = 32 };

#define INTEGER_MAX INT64_C(10000000000000000)

static int read_number(const struct param *p, struct scan s)
{
    int64_t whole;
    struct scan digits = s;
    if (!scan_int(&s, INTEGER_MAX, &whole))
        return !scan_end(&digits) && *digits.at >= '0' && *digits.at <= '9' ? ERR_RANGE
                                                                            : ERR_MALFORMED;
    double value = (double)whole;
    if (scan_char(&s, '.')) {
        int digit;
        struct scan after = s;
        if (!scan_digit(&after, &digit))
            return ERR_MALFORMED;
        value += scan_fraction(&s);
    }
    if (!scan_end(&s))
        return ERR_MALFORMED;
    if (value < p->min || value > p->max)
        return ERR_RANGE;
    *p->value = value;
    return 0;
}

static int read_word(const struct param *p, struct scan s)
{
    struct scan words = scan_of(p->words, strlen(p->words));
    for (int i = 0; !scan_end(&words); i++) {
        struct scan word = scan_until(&words, '|');
        if (scan_left(&word) == scan_left(&s) && memcmp(word.at, s.at, scan_left(&s)) == 0) {
            *p->value = i;
            return 0;
        }
    }
    return ERR_MALFORMED;
}

static int read_one(struct scan item, const struct param *table, size_t count, uint32_t *seen,
                    struct param_fault *fault)
{
    const struct scan whole = item;
    struct scan key = scan_until(&item, '=');
    size_t i = 0;
    while (i < count && !scan_is(key, table[i].key))
        i++;
    *fault = (struct param_fault){
        .row = i < count ? &table[i] : NULL, .value = item.at, .len = scan_left(&item)};
    if (i == count || key.end == whole.end) // no '='
        return ERR_MALFORMED;
    fault->twice = *seen & UINT32_C(1) << i;
    if (fault->twice)
        return ERR_MALFORMED;
    *seen |= UINT32_C(1) << i;
    return table[i].words ? read_word(&table[i], item) : read_number(&table[i], item);
}

int params_read(const char *text, const struct param *table, size_t count,
                struct param_fault *fault)
{
    assert(count <= MAX_ROWS);
    struct param_fault unused;
    struct scan rest = scan_of(text, strlen(text));
    uint32_t seen = 0;
    bool more = !scan_end(&rest);
    while (more) {
        struct scan item = scan_until(&rest, ',');
        more = item.end != rest.end; // after a trailing comma another part must follow
        int err = read_one(item, table, count, &seen, fault ? fault : &unused);
        if (err)
            return err;
    }
    return 0;
}
