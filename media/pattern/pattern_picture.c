// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_picture.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "media/pattern/pattern_font.h"
#include "media/pattern/pattern_ground.h"
#include "media/pattern/pattern_pen.h"
#include "media/pattern/pattern_strip.h"

// Parts that do not move are drawn once, into `still`. A frame consists of the ground, the still
// boxes copied over it, and the moving parts: the digits (from `big` and `small`), the strip's
// cells and the hand. Constant lengths refer to a picture of 1280 x 720.
enum {
    MAX_BOXES = 6,
    NUMBER_DIGITS = 8, // lowest digits of the frame number; the strip has all
    PAPER = 27,
    INK = 230,
    FINE = 16,   // pens draw in 1/16 pixel
    TURN = 4096, // units of angle in a full turn
};

struct colour {
    uint8_t c[3];
};

static const struct colour paper = {{PAPER, 134, 124}};
static const struct colour edge = {{112, 138, 112}};
static const struct colour flash_colour = {{INK, 128, 128}};
static const struct colour hand_colour = {{190, 58, 168}};

static const struct colour bars[] = {
    // 75 % colour bars, BT.709
    {{180, 128, 128}}, {{168, 44, 136}}, {{145, 147, 44}}, {{133, 63, 52}},
    {{63, 193, 204}},  {{51, 109, 212}}, {{28, 212, 120}},
};

struct letters {
    int height;
    uint8_t *glyph[128]; // advance x height pixels; owned; NULL: not in this set
};

struct pattern_picture {
    int width, height;
    struct fps fps;
    struct pattern_ground *ground; // owned
    struct picture *still;         // owned
    struct box boxes[MAX_BOXES];
    int box_count;
    struct letters big, small;
    int number_x, number_y, clock_x, clock_y; // top left of the digits
    int dial_x, dial_y, dial_radius;
};

// Scales a length of the 1280 x 720 picture; the smaller of the two scales applies.
static int scaled(const struct pattern_picture *t, int v)
{
    int by_width = t->width * v / 1280, by_height = t->height * v / 720;
    return by_width < by_height ? by_width : by_height;
}

static void fill(struct picture *p, struct box b, struct colour colour)
{
    for (int plane = 0; plane < 3; plane++) {
        int half = plane > 0;
        for (int y = b.y >> half; y < (b.y + b.height) >> half; y++) {
            uint8_t *row = p->plane[plane] + (ptrdiff_t)y * p->stride[plane];
            memset(row + (b.x >> half), colour.c[plane], (size_t)(b.width >> half));
        }
    }
}

static struct box grown(struct box b, int by)
{
    struct box even = {(b.x - by) & ~1, (b.y - by) & ~1, 0, 0};
    even.width = (b.x + b.width + by - even.x + 1) & ~1;
    even.height = (b.y + b.height + by - even.y + 1) & ~1;
    return even;
}

// Draws a still box with an edge of two pixels around `inside`.
static void add_box(struct pattern_picture *t, struct box inside, int margin)
{
    struct box b = grown(inside, margin + 2);
    assert(t->box_count < MAX_BOXES);
    assert(b.x >= 0 && b.y >= 0 && b.x + b.width <= t->width && b.y + b.height <= t->height);
    t->boxes[t->box_count++] = b;
    fill(t->still, b, edge);
    fill(t->still, grown(b, -2), paper);
}

static void write_still(struct pattern_picture *t, const char *text, int x, int y, int height,
                        int ink)
{
    for (; *text; text++) {
        uint8_t *at = t->still->plane[0] + (ptrdiff_t)y * t->still->stride[0] + x;
        pattern_font_draw(*text, height, (uint8_t)ink, PAPER, at, t->still->stride[0]);
        x += pattern_font_advance(*text, height);
    }
}

// ---- The hand ----

