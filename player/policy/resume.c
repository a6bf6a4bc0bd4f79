// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/resume.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/scan.h"

enum { SHORTEST = 120, FIRST = 15, LAST = 30, ID_DIGITS = 16, MAX_SECONDS = 100 * 86400 };
#define CREDITS .05

// FNV-1a: it distinguishes films, and proves nothing.
static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return (hash ^ 0xff) * 0x100000001b3; // no character of UTF-8: the end of a text counts
}

uint64_t resume_id(const char *url, const char *title, double duration)
{
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "%.0f", duration);
    return mix(mix(mix(0xcbf29ce484222325, url), title), seconds);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool scan_film(struct scan *line, struct resume_film *out)
{
    int64_t seconds;
    out->id = 0;
    for (int i = 0; i < ID_DIGITS; i++) {
        int digit = scan_end(line) ? -1 : hex_value(*line->at++);
        if (digit < 0)
            return false;
        out->id = out->id << 4 | (unsigned)digit;
    }
    if (!scan_char(line, ' ') || !scan_int(line, MAX_SECONDS, &seconds) || !scan_end(line))
        return false;
    out->seconds = (unsigned)seconds;
    return true;
}

static void forget(struct resume *r, int i)
{
    r->count--;
    memmove(&r->film[i], &r->film[i + 1], (size_t)(r->count - i) * sizeof(r->film[0]));
}

static void drop(struct resume *r, uint64_t id)
{
    for (int i = r->count - 1; i >= 0; i--) {
        if (r->film[i].id == id)
            forget(r, i);
    }
}

static void add(struct resume *r, const struct resume_film *film)
{
    drop(r, film->id);
    if (r->count == RESUME_FILMS)
        forget(r, 0);
    r->film[r->count++] = *film;
}

void resume_read(struct resume *r, const char *text, size_t len)
{
    const char *end = text + len;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;
        struct scan line = scan_of(text, (size_t)(line_end - text));
        struct resume_film film;
        if (scan_film(&line, &film))
            add(r, &film);
        text = newline ? newline + 1 : end;
    }
}

size_t resume_write(const struct resume *r, char out[RESUME_MAX_TEXT])
{
    size_t used = 0;
    for (int i = 0; i < r->count; i++)
        used += (size_t)snprintf(out + used, RESUME_MAX_TEXT - used, "%016" PRIx64 " %u\n",
                                 r->film[i].id, r->film[i].seconds);
    return used;
}

unsigned resume_find(const struct resume *r, uint64_t id)
{
    for (int i = 0; i < r->count; i++) {
        if (r->film[i].id == id)
            return r->film[i].seconds;
    }
    return 0;
}

void resume_set(struct resume *r, uint64_t id, double position, double duration)
{
    double rest = duration - position;
    bool keeps = duration >= SHORTEST && duration <= MAX_SECONDS && position >= FIRST &&
                 rest >= fmax(LAST, CREDITS * duration);
    if (keeps)
        add(r, &(struct resume_film){id, (unsigned)position});
    else
        drop(r, id);
}
