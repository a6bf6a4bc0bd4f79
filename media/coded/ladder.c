// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/coded/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/scan.h"

enum {
    MIN_WIDTH = 64,
    MIN_HEIGHT = 36,
    MAX_WIDTH = 4096,
    MAX_HEIGHT = 2304,
    MIN_SOURCE = 16, // pixels; the smallest size that the encoder accepts
    MAX_SOURCE = 16384,
    MAX_SOURCE_FPS_TERM = 10000000, // leaves room for the divisors below
    MIN_FPS = 1,
    MAX_FPS = 120,
    MIN_KBPS = 8,
    MAX_KBPS = 100000,
    DEFAULT_MAX_FPS = 30,
    HALVED_ABOVE_FPS = 20, // the smallest default size takes every second frame of a faster source
    MAX_HALVINGS = 2,      // top rate over 1, 2 or 4
    SIMILAR_PERCENT = 125, // a default size that is larger or faster by less replaces the other one
    MAX_CUMULATIVE_LONG = 1920,
    MAX_CUMULATIVE_SHORT = 1080,
    WIDE_GAP = 2, // times the pixels of a size between two others, for it to be used
};

// Rates with a smaller relative difference are equal: a source of 30000/1001 serves both "30" and
// "29.97".
static const double same_rate = 0.002;

static struct fps fps_reduced(int64_t num, int64_t den)
{
    int64_t a = num, b = den;
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (struct fps){(int)(num / a), (int)(den / a)};
}

// Decimals near an NTSC rate become that rate: "29.97" means 30000/1001, "23.976" means 24000/1001.
static struct fps fps_of_decimal(int64_t whole, double fraction)
{
    double value = (double)whole + fraction;
    int64_t nominal = whole + 1;
    if (fraction > 0 && fabs(value - (double)nominal * 1000 / 1001) < 0.006)
        return fps_reduced(nominal * 1000, 1001);
    return fps_reduced(llround(value * 1000), 1000);
}

static bool scan_fps(struct scan *s, struct fps *out)
{
    int64_t num, den;
    if (!scan_int(s, 1000000, &num))
        return false;
    if (scan_char(s, '.')) {
        const char *digits = s->at;
        *out = fps_of_decimal(num, scan_fraction(s));
        return s->at > digits;
    }
    den = 1;
    if (scan_char(s, '/') && (!scan_int(s, 1000000, &den) || den == 0))
        return false;
    *out = num == 0 ? (struct fps){0, 1} : fps_reduced(num, den);
    return true;
}

static bool request_in_range(const struct level_request *r)
{
    return r->width >= MIN_WIDTH && r->width <= MAX_WIDTH && r->width % 2 == 0 &&
           r->height >= MIN_HEIGHT && r->height <= MAX_WIDTH && r->height % 2 == 0 &&
           (r->width <= MAX_HEIGHT || r->height <= MAX_HEIGHT) && r->fps.num > 0 &&
           r->fps.den > 0 && fps_value(r->fps) >= MIN_FPS && fps_value(r->fps) <= MAX_FPS &&
           r->bitrate_bps >= MIN_KBPS * 1000 && r->bitrate_bps <= MAX_KBPS * 1000;
}

int level_request_parse(const char *text, struct level_request *out)
{
    struct scan s = scan_of(text, strlen(text));
    int64_t width, height, kbps;
    if (!scan_int(&s, 1000000, &width) || !scan_char(&s, 'x') || !scan_int(&s, 1000000, &height) ||
        !scan_char(&s, '@') || !scan_fps(&s, &out->fps) || !scan_char(&s, ':') ||
        !scan_int(&s, 1000000, &kbps) || !scan_end(&s))
        return ERR_MALFORMED;
    out->width = (int)width;
    out->height = (int)height;
    out->bitrate_bps = (int)kbps * 1000;
    return request_in_range(out) ? 0 : ERR_RANGE;
}

static int even(double pixels)
{
    return 2 * (int)lround(pixels / 2);
}

static double pixels_of(const struct size_spec *size)
{
    return (double)size->width * size->height;
}

// Divides the source's rate by the smallest integer that gives at most 30, so that frames are
// evenly spaced. If the result would be below 20 (for example for a source of 31 fps), uses 30 and
// drops a frame now and then.
static struct fps default_fps(struct fps source)
{
    double rate = fps_value(source);
    int divisor = (int)ceil(rate / DEFAULT_MAX_FPS);
    if (divisor > 1 && rate / divisor < HALVED_ABOVE_FPS)
        return (struct fps){DEFAULT_MAX_FPS, 1};
    return fps_reduced(source.num, (int64_t)source.den * divisor);
}