// Returns 1024 * sin(angle) by Bhaskara's approximation (629), within 0.2 %.
static int sine(int angle)
{
    int half = TURN / 2, x = angle & (TURN - 1);
    int sign = x < half ? 1024 : -1024;
    x &= half - 1;
    int64_t k = (int64_t)x * (half - x);
    return (int)(16 * k * sign / (5 * (int64_t)half * half - 4 * k));
}

// Draws a stroke from `a` to `b`; coordinates and `radius` are in 1/FINE luma pixels.
static void stroke(struct picture *p, struct point a, struct point b, int radius,
                   struct colour colour)
{
    int left = (a.x < b.x ? a.x : b.x) - radius, right = (a.x > b.x ? a.x : b.x) + radius;
    int top = (a.y < b.y ? a.y : b.y) - radius, bottom = (a.y > b.y ? a.y : b.y) + radius;
    for (int plane = 0; plane < 3; plane++) {
        int pixel = plane ? 2 * FINE : FINE;
        for (int y = top / pixel; y <= bottom / pixel; y++) {
            uint8_t *row = p->plane[plane] + (ptrdiff_t)y * p->stride[plane];
            for (int x = left / pixel; x <= right / pixel; x++) {
                struct point at = {x * pixel + pixel / 2, y * pixel + pixel / 2};
                int cover = pen_coverage(pen_square_distance(at, a, b), radius, pixel);
                row[x] = (uint8_t)(row[x] + (colour.c[plane] - row[x]) * cover / 256);
            }
        }
    }
}

// Returns the point at `percent` of the dial's radius. Angles run clockwise from the top.
static struct point on_dial(const struct pattern_picture *t, int angle, int percent)
{
    int r = t->dial_radius * FINE * percent / 100;
    return (struct point){t->dial_x * FINE + r * sine(angle) / 1024,
                          t->dial_y * FINE - r * sine(angle + TURN / 4) / 1024};
}

static void draw_dial(struct pattern_picture *t)
{
    enum { SIDES = 64 };
    for (int i = 0; i < SIDES; i++) {
        struct point a = on_dial(t, i * TURN / SIDES, 100);
        stroke(t->still, a, on_dial(t, (i + 1) * TURN / SIDES, 100), t->dial_radius * FINE / 40,
               edge);
    }
    for (int i = 0; i < 12; i++) {
        struct point a = on_dial(t, i * TURN / 12, i % 3 ? 86 : 80);
        stroke(t->still, a, on_dial(t, i * TURN / 12, 90), t->dial_radius * FINE / 30, edge);
    }
}

static void draw_hand(const struct pattern_picture *t, int64_t n, struct picture *out)
{
    int64_t in_second = n % t->fps.num * t->fps.den % t->fps.num;
    int angle = (int)(in_second * TURN / t->fps.num);
    struct point end = on_dial(t, angle, 74);
    stroke(out, on_dial(t, angle + TURN / 2, 16), end, t->dial_radius * FINE / 16, hand_colour);
}

// ---- Digits ----

static void letters_free(struct letters *l)
{
    for (int c = 0; c < 128; c++)
        free(l->glyph[c]);
}

static bool letters_init(struct letters *l, const char *set, int height)
{
    l->height = height;
    for (; *set; set++) {
        int width = pattern_font_advance(*set, height);
        uint8_t *glyph = malloc((size_t)width * (size_t)height);
        if (!glyph)
            return false;
        pattern_font_draw(*set, height, INK, PAPER, glyph, width);
        l->glyph[(int)*set] = glyph;
    }
    return true;
}

static void write_moving(const struct letters *l, const char *text, int x, int y,
                         struct picture *out)
{
    for (; *text; text++) {
        size_t width = (size_t)pattern_font_advance(*text, l->height);
        uint8_t *to = out->plane[0] + (ptrdiff_t)y * out->stride[0] + x;
        const uint8_t *from = l->glyph[(int)*text];
        for (int row = 0; row < l->height; row++, to += out->stride[0], from += width)
            memcpy(to, from, width);
        x += (int)width;
    }
}

