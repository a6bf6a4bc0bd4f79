// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/abr/rate_trace.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"

#define PACKET_BYTES 1500.0
#define PACKET_STEP  (100 * USEC_PER_MSEC)
#define MAX_SECONDS  1e6
#define MAX_MBIT     1e6

struct rows {
    double *values[2]; // owned
    int count;
    int capacity;
};

static bool add_row(struct rows *r, const double *values)
{
    if (r->count == r->capacity) {
        int capacity = r->capacity ? 2 * r->capacity : 1024;
        for (int i = 0; i < 2; i++) {
            double *grown = realloc(r->values[i], (size_t)capacity * sizeof(double));
            if (!grown)
                return false;
            r->values[i] = grown;
        }
        r->capacity = capacity;
    }
    for (int i = 0; i < 2; i++)
        r->values[i][r->count] = values[i];
    r->count++;
    return true;
}

// Returns the number of values of a line, 0 .. 2; -1: it is not of either form.
static int read_line(const char *line, size_t len, double *values)
{
    char text[64];
    int count = 0;
    if (len >= sizeof(text) || memchr(line, '\0', len))
        return -1;
    memcpy(text, line, len);
    text[len] = '\0';
    for (char *at = text;; count++) {
        at += strspn(at, " \t\r");
        if (!*at || (*at == '#' && count == 0))
            return count;
        char *end;
        double value = count < 2 ? strtod(at, &end) : NAN;
        if (!isfinite(value) || value < 0 || end == at)
            return -1;
        values[count] = value;
        at = end;
    }
}

static int read_rows(const char *text, size_t len, struct rows *r, int *columns, int *line)
{
    *line = 0;
    *columns = 0;
    for (const char *at = text, *end = text + len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        double values[2] = {0};
        int n = read_line(at, (size_t)((stop ? stop : end) - at), values);
        ++*line;
        at = stop ? stop + 1 : end;
        if (n == 0)
            continue;
        if (n < 0 || (*columns && n != *columns))
            return ERR_MALFORMED;
        double before = r->count ? r->values[0][r->count - 1] : 0;
        bool rises = r->count == 0 || (n == 2 ? values[0] > before : values[0] >= before);
        if (!rises || values[0] > MAX_SECONDS * (n == 1 ? 1e3 : 1) || values[1] > MAX_MBIT)
            return ERR_MALFORMED;
        *columns = n;
        if (n == 2 && r->count == RATE_TRACE_MAX)
            return ERR_TOO_BIG;
        if (!add_row(r, values))
            return ERR_NO_MEMORY;
    }
    return r->count ? 0 : ERR_RANGE;
}

static bool make(struct rate_trace *t, int count)
{
    *t = (struct rate_trace){.count = count,
                             .at = calloc((size_t)count + 1, sizeof(*t->at)),
                             .bytes = calloc((size_t)count + 1, sizeof(*t->bytes))};
    return t->at && t->bytes;
}

static usec_t usec_of(double seconds)
{
    return (usec_t)llround(seconds * 1e6);
}

static int of_changes(struct rate_trace *t, const struct rows *r)
{
    if (!make(t, r->count))
        return ERR_NO_MEMORY;
    for (int i = 0; i < r->count; i++)
        t->at[i] = usec_of(r->values[0][i] - r->values[0][0]);
    usec_t last = r->count > 1 ? t->at[r->count - 1] - t->at[r->count - 2] : USEC_PER_SEC;
    t->at[r->count] = t->at[r->count - 1] + last;
    for (int i = 0; i < r->count; i++)
        t->bytes[i + 1] =
            t->bytes[i] + r->values[1][i] * 1e6 / 8 * usec_to_sec(t->at[i + 1] - t->at[i]);
    return 0;
}

static int of_packets(struct rate_trace *t, const struct rows *r)
{
    double end_ms = r->values[0][r->count - 1];
    int steps = (int)floor(end_ms * 1e3 / (double)PACKET_STEP) + 1;
    if (steps > RATE_TRACE_MAX)
        return ERR_TOO_BIG;
    if (!make(t, steps))
        return ERR_NO_MEMORY;
    for (int i = 0; i < r->count; i++)
        t->bytes[(int)(r->values[0][i] * 1e3 / (double)PACKET_STEP) + 1] += PACKET_BYTES;
    for (int i = 1; i <= steps; i++) {
        t->at[i] = i * PACKET_STEP;
        t->bytes[i] += t->bytes[i - 1];
    }
    return 0;
}

int rate_trace_parse(const char *text, size_t len, struct rate_trace *out, int *line)
{
    struct rows rows = {0};
    int columns;
    *out = (struct rate_trace){0};
    int err = read_rows(text, len, &rows, &columns, line);
    if (!err)
        err = columns == 2 ? of_changes(out, &rows) : of_packets(out, &rows);
    if (!err && !(out->bytes[out->count] > 0))
        err = ERR_RANGE;
    free(rows.values[0]);
    free(rows.values[1]);
    if (err)
        rate_trace_destroy(out);
    return err;
}

void rate_trace_destroy(struct rate_trace *t)
{
    free(t->at);
    free(t->bytes);
    *t = (struct rate_trace){0};
}

void rate_trace_scale(struct rate_trace *t, double factor)
{
    assert(factor > 0);
    for (int i = 0; i <= t->count; i++)
        t->bytes[i] *= factor;
}

double rate_trace_mean_bps(const struct rate_trace *t)
{
    return 8 * t->bytes[t->count] / usec_to_sec(t->at[t->count]);
}

double rate_trace_bytes(const struct rate_trace *t, usec_t at)
{
    usec_t end = t->at[t->count];
    double before = (double)(at / end) * t->bytes[t->count];
    int low = 0;
    at %= end;
    for (int high = t->count; high - low > 1;) {
        int middle = (low + high) / 2;
        if (t->at[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    double share = (double)(at - t->at[low]) / (double)(t->at[low + 1] - t->at[low]);
    return before + t->bytes[low] + share * (t->bytes[low + 1] - t->bytes[low]);
}

usec_t rate_trace_time(const struct rate_trace *t, double bytes)
{
    if (bytes <= 0)
        return 0;
    double rounds = ceil(bytes / t->bytes[t->count]) - 1;
    int low = 0;
    bytes -= rounds * t->bytes[t->count];
    for (int high = t->count; high - low > 1;) {
        int middle = (low + high) / 2;
        if (t->bytes[middle] < bytes)
            low = middle;
        else
            high = middle;
    }
    double share = (bytes - t->bytes[low]) / (t->bytes[low + 1] - t->bytes[low]);
    usec_t within = (usec_t)ceil(share * (double)(t->at[low + 1] - t->at[low]));
    return (usec_t)rounds * t->at[t->count] + t->at[low] + within;
}
