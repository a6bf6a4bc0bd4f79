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
           r->height >= MIN_HEIGHT && r->height <= MAX_HEIGHT && r->height % 2 == 0 &&
           r->fps.num > 0 && r->fps.den > 0 && fps_value(r->fps) >= MIN_FPS &&
           fps_value(r->fps) <= MAX_FPS && r->bitrate_bps >= MIN_KBPS * 1000 &&
           r->bitrate_bps <= MAX_KBPS * 1000;
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

// Adds one row of the default ladder: a size with a level of all its layers. If `low_kbps` is not
// 0, the size also gets a level without the top layer.
static void add_default_size(struct ladder *l, struct size_spec size, int low_kbps, int full_kbps)
{
    int id = l->size_count++;
    l->sizes[id] = size;
    if (low_kbps > 0)
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

int ladder_default(int source_width, int source_height, struct fps source_fps, int layers,
                   struct ladder *out)
{
    static const struct {
        int height;
        int low_kbps; // bitrate of the level without the top layer; 0: no such level
        int full_kbps;
    } rows[] = {{144, 80, 120}, {240, 240, 320}, {360, 640, 960}, {720, 0, 1920}};
    if (layers < 2 || layers > 3 || !source_in_range(source_width, source_height, source_fps))
        return ERR_RANGE;
    *out = (struct ladder){
        .source_fps = source_fps, .source_width = source_width, .source_height = source_height};
    struct fps fps = default_fps(source_fps);
    if (source_height < rows[0].height) {
        struct size_spec own = {source_width, source_height, smallest_fps(fps), layers};
        add_default_size(out, own, rows[0].low_kbps, rows[0].full_kbps);
        return checked(out);
    }
    int below = 0; // height of the previous row
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && below < source_height; i++) {
        // The first row that is higher than the source gets the source's own size.
        int height = rows[i].height < source_height ? rows[i].height : source_height;
        int width = even((double)height * source_width / source_height);
        below = height;
        struct size_spec size = {width < MIN_SOURCE ? MIN_SOURCE : width, height,
                                 i == 0 ? smallest_fps(fps) : fps, layers};
        add_default_size(out, size, rows[i].low_kbps, rows[i].full_kbps);
    }
    return checked(out);
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
        log_error("level %dx%d is out of range: expected even sizes, %dx%d to %dx%d, at %d to %d "
                  "frames per second and %d to %d kbit/s",
                  r->width, r->height, MIN_WIDTH, MIN_HEIGHT, MAX_WIDTH, MAX_HEIGHT, MIN_FPS,
                  MAX_FPS, MIN_KBPS, MAX_KBPS);
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

// Groups the requests into sizes. Returns the number of sizes, or ERR_RANGE (logged).
static int gather(const struct level_request *sorted, int count, struct plan plans[])
{
    int sizes = 0;
    for (int i = 0; i < count; i++) {
        const struct level_request *r = &sorted[i];
        bool taken = false;
        for (int k = 0; k < sizes && !taken; k++)
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
    int sizes = gather(sorted, count, plans);
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
