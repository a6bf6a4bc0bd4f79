// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/abr/film_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/err.h"

#define MAX_EXCESS 4.0 // times the ladder's rate that a level's mean may have

enum { VERSION = 1, FLAG_QUALITY = 1, SIZE_CODES = 256, MAX_FPS_PART = 1000000 };

// The body is kept as it is encoded: 1.4 MB for the longest film, not 4.
struct film_table {
    struct film_shape shape;
    double pace;
    uint8_t body[]; // `groups` rows of row_bytes()
};

static size_t row_bytes(const struct film_shape *s)
{
    return (size_t)s->levels * (s->has_quality ? 2 : 1);
}

static int64_t size_of_code(int code)
{
    static const int16_t mantissa[16] = {1024, 1069, 1117, 1166, 1218, 1272, 1328, 1387,
                                         1448, 1512, 1579, 1649, 1722, 1798, 1878, 1961};
    return (int64_t)mantissa[code % 16] << code / 16;
}

// Returns the code of the nearest size.
static int code_of_size(int64_t bytes)
{
    int low = 0; // the lowest code of a size not below `bytes`
    for (int high = SIZE_CODES - 1; low < high;) {
        int middle = (low + high) / 2;
        if (size_of_code(middle) < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    bool lower_is_nearer = low > 0 && bytes - size_of_code(low - 1) < size_of_code(low) - bytes;
    return low - lower_is_nearer;
}

static int shape_error(const struct film_shape *s)
{
    if (s->levels > LADDER_MAX_LEVELS || s->groups > FILM_TABLE_MAX_GROUPS ||
        s->group_frames > FILM_TABLE_MAX_FRAMES)
        return ERR_TOO_BIG;
    bool counts = s->levels >= 1 && s->groups >= 1 && s->group_frames >= 1 && s->last_frames >= 1 &&
                  s->last_frames <= s->group_frames;
    bool rate = s->fps.num >= 1 && s->fps.num <= MAX_FPS_PART && s->fps.den >= 1 &&
                s->fps.den <= MAX_FPS_PART && fps_value(s->fps) >= 1 && fps_value(s->fps) <= 1000;
    return counts && rate ? 0 : ERR_MALFORMED;
}

int film_table_new(const struct film_shape *shape, struct film_table **out)
{
    if (shape_error(shape))
        return ERR_RANGE;
    *out = calloc(1, sizeof(**out) + (size_t)shape->groups * row_bytes(shape));
    if (!*out)
        return ERR_NO_MEMORY;
    (*out)->shape = *shape;
    (*out)->pace = 1;
    return 0;
}

void film_table_free(struct film_table *t)
{
    free(t);
}

const struct film_shape *film_table_shape(const struct film_table *t)
{
    return &t->shape;
}

int film_table_set(struct film_table *t, int64_t group, int level, uint64_t bytes, int quality)
{
    if (group < 0 || group >= t->shape.groups || level < 0 || level >= t->shape.levels ||
        bytes == 0 || bytes > FILM_TABLE_MAX_BYTES)
        return ERR_RANGE;
    uint8_t *row = t->body + (size_t)group * row_bytes(&t->shape);
    row[level] = (uint8_t)code_of_size((int64_t)bytes);
    if (t->shape.has_quality)
        row[t->shape.levels + level] = (uint8_t)(quality < 0 ? 0 : quality > 255 ? 255 : quality);
    return 0;
}

int film_table_quality_of(double ssim)
{
    if (!(ssim > 0))
        return 0;
    double tenths = ssim < 1 ? round(-100 * log10(1 - ssim)) : 255;
    return tenths < 255 ? (int)tenths : 255;
}

int film_table_of_levels(const struct film_table *t, const int *levels, int count,
                         struct film_table **out)
{
    struct film_shape shape = t->shape;
    shape.levels = count;
    int err = film_table_new(&shape, out);
    if (err)
        return ERR_NO_MEMORY;
    for (int64_t g = 0; g < shape.groups; g++) {
        const uint8_t *from = t->body + (size_t)g * row_bytes(&t->shape);
        uint8_t *to = (*out)->body + (size_t)g * row_bytes(&shape);
        for (int i = 0; i < count; i++) {
            to[i] = from[levels[i]];
            if (shape.has_quality)
                to[count + i] = from[t->shape.levels + levels[i]];
        }
    }
    return 0;
}

static const uint8_t *row_of(const struct film_table *t, int64_t group, int level)
{
    assert(group >= 0 && group < t->shape.groups && level >= 0 && level < t->shape.levels);
    return t->body + (size_t)group * row_bytes(&t->shape);
}

int64_t film_table_bytes(const struct film_table *t, int64_t group, int level)
{
    return size_of_code(row_of(t, group, level)[level]);
}

int64_t film_table_max_bytes(const struct film_table *t, int64_t group, int level)
{
    int code = row_of(t, group, level)[level];
    if (code == SIZE_CODES - 1)
        return FILM_TABLE_MAX_BYTES;
    return (size_of_code(code) + size_of_code(code + 1) - 1) / 2; // halfway counts as the next one
}

int film_table_quality(const struct film_table *t, int64_t group, int level)
{
    const uint8_t *row = row_of(t, group, level);
    return t->shape.has_quality ? row[t->shape.levels + level] : FILM_TABLE_NO_QUALITY;
}

void film_table_set_pace(struct film_table *t, double pace)
{
    assert(pace > 0);
    t->pace = pace;
}

usec_t film_table_start(const struct film_table *t, int64_t group)
{
    const struct film_shape *s = &t->shape;
    assert(group >= 0 && group <= s->groups);
    int64_t frames = group * s->group_frames;
    if (group == s->groups)
        frames += s->last_frames - s->group_frames;
    usec_t media = usec_of_frames(frames, s->fps.num, s->fps.den);
    return t->pace == 1 ? media : (usec_t)((double)media / t->pace);
}

usec_t film_table_length(const struct film_table *t, int64_t group)
{
    return film_table_start(t, group + 1) - film_table_start(t, group);
}

double film_table_mean_bps(const struct film_table *t, int level)
{
    double bytes = 0;
    for (int64_t g = 0; g < t->shape.groups; g++)
        bytes += (double)film_table_bytes(t, g, level);
    return 8 * bytes / usec_to_sec(film_table_start(t, t->shape.groups));
}

size_t film_table_encoded_bytes(const struct film_table *t)
{
    return FILM_TABLE_HEADER + (size_t)t->shape.groups * row_bytes(&t->shape);
}

static void encode_header(const struct film_shape *s, uint8_t out[FILM_TABLE_HEADER])
{
    memcpy(out, "WFT", 3);
    out[3] = VERSION;
    out[4] = (uint8_t)s->levels;
    out[5] = s->has_quality ? FLAG_QUALITY : 0;
    store_be16(out + 6, 0);
    store_be32(out + 8, (uint32_t)s->groups);
    store_be16(out + 12, (uint16_t)s->group_frames);
    store_be16(out + 14, (uint16_t)s->last_frames);
    store_be32(out + 16, (uint32_t)s->fps.num);
    store_be32(out + 20, (uint32_t)s->fps.den);
}

size_t film_table_encode_from(const struct film_table *t, size_t at, uint8_t *out, size_t cap)
{
    uint8_t header[FILM_TABLE_HEADER];
    size_t total = film_table_encoded_bytes(t), len = 0;
    encode_header(&t->shape, header);
    while (at < total && len < cap) {
        bool of_header = at < FILM_TABLE_HEADER;
        const uint8_t *from = of_header ? header + at : t->body + (at - FILM_TABLE_HEADER);
        size_t left = (of_header ? FILM_TABLE_HEADER : total) - at;
        size_t take = left < cap - len ? left : cap - len;
        memcpy(out + len, from, take);
        at += take;
        len += take;
    }
    return len;
}

void film_table_encode(const struct film_table *t, uint8_t *out)
{
    (void)film_table_encode_from(t, 0, out, film_table_encoded_bytes(t));
}

int film_table_decode(const uint8_t *data, size_t len, struct film_table **out)
{
    struct bytes b = bytes_of(data, len);
    if (len < FILM_TABLE_HEADER || memcmp(bytes_take(&b, 3), "WFT", 3) != 0)
        return ERR_MALFORMED;
    if (bytes_u8(&b) != VERSION)
        return ERR_UNSUPPORTED;
    struct film_shape s = {.levels = bytes_u8(&b)};
    unsigned flags = bytes_u8(&b);
    unsigned reserved = bytes_u16(&b);
    s.has_quality = flags & FLAG_QUALITY;
    s.groups = bytes_u32(&b);
    s.group_frames = bytes_u16(&b);
    s.last_frames = bytes_u16(&b);
    uint32_t num = bytes_u32(&b);
    uint32_t den = bytes_u32(&b);
    if ((flags & ~(unsigned)FLAG_QUALITY) || reserved || num > MAX_FPS_PART || den > MAX_FPS_PART)
        return ERR_MALFORMED;
    s.fps = (struct fps){(int)num, (int)den};
    int err = shape_error(&s);
    if (err)
        return err;
    if (bytes_left(&b) != (size_t)s.groups * row_bytes(&s))
        return ERR_MALFORMED;
    err = film_table_new(&s, out);
    if (!err)
        memcpy((*out)->body, b.at, bytes_left(&b));
    return err;
}

int film_table_check(const struct film_table *t, const struct ladder *ladder, int64_t groups,
                     int group_frames)
{
    const struct film_shape *s = &t->shape;
    if (s->levels != ladder->level_count || s->groups != groups ||
        s->group_frames != group_frames || s->fps.num != ladder->source_fps.num ||
        s->fps.den != ladder->source_fps.den)
        return ERR_RANGE;
    for (int l = 0; l < s->levels; l++)
        if (film_table_mean_bps(t, l) > MAX_EXCESS * ladder->levels[l].bitrate_bps)
            return ERR_RANGE;
    return 0;
}
