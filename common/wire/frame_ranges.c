// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/frame_ranges.h"

#include <inttypes.h>

#include "common/base/err.h"
#include "common/base/put.h"
#include "common/base/scan.h"

#define MAX_FRAME (INT64_MAX / 1000)

static const char *const names[FRAME_KINDS] = {[FRAMES_VIDEO] = "video", [FRAMES_AUDIO] = "audio"};

bool frame_ranges_add(struct frame_ranges *r, enum frame_kind kind, int64_t frame)
{
    int *count = &r->count[kind];
    struct frame_range *last = *count ? &r->ranges[kind][*count - 1] : NULL;
    if (last && frame <= last->to)
        return true;
    if (last && frame == last->to + 1) {
        last->to = frame;
        return true;
    }
    if (*count == FRAME_RANGES_MAX)
        return false;
    r->ranges[kind][(*count)++] = (struct frame_range){frame, frame};
    return true;
}

// Returns the first range that ends at or after `frame`; NULL: none.
static const struct frame_range *at_or_after(const struct frame_ranges *r, int kind, int64_t frame)
{
    int low = 0, high = r->count[kind];
    while (low < high) {
        int mid = (low + high) / 2;
        if (r->ranges[kind][mid].to < frame)
            low = mid + 1;
        else
            high = mid;
    }
    return low < r->count[kind] ? &r->ranges[kind][low] : NULL;
}

bool frame_ranges_have(const struct frame_ranges *r, enum frame_kind kind, int64_t frame)
{
    const struct frame_range *range = at_or_after(r, kind, frame);
    return range && range->from <= frame;
}

int64_t frame_ranges_next(const struct frame_ranges *r, int64_t frame)
{
    int64_t next = -1;
    for (int kind = 0; kind < FRAME_KINDS; kind++) {
        const struct frame_range *range = at_or_after(r, kind, frame);
        int64_t at = !range ? -1 : range->from > frame ? range->from : frame;
        if (at >= 0 && (next < 0 || at < next))
            next = at;
    }
    return next;
}

int frame_ranges_encode(const struct frame_ranges *r, char *out, size_t cap)
{
    struct put p = put_into(out, cap);
    for (int kind = 0; kind < FRAME_KINDS; kind++) {
        if (r->count[kind])
            put_format(&p, "%s%s=", kind && r->count[0] ? " " : "", names[kind]);
        for (int i = 0; i < r->count[kind]; i++) {
            const struct frame_range *range = &r->ranges[kind][i];
            put_format(&p, "%s%" PRId64, i ? "," : "", range->from);
            if (range->to > range->from)
                put_format(&p, "-%" PRId64, range->to);
        }
    }
    return put_result(&p);
}

// Reads "120-125,180" up to white space.
static int scan_ranges(struct scan *s, int kind, struct frame_ranges *out)
{
    do {
        struct frame_range range;
        if (!scan_int(s, MAX_FRAME, &range.from))
            return ERR_MALFORMED;
        range.to = range.from;
        if (scan_char(s, '-') && !scan_int(s, MAX_FRAME, &range.to))
            return ERR_MALFORMED;
        int *count = &out->count[kind];
        if (range.to < range.from || *count == FRAME_RANGES_MAX ||
            (*count && range.from <= out->ranges[kind][*count - 1].to))
            return ERR_MALFORMED;
        out->ranges[kind][(*count)++] = range;
    } while (scan_char(s, ','));
    return 0;
}

int frame_ranges_decode(struct text value, struct frame_ranges *out)
{
    struct scan s = text_scan(value);
    *out = (struct frame_ranges){0};
    for (scan_space(&s); !scan_end(&s); scan_space(&s)) {
        int kind = 0;
        while (kind < FRAME_KINDS && !scan_word(&s, names[kind]))
            kind++;
        if (kind == FRAME_KINDS || out->count[kind] || !scan_char(&s, '=') ||
            scan_ranges(&s, kind, out) != 0 || !(scan_end(&s) || *s.at == ' '))
            return ERR_MALFORMED;
    }
    return 0;
}