static struct fps smallest_fps(struct fps fps)
{
    return fps_value(fps) > HALVED_ABOVE_FPS ? fps_reduced(fps.num, (int64_t)fps.den * 2) : fps;
}

static void add_level(struct ladder *l, int size_id, int temporal_id, int kbps)
{
    l->levels[l->level_count++] = (struct level){size_id, temporal_id, kbps * 1000};
}

// Adds a size with a level of all its layers. If `low_kbps` is not 0, the size also gets a level
// without the top layer.
static void add_size(struct ladder *l, struct size_spec size, int low_kbps, int full_kbps)
{
    int id = l->size_count++;
    l->sizes[id] = size;
    if (low_kbps > 0 && size.layers > 1)
        add_level(l, id, size.layers - 2, low_kbps);
    add_level(l, id, size.layers - 1, full_kbps);
}

static bool source_in_range(int width, int height, struct fps fps)
{
    return width >= MIN_SOURCE && height >= MIN_SOURCE && width <= MAX_SOURCE &&
           height <= MAX_SOURCE && width % 2 == 0 && height % 2 == 0 && fps.num > 0 &&
           fps.den > 0 && fps.num <= MAX_SOURCE_FPS_TERM && fps.den <= MAX_SOURCE_FPS_TERM;
}

static int checked(const struct ladder *l)
{
    return ladder_is_valid(l) ? 0 : ERR_RANGE;
}

// Returns the size of the source's shape whose shorter side is `side`.
static struct size_spec size_of_side(const struct ladder *l, int side, struct fps fps, int layers)
{
    bool upright = l->source_height > l->source_width;
    int shorter = upright ? l->source_width : l->source_height;
    int longer = upright ? l->source_height : l->source_width;
    int other = even((double)side * longer / shorter);
    return (struct size_spec){upright ? side : other, upright ? other : side, fps, layers};
}

// Makes the sizes up to 720 pixels, at up to 30 frames/s.
static void add_rows(struct ladder *l, struct fps fps, int layers)
{
    static const struct {
        int side;     // the shorter one
        int low_kbps; // bitrate of the level without the top layer; 0: no such level
        int full_kbps;
    } rows[] = {{144, 80, 120}, {240, 240, 320}, {360, 640, 960}, {720, 0, 1920}};
    int shorter = l->source_height < l->source_width ? l->source_height : l->source_width;
    if (shorter < rows[0].side) {
        struct size_spec own = {l->source_width, l->source_height, smallest_fps(fps), layers};
        add_size(l, own, rows[0].low_kbps, rows[0].full_kbps);
        return;
    }
    int below = 0; // shorter side of the previous row
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && below < shorter; i++) {
        // The first row that is larger than the source gets the source's own size.
        below = rows[i].side < shorter ? rows[i].side : shorter;
        add_size(l, size_of_side(l, below, i == 0 ? smallest_fps(fps) : fps, layers),
                 rows[i].low_kbps, rows[i].full_kbps);
    }
}

static bool is_more(const struct size_spec *a, const struct size_spec *b, int percent)
{
    return pixels_of(a) * 100 > pixels_of(b) * percent ||
           fps_value(a->fps) * 100 > fps_value(b->fps) * percent;
}

// Returns the bitrate that gives `size` at `fps` the quality of `known` at its `bps`.
static int rate_like(const struct size_spec *known, int bps, const struct size_spec *size,
                     double fps)
{
    double kbps = bps / 1000.0 * pow(pixels_of(size) / pixels_of(known), 0.75) *
                  sqrt(fps / fps_value(known->fps));
    return (int)lround(kbps / 10) * 10;
}

// Gives the top size another size and rate that are much like its own.
static void enlarge_top(struct ladder *l, struct size_spec size)
{
    int id = l->size_count - 1;
    for (int i = 0; i < l->level_count; i++)
        if (l->levels[i].size_id == id)
            l->levels[i].bitrate_bps = 1000 * rate_like(&l->sizes[id], l->levels[i].bitrate_bps,
                                                        &size, fps_value(size.fps));
    l->sizes[id] = size;
}