static void draw_digits(const struct pattern_picture *t, int64_t n, struct picture *out)
{
    char text[32];
    snprintf(text, sizeof(text), "%d", (int)(n % 100000000));
    write_moving(&t->big, text, t->number_x, t->number_y, out);
    int64_t ms = out->pts / 1000, s = ms / 1000;
    snprintf(text, sizeof(text), "%02d:%02d:%02d.%03d", (int)(s / 3600 % 100), (int)(s / 60 % 60),
             (int)(s % 60), (int)(ms % 1000));
    write_moving(&t->small, text, t->clock_x, t->clock_y, out);
}

// ---- The whole ----

static void lay_out_titles(struct pattern_picture *t)
{
    int size = scaled(t, 104), margin = scaled(t, 10);
    int x = t->width / 20 + margin, y = t->height * 48 / 720;
    add_box(t, (struct box){x, y, pattern_font_width("Weir", size) + margin, size}, margin);
    write_still(t, "Weir", x, y, size, INK);

    char text[64], rate[32];
    int64_t hundredths = ((int64_t)t->fps.num * 100 + t->fps.den / 2) / t->fps.den;
    if (hundredths % 100 == 0)
        snprintf(rate, sizeof(rate), "%d", (int)(hundredths / 100));
    else
        snprintf(rate, sizeof(rate), "%d.%02d", (int)(hundredths / 100), (int)(hundredths % 100));
    snprintf(text, sizeof(text), "%dx%d  %s fps", t->width, t->height, rate);
    size = scaled(t, 52);
    int width = pattern_font_width(text, size) + margin;
    x = t->width - t->width / 20 - margin - width;
    add_box(t, (struct box){x, y, width, 2 * size}, margin);
    write_still(t, "test picture", x, y, size, INK);
    write_still(t, text, x, y + size, size, INK);
}

static void lay_out_panel(struct pattern_picture *t)
{
    struct box b = {0, 0, scaled(t, 820), scaled(t, 272)};
    b.x = (t->width - b.width) / 2;
    b.y = t->height * 350 / 720 - b.height / 2;
    add_box(t, b, 0);
    int label = scaled(t, 44), big = t->big.height, small = t->small.height;
    t->number_x = t->clock_x = b.x + scaled(t, 28);
    write_still(t, "frame", t->number_x + scaled(t, 6), b.y + scaled(t, 3), label, 150);
    t->number_y = b.y + scaled(t, 44);
    t->clock_y = b.y + b.height - small - scaled(t, 4);
    assert(t->number_x + NUMBER_DIGITS * pattern_font_advance('0', big) <= b.x + b.width);
    t->dial_radius = b.height * 2 / 5;
    t->dial_x = b.x + b.width - b.height / 2;
    t->dial_y = b.y + b.height / 2;
    draw_dial(t);
}

// Returns the flash's box: centred in the space to the left of the panel.
static struct box flash_box(int width, int height)
{
    int by_width = width * 820 / 1280, by_height = height * 820 / 720;
    int panel = by_width < by_height ? by_width : by_height;
    int side = (panel * 180 / 820) & ~1;
    return (struct box){((width - panel) / 4 - side / 2) & ~1, (height * 350 / 720 - side / 2) & ~1,
                        side, side};
}

bool pattern_picture_flashes(int64_t n, struct fps fps)
{
    return n % fps.num * fps.den % fps.num * 1000 < (int64_t)PATTERN_PICTURE_FLASH_MS * fps.num;
}

usec_t pattern_picture_past_second(int64_t n, struct fps fps)
{
    return usec_of_frames(n, fps.num, fps.den) % USEC_PER_SEC;
}

// Averages the inner half of the patch, as scaling mixes the surroundings into its edges. The
// threshold is a third of the way to white, because at the lowest rates a flash is coded as grey.
bool pattern_picture_read_flash(const struct picture *p)
{
    struct box b = flash_box(p->width, p->height);
    int64_t sum = 0, count = 0;
    for (int y = b.y + b.height / 4; y < b.y + b.height * 3 / 4; y++)
        for (int x = b.x + b.width / 4; x < b.x + b.width * 3 / 4; x++, count++)
            sum += p->plane[0][(ptrdiff_t)y * p->stride[0] + x];
    return count > 0 && sum / count > PAPER + (INK - PAPER) / 3;
}

