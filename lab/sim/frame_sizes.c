// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/sim/frame_sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/scan.h"

static void skip_spaces(struct scan *s)
{
    while (scan_char(s, ' ') || scan_char(s, '\t') || scan_char(s, '\r') || scan_char(s, ','))
        continue;
}

// Reads a line: a number, or nothing (*bytes is 0).
static int read_line(struct scan line, int64_t *bytes)
{
    struct scan s = scan_until(&line, '#');
    *bytes = 0;
    skip_spaces(&s);
    if (scan_end(&s))
        return 0;
    if (!scan_int(&s, FRAME_SIZES_BYTES, bytes))
        return ERR_MALFORMED;
    skip_spaces(&s);
    if (!scan_end(&s))
        return ERR_MALFORMED;
    return *bytes > 0 ? 0 : ERR_RANGE;
}

static int read_all(struct scan text, struct frame_sizes *out, size_t *line)
{
    double sum = 0;
    for (*line = 1; !scan_end(&text); ++*line) {
        int64_t bytes;
        int err = read_line(scan_until(&text, '\n'), &bytes);
        if (err)
            return err;
        if (bytes == 0)
            continue;
        if (out->count == FRAME_SIZES_MAX)
            return ERR_RANGE;
        out->shares[out->count++] = (float)bytes;
        sum += (double)bytes;
    }
    for (size_t i = 0; i < out->count; i++)
        out->shares[i] = (float)(out->shares[i] * (double)out->count / sum);
    return out->count ? 0 : ERR_RANGE;
}

int frame_sizes_parse(const char *text, size_t len, struct frame_sizes *out, size_t *line)
{
    size_t lines = 1;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    *out = (struct frame_sizes){0};
    *line = 0;
    if (lines > FRAME_SIZES_MAX)
        lines = FRAME_SIZES_MAX;
    out->shares = calloc(lines, sizeof(*out->shares));
    int err = out->shares ? read_all(scan_of(text, len), out, line) : ERR_NO_MEMORY;
    if (err)
        frame_sizes_destroy(out);
    return err;
}

void frame_sizes_destroy(struct frame_sizes *s)
{
    free(s->shares);
    *s = (struct frame_sizes){0};
}

int frame_sizes_scale(const struct frame_sizes *s, int64_t index, int bytes)
{
    if (s->count == 0)
        return bytes;
    double scaled = round(s->shares[(uint64_t)index % s->count] * (double)bytes);
    return (int)fmin(fmax(scaled, FRAME_SIZES_MIN), FRAME_SIZES_MAX_FRAME);
}