// Adds a size above those that the ladder has. If its frames without the top layer come at a usual
// rate, they are a level, too. The size below is left out if that is much like it.
static void add_above(struct ladder *l, struct size_spec size)
{
    const struct size_spec known = l->sizes[l->size_count - 1];
    int bps = l->levels[l->level_count - 1].bitrate_bps;
    double fps = fps_value(size.fps);
    if (!is_more(&size, &known, SIMILAR_PERCENT)) {
        enlarge_top(l, size);
        return;
    }
    struct size_spec low = size;
    low.fps = fps_reduced(size.fps.num, (int64_t)size.fps.den * 2);
    int full_kbps = rate_like(&known, bps, &size, fps);
    int low_kbps = size.layers > 1 && fps > DEFAULT_MAX_FPS && fps / 2 >= HALVED_ABOVE_FPS
                       ? rate_like(&known, bps, &size, fps / 2)
                       : 0;
    bool is_single =
        l->level_count > 1 && l->levels[l->level_count - 2].size_id < l->size_count - 1;
    if (is_single && low_kbps && !is_more(&low, &known, SIMILAR_PERCENT)) {
        l->size_count--;
        l->level_count--;
    } else if (low_kbps * 1000 <= bps) {
        low_kbps = 0;
    }
    add_size(l, size, low_kbps, full_kbps);
}

static bool is_within(const struct ladder *l, const struct encode_limit *limit)
{
    double all = 0, largest = 0;
    for (int i = 0; i < l->size_count; i++) {
        double rate = pixels_of(&l->sizes[i]) * fps_value(l->sizes[i].fps);
        all += rate;
        largest = rate > largest ? rate : largest;
    }
    return !limit || (largest <= limit->one_size && all <= limit->all_sizes);
}

// Adds `top`, and before it the size of 1080 pixels if there is a wide gap. Returns false, and
// changes nothing, if that would exceed the limit, or if `top` is no more than the ladder
// has.
static bool add_top(struct ladder *l, struct size_spec top, const struct encode_limit *limit)
{
    struct ladder with = *l;
    struct size_spec middle = size_of_side(l, 1080, l->sizes[l->size_count - 1].fps, top.layers);
    if (!is_more(&top, &l->sizes[l->size_count - 1], 100))
        return false;
    if (pixels_of(&top) > WIDE_GAP * pixels_of(&middle))
        add_above(&with, middle);
    add_above(&with, top);
    if (!is_within(&with, limit))
        return false;
    *l = with;
    return true;
}

int ladder_default(int source_width, int source_height, struct fps source_fps, int layers,
                   const struct encode_limit *limit, struct ladder *out)
{
    if (layers < 1 || layers > 3 || !source_in_range(source_width, source_height, source_fps))
        return ERR_RANGE;
    *out = (struct ladder){
        .source_fps = source_fps, .source_width = source_width, .source_height = source_height};
    struct fps fps = default_fps(source_fps);
    add_rows(out, fps, layers);
    // The source's own size and rate, or the first of the others that the limit allows.
    int divisor = (int)ceil(fps_value(source_fps) / MAX_FPS);
    struct size_spec top = {source_width, source_height,
                            fps_reduced(source_fps.num, (int64_t)source_fps.den * divisor), layers};
    bool done = add_top(out, top, limit);
    top.fps = fps;
    done = done || add_top(out, top, limit);
    static const int sides[] = {1440, 1080};
    for (int i = 0; i < 2 && !done; i++) {
        struct size_spec smaller = size_of_side(out, sides[i], fps, layers);
        done = pixels_of(&smaller) < pixels_of(&top) && add_top(out, smaller, limit);
    }
    return checked(out);
}

int ladder_pass(struct ladder *ladder, int bitrate_bps)
{
    struct ladder with = *ladder;
    int kept[LADDER_MAX_SIZES];
    with.passes = true;
    with.size_count = with.level_count = 0;
    for (int i = 0; i < ladder->size_count; i++) {
        bool stays = ladder_size_bitrate(ladder, i) <= bitrate_bps / 4 * 3;
        kept[i] = stays ? with.size_count : -1;
        if (stays)
            with.sizes[with.size_count++] = ladder->sizes[i];
    }
    for (int i = 0; i < ladder->level_count; i++) {
        struct level level = ladder->levels[i];
        level.size_id = kept[level.size_id];
        if (level.size_id >= 0)
            with.levels[with.level_count++] = level;
    }
    if (!with.size_count || with.size_count == LADDER_MAX_SIZES ||
        with.level_count == LADDER_MAX_LEVELS)
        return ERR_RANGE;
    with.levels[with.level_count++] = (struct level){with.size_count, 0, bitrate_bps};
    with.sizes[with.size_count++] =
        (struct size_spec){with.source_width, with.source_height, with.source_fps, 1};
    int err = checked(&with);
    if (!err)
        *ladder = with;
    return err;
}