static void lay_out_foot(struct pattern_picture *t)
{
    enum { BARS = sizeof(bars) / sizeof(bars[0]) };
    struct box strip = pattern_strip_box(t->width, t->height), b = grown(strip, 0);
    b.height = t->height * 48 / 720 & ~1;
    b.y = (t->height * 566 / 720 - b.height / 2) & ~1;
    add_box(t, b, 0);
    for (int i = 0; i < BARS; i++) {
        int left = (b.x + b.width * i / BARS) & ~1, right = (b.x + b.width * (i + 1) / BARS) & ~1;
        fill(t->still, (struct box){left, b.y, right - left, b.height}, bars[i]);
    }
    add_box(t, strip, scaled(t, 6));
}

struct pattern_picture *pattern_picture_new(int width, int height, struct fps fps)
{
    assert(width >= 160 && height >= 90 && fps.num > 0 && fps.den > 0);
    struct pattern_picture *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->width = width;
    t->height = height;
    t->fps = fps;
    t->ground = pattern_ground_new(width, height);
    t->still = picture_new(width, height);
    if (!t->ground || !t->still || !letters_init(&t->big, "0123456789", scaled(t, 150)) ||
        !letters_init(&t->small, "0123456789:.", scaled(t, 84))) {
        pattern_picture_free(t);
        return NULL;
    }
    lay_out_titles(t);
    lay_out_panel(t);
    lay_out_foot(t);
    add_box(t, flash_box(width, height), 0);
    return t;
}

void pattern_picture_free(struct pattern_picture *t)
{
    if (!t)
        return;
    letters_free(&t->small);
    letters_free(&t->big);
    picture_unref(t->still);
    pattern_ground_free(t->ground);
    free(t);
}

// Returns the position at frame n of a movement that crosses `span` pixels in `seconds` and then
// repeats.
static int drift(const struct pattern_picture *t, int64_t n, int span, int seconds)
{
    int64_t period = (int64_t)seconds * t->fps.num;
    return (int)(n % period * t->fps.den % period * span / period);
}

void pattern_picture_draw(const struct pattern_picture *t, int64_t n, struct picture *out)
{
    assert(n >= 0 && out->width == t->width && out->height == t->height);
    out->number = n;
    out->pts = usec_of_frames(n, t->fps.num, t->fps.den);
    // The depth drifts to the left and up, the light to the right and up, so that each moves
    // relative to the other.
    int x[PATTERN_GROUND_LAYERS] = {drift(t, n, t->width, 40),
                                    t->width - 1 - drift(t, n, t->width, 12)};
    int shift_y[PATTERN_GROUND_LAYERS] = {drift(t, n, t->height, 60), drift(t, n, t->height, 30)};
    pattern_ground_draw(t->ground, x, shift_y, out);
    for (int i = 0; i < t->box_count; i++) {
        for (int plane = 0; plane < 3; plane++) {
            int half = plane > 0;
            struct box b = t->boxes[i];
            for (int y = b.y >> half; y < (b.y + b.height) >> half; y++) {
                memcpy(out->plane[plane] + (ptrdiff_t)y * out->stride[plane] + (b.x >> half),
                       t->still->plane[plane] + (ptrdiff_t)y * t->still->stride[plane] +
                           (b.x >> half),
                       (size_t)(b.width >> half));
            }
        }
    }
    draw_digits(t, n, out);
    draw_hand(t, n, out);
    if (pattern_picture_flashes(n, t->fps))
        fill(out, flash_box(t->width, t->height), flash_colour);
    pattern_strip_draw(n, out);
}

int64_t pattern_picture_read(const struct picture *p)
{
    return pattern_strip_read(p);
}
