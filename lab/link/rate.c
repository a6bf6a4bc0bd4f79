// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/link/rate.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/scan.h"

double rate_schedule_at(const struct rate_schedule *s, usec_t t, usec_t *until)
{
    assert(t >= 0 && s->count > 0 && s->steps[0].at == 0);
    usec_t round = s->loop ? t - t % s->loop : 0;
    int next = 1;
    while (next < s->count && round + s->steps[next].at <= t)
        next++;
    if (next < s->count)
        *until = round + s->steps[next].at;
    else
        *until = s->loop && s->count > 1 ? round + s->loop : USEC_NEVER;
    return s->steps[next - 1].bps;
}

static int append(struct trace *t, size_t *capacity, uint32_t at_ms)
{
    if (t->count == TRACE_LINES_MAX)
        return ERR_TOO_BIG;
    if (t->count == *capacity) {
        size_t more = *capacity ? 2 * *capacity : 256;
        uint32_t *grown = realloc(t->at_ms, more * sizeof(*grown));
        if (!grown)
            return ERR_NO_MEMORY;
        t->at_ms = grown;
        *capacity = more;
    }
    t->at_ms[t->count++] = at_ms;
    return 0;
}

static int parse_line(struct trace *t, size_t *capacity, struct scan text)
{
    int64_t at_ms;
    text = scan_trimmed(text);
    if (scan_end(&text) || *text.at == '#')
        return 0;
    if (!scan_int(&text, UINT32_MAX, &at_ms) || !scan_end(&text) || at_ms < t->length_ms)
        return ERR_MALFORMED;
    t->length_ms = (uint32_t)at_ms;
    return append(t, capacity, (uint32_t)at_ms);
}

int trace_parse(struct trace *t, const char *text, size_t len, size_t *line)
{
    struct scan rest = scan_of(text, len), one;
    size_t capacity = 0;
    int err = 0;
    *t = (struct trace){0};
    *line = 0;
    while (err == 0 && scan_line(&rest, &one)) {
        ++*line;
        err = parse_line(t, &capacity, one);
    }
    if (*line == 0)
        *line = 1;
    // A trace of length 0 would repeat forever at one instant.
    if (err == 0 && t->length_ms == 0)
        err = ERR_MALFORMED;
    if (err != 0)
        trace_destroy(t);
    return err;
}

void trace_destroy(struct trace *t)
{
    free(t->at_ms);
    *t = (struct trace){0};
}

uint64_t trace_first_from(const struct trace *t, usec_t from)
{
    assert(from >= 0);
    uint64_t from_ms = ((uint64_t)from + 999) / 1000;
    // Rounds overlap in one instant: the end of one is the start of the next, and its opportunities
    // come first.
    uint64_t round = from_ms ? (from_ms - 1) / t->length_ms : 0;
    // <= length_ms, the time of the last opportunity.
    uint64_t in_round = from_ms - round * t->length_ms;
    size_t low = 0, high = t->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->at_ms[middle] < in_round)
            low = middle + 1;
        else
            high = middle;
    }
    return round * t->count + low;
}

usec_t trace_at(const struct trace *t, uint64_t opportunity)
{
    uint64_t round = opportunity / t->count;
    return (usec_t)(round * t->length_ms + t->at_ms[opportunity % t->count]) * USEC_PER_MSEC;
}

double trace_mean_bps(const struct trace *t)
{
    return 8e3 * TRACE_OPPORTUNITY_BYTES * (double)t->count / t->length_ms;
}
