// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/record/policy/record_keep.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

enum { DAY_S = 24 * 3600, DAYS_MAX = 36500 };
#define COUNT_MAX 1000000000

struct unit {
    const char *name;
    int64_t size;
};

static const struct unit durations[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", DAY_S}, {NULL, 0}};
static const struct unit sizes[] = {
    {"MB", 1000000}, {"GB", 1000000000}, {"TB", 1000000000000}, {NULL, 0}};

// Parses a whole number with a unit of the list, which fills the text of `len` bytes. Returns the
// product, or ERR_MALFORMED; ERR_RANGE if it is above `max`.
static int64_t parse_amount(const char *text, size_t len, const struct unit *units, int64_t max)
{
    struct scan s = scan_of(text, len);
    int64_t count;
    if (!scan_int(&s, COUNT_MAX, &count) || count < 1)
        return ERR_MALFORMED;
    for (; units->name; units++)
        if (scan_left(&s) == strlen(units->name) && memcmp(s.at, units->name, scan_left(&s)) == 0)
            return count <= max / units->size ? count * units->size : ERR_RANGE;
    return ERR_MALFORMED;
}

int record_duration_parse(const char *text, usec_t *out)
{
    int64_t seconds = parse_amount(text, strlen(text), durations, (int64_t)DAYS_MAX * DAY_S);
    if (seconds < 0)
        return (int)seconds;
    *out = seconds * USEC_PER_SEC;
    return 0;
}

int record_keep_parse(const char *text, struct record_keep *out)
{
    *out = (struct record_keep){0};
    for (;;) {
        const char *comma = strchr(text, ',');
        size_t len = comma ? (size_t)(comma - text) : strlen(text);
        int64_t seconds = parse_amount(text, len, durations, (int64_t)DAYS_MAX * DAY_S);
        int64_t bytes = parse_amount(text, len, sizes, INT64_MAX / 2);
        if (seconds > 0 && !out->age)
            out->age = seconds * USEC_PER_SEC;
        else if (bytes > 0 && !out->bytes)
            out->bytes = bytes;
        else
            return ERR_MALFORMED;
        if (!comma)
            return 0;
        text = comma + 1;
    }
}

static int older_first(const void *a, const void *b)
{
    const struct recorded_file *x = a, *y = b;
    if (x->changed != y->changed)
        return x->changed < y->changed ? -1 : 1;
    return strcmp(x->name, y->name);
}

int record_keep_choose(const struct record_keep *k, struct recorded_file *files, int count,
                       int64_t open, usec_t wall)
{
    if (count > 0)
        qsort(files, (size_t)count, sizeof(*files), older_first);
    int64_t sum = open;
    for (int i = 0; i < count; i++)
        sum += files[i].bytes;
    int gone = 0;
    while (gone < count &&
           ((k->age && wall - files[gone].changed > k->age) || (k->bytes && sum > k->bytes)))
        sum -= files[gone++].bytes;
    return gone;
}