// Returns how often `top` must be halved to give `rate`: 0, 1 or 2; -1 if `rate` is none of these.
static int halvings_to(struct fps top, struct fps rate)
{
    for (int h = 0; h <= MAX_HALVINGS; h++)
        if (fabs(fps_value(rate) * (1 << h) / fps_value(top) - 1) < same_rate)
            return h;
    return -1;
}

// A size that is being built from requests. level_bps[h]: bitrate of its level at the top frame
// rate divided by 2^h; 0 = none.
struct plan {
    int width;
    int height;
    struct fps fps;
    int level_bps[MAX_HALVINGS + 1];
};

// Adds the request to the size as a lower level; returns false if it does not fit. Requests are
// sorted by falling rate, so the size's top rate is known. A lower level must have a lower bitrate.
static bool plan_takes(struct plan *p, const struct level_request *r)
{
    int h = halvings_to(p->fps, r->fps);
    if (p->width != r->width || p->height != r->height || h < 1 || p->level_bps[h] != 0)
        return false;
    for (int above = 0; above < h; above++)
        if (p->level_bps[above] != 0 && p->level_bps[above] <= r->bitrate_bps)
            return false;
    p->level_bps[h] = r->bitrate_bps;
    return true;
}

static int by_falling_rate(const void *a, const void *b)
{
    const struct level_request *x = a, *y = b;
    double fx = fps_value(x->fps), fy = fps_value(y->fps);
    if (fx != fy)
        return fx < fy ? 1 : -1;
    return (x->bitrate_bps < y->bitrate_bps) - (x->bitrate_bps > y->bitrate_bps);
}

static int by_rising_bitrate(const void *a, const void *b)
{
    const struct plan *x = a, *y = b;
    return (x->level_bps[0] > y->level_bps[0]) - (x->level_bps[0] < y->level_bps[0]);
}

static int level_by_rising_bitrate(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    return (x->bitrate_bps > y->bitrate_bps) - (x->bitrate_bps < y->bitrate_bps);
}

static int check_request(struct level_request *r, struct fps source)
{
    if (!request_in_range(r)) {
        log_error(
            "level %dx%d is out of range: expected even sizes, %dx%d to %dx%d or %dx%d, at %d to "
            "%d frames per second and %d to %d kbit/s",
            r->width, r->height, MIN_WIDTH, MIN_HEIGHT, MAX_WIDTH, MAX_HEIGHT, MAX_HEIGHT,
            MAX_WIDTH, MIN_FPS, MAX_FPS, MIN_KBPS, MAX_KBPS);
        return ERR_RANGE;
    }
    if (halvings_to(source, r->fps) == 0)
        r->fps = source;
    if (fps_value(r->fps) <= fps_value(source))
        return 0;
    log_error("level %dx%d at %.2f frames per second: the source has only %.2f", r->width,
              r->height, fps_value(r->fps), fps_value(source));
    return ERR_RANGE;
}

// Groups the requests into sizes; `alone`: each request is a size. Returns the number of sizes, or
// ERR_RANGE (logged).
static int gather(const struct level_request *sorted, int count, bool alone, struct plan plans[])
{
    int sizes = 0;
    for (int i = 0; i < count; i++) {
        const struct level_request *r = &sorted[i];
        bool taken = false;
        for (int k = 0; k < sizes && !taken && !alone; k++)
            taken = plan_takes(&plans[k], r);
        if (taken)
            continue;
        if (sizes == LADDER_MAX_SIZES) {
            log_error(
                "the levels need more than %d encoders: levels of one size share an encoder if "
                "their frame rates are the top rate divided by 1, 2 or 4",
                LADDER_MAX_SIZES);
            return ERR_RANGE;
        }
        plans[sizes++] = (struct plan){r->width, r->height, r->fps, {r->bitrate_bps}};
    }
    return sizes;
}

static void add_plan(struct ladder *l, const struct plan *p, int layers)
{
    int id = l->size_count++;
    for (int h = 0; h <= MAX_HALVINGS; h++)
        if (p->level_bps[h] != 0 && layers < h + 1)
            layers = h + 1;
    l->sizes[id] = (struct size_spec){p->width, p->height, p->fps, layers};
    for (int h = 0; h <= MAX_HALVINGS; h++)
        if (p->level_bps[h] != 0)
            l->levels[l->level_count++] = (struct level){id, layers - 1 - h, p->level_bps[h]};
}

