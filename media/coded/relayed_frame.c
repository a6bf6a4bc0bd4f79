// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/relayed_frame.h"

#include <string.h>

// Ticks: no B frame is that far from its number; the time stamps are of another line.
enum { SHOWN_LEAP = 2 * RTP_CLOCK_RATE };

bool relayed_frame_is_valid(const struct received_frame *f, const struct ladder *ladder)
{
    // Media times are computed of numbers.
    int64_t highest = INT64_MAX / 2 / USEC_PER_SEC / ladder->source_fps.den;
    return received_frame_is_possible(f) && f->number <= highest &&
           f->size_id < ladder->size_count && f->temporal_id < LEVEL_MAX_LAYERS &&
           ladder_has_level(ladder, f->level);
}

usec_t shown_line_after(struct shown_line *l, const struct received_frame *f, struct fps fps)
{
    uint32_t of_number = rtp_ticks(usec_of_frames(f->number, fps.num, fps.den));
    int32_t after = (int32_t)(f->rtp_timestamp - of_number - l->offset);
    if (!l->begun || after > 0 || after < -SHOWN_LEAP) {
        l->offset = f->rtp_timestamp - of_number;
        after = 0;
    }
    l->begun = true;
    return rtp_usec(after, RTP_CLOCK_RATE);
}

// Returns the offset of the next start code from `at` on, 00 00 01; `len`: there is none.
static size_t start_code(const uint8_t *data, size_t len, size_t at)
{
    while (at + 3 <= len) {
        const uint8_t *one = memchr(data + at + 2, 1, len - at - 2);
        if (!one)
            break;
        at = (size_t)(one - data) - 2;
        if (data[at] == 0 && data[at + 1] == 0)
            return at;
        at++;
    }
    return len;
}

// A start code may have one more zero in front, which is no part of the unit before it.
static bool find_nals(struct coded_frame *f)
{
    for (size_t at = start_code(f->data, f->bytes, 0); at < f->bytes;) {
        size_t begin = at + 3;
        size_t next = start_code(f->data, f->bytes, begin);
        size_t end = next;
        while (next < f->bytes && end > begin && f->data[end - 1] == 0)
            end--;
        if (end > begin) {
            if (f->nal_count == CODED_FRAME_MAX_NALS)
                return false;
            f->nals[f->nal_count++] = (struct nal){(uint32_t)begin, (uint32_t)(end - begin)};
        }
        at = next;
    }
    return f->nal_count > 0;
}

struct coded_frame *relayed_frame_new(const struct received_frame *f, const struct ladder *ladder,
                                      bool is_annexb, usec_t captured)
{
    struct coded_frame *out = f->bytes ? coded_frame_new(f->bytes) : NULL;
    if (!out)
        return NULL;
    memcpy(out->data, f->data, f->bytes);
    out->number = f->number;
    out->reorder = f->reorder;
    out->size_id = f->size_id;
    out->temporal_id = f->temporal_id;
    out->level = f->level;
    out->key = f->key;
    out->depends_on = f->depends_on;
    out->on_lower = f->on_lower;
    out->shown_after = f->shown_after;
    out->pts =
        usec_of_frames(f->number, ladder->source_fps.num, ladder->source_fps.den) + f->shown_after;
    out->capture_wall = f->capture_wall;
    out->captured = captured;
    out->made = f->made;
    out->is_slow = f->is_slow;
    if (!is_annexb) {
        out->nals[0] = (struct nal){0, (uint32_t)f->bytes};
        out->nal_count = 1;
    } else if (!find_nals(out)) {
        coded_frame_unref(out);
        return NULL;
    }
    return out;
}