int ladder_from_requests(const struct level_request *requests, int count, int source_width,
                         int source_height, struct fps source_fps, int layers, struct ladder *out)
{
    struct level_request sorted[LADDER_MAX_LEVELS];
    struct plan plans[LADDER_MAX_SIZES];
    if (count < 1 || count > LADDER_MAX_LEVELS) {
        log_error("%d levels requested: expected 1 to %d", count, LADDER_MAX_LEVELS);
        return ERR_RANGE;
    }
    if (layers < 1 || layers > LEVEL_MAX_LAYERS ||
        !source_in_range(source_width, source_height, source_fps))
        return ERR_RANGE;
    for (int i = 0; i < count; i++) {
        sorted[i] = requests[i];
        int err = check_request(&sorted[i], source_fps);
        if (err)
            return err;
    }
    qsort(sorted, (size_t)count, sizeof(sorted[0]), by_falling_rate);
    int sizes = gather(sorted, count, layers == 1, plans);
    if (sizes < 0)
        return sizes;
    qsort(plans, (size_t)sizes, sizeof(plans[0]), by_rising_bitrate);
    *out = (struct ladder){
        .source_fps = source_fps, .source_width = source_width, .source_height = source_height};
    for (int i = 0; i < sizes; i++)
        add_plan(out, &plans[i], layers);
    qsort(out->levels, (size_t)out->level_count, sizeof(out->levels[0]), level_by_rising_bitrate);
    int err = checked(out);
    if (err)
        log_error("two levels have the same bitrate: give each level its own");
    return err;
}

int ladder_cumulative(int source_width, int source_height, struct fps source_fps, int bitrate_bps,
                      struct ladder *out)
{
    // Percent of the bits: of all smaller sizes together with this one, of T0, T0 and T1, all.
    static const int of_size[] = {8, 33, 100}, of_layer[] = {50, 75, 100};
    enum { SIZES = 3, LAYERS = 3 };
    if (!source_in_range(source_width, source_height, source_fps) || source_width < 256 ||
        source_height < 144 || bitrate_bps < 100000 || bitrate_bps > 100000000)
        return ERR_RANGE;
    *out = (struct ladder){.source_fps = source_fps,
                           .cumulative = true,
                           .source_width = source_width,
                           .source_height = source_height,
                           .size_count = SIZES};
    for (int s = 0; s < SIZES; s++) {
        int divisor = 1 << (SIZES - 1 - s);
        int width = source_width / divisor, height = source_height / divisor;
        // Rounded up to even numbers, as libvpx does.
        out->sizes[s] = (struct size_spec){width + width % 2, height + height % 2,
                                           default_fps(source_fps), LAYERS};
        for (int t = 0; t < LAYERS; t++)
            add_level(out, s, t, (int)((int64_t)bitrate_bps * of_size[s] * of_layer[t] / 10000000));
    }
    return checked(out);
}

// Rounded to 10 kbit/s.
static int default_rate(int width, int height)
{
    double kbps = 1920 * pow((double)width * height / (1280 * 720), 0.75);
    return (int)lround(kbps / 10) * 10000;
}

// Returns the source's size, or the largest of its shape that fits into 1920x1080 or 1080x1920: one
// thread encodes all sizes.
static struct size_spec cumulative_size(int width, int height)
{
    double shrink = fmin(1, fmin((double)MAX_CUMULATIVE_LONG / fmax(width, height),
                                 (double)MAX_CUMULATIVE_SHORT / fmin(width, height)));
    return (struct size_spec){.width = even(width * shrink), .height = even(height * shrink)};
}

int ladder_cumulative_of(const struct level_request *top, int source_width, int source_height,
                         struct fps source_fps, struct ladder *out)
{
    if (!top) {
        struct size_spec own = cumulative_size(source_width, source_height);
        int failed = ladder_cumulative(own.width, own.height, source_fps,
                                       default_rate(own.width, own.height), out);
        out->source_width = source_width;
        out->source_height = source_height;
        return failed;
    }
    struct level_request level = *top;
    int err = check_request(&level, source_fps);
    if (!err)
        err = ladder_cumulative(level.width, level.height, source_fps, level.bitrate_bps, out);
    if (err)
        return err;
    out->source_width = source_width;
    out->source_height = source_height;
    for (int i = 0; i < out->size_count; i++)
        out->sizes[i].fps = level.fps;
    return checked(out);
}
