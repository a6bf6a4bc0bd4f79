// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/pattern/pattern_font.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "media/pattern/pattern_pen.h"

// A glyph is a list of strokes. A stroke is a list of grid points; x and y are one digit (0-9 a-v)
// each. Capitals and digits have their base line at y = 12 (c) and reach up to y = 2. A stroke that
// begins with ~ is a curve, and its points are the control points.
enum {
    UNIT_X = 6,  // font units per grid column; the line is 160 units high
    UNIT_Y = 10, // font units per grid row
    LINE = 16,   // grid rows per line
    FINE = 16,   // coordinates are in 1/16 font unit
    EM = LINE * UNIT_Y * FINE,
    STROKE = 16,  // width of the pen, font units
    ROUNDS = 3,   // rounds of corner cutting: 8 pieces per corner
    POINTS = 128, // max. points of a stroke after corner cutting
};

struct glyph {
    char c;
    int columns; // advance
    const char *strokes;
};

static const struct glyph glyphs[] = {
    {'0', 16, "~82 d2 dc 8c 3c 32 82"},
    {'1', 16, "45 92 9c"},
    {'2', 16, "~35 32 82 d2 d7 3c|3c dc"},
    {'3', 16, "~34 32 c2 c7 77|~77 d7 dc 3c 3a"},
    {'4', 16, "a2 39 d9|a2 ac"},
    {'5', 16, "c2 42 47|~47 55 d5 dc 3c 3a"},
    {'6', 16, "~b2 32 39|~86 d6 dc 3c 36 86"},
    {'7', 16, "32 d2 6c"},
    {'8', 16, "~82 c2 c7 47 42 82|~87 d7 dc 3c 37 87"},
    {'9', 16, "~88 38 32 d2 d8 88|~d5 dc 5c"},
    {':', 8, "46 46|4b 4b"},
    {'.', 8, "4c 4c"},
    {'W', 22, "32 7c b4 fc j2"},
    {'a', 16, "~85 d5 dc 3c 35 85|d5 dc"},
    {'c', 14, "~c6 b5 35 3c bc cb"},
    {'e', 16, "38 d8|~d8 d5 35 3c cc db"},
    {'f', 12, "~a2 52 57|57 5c|25 a5"},
    {'i', 8, "45 4c|42 42"},
    {'m', 22, "35 3c|~39 35 b5 b9|b9 bc|~b9 b5 j5 j9|j9 jc"},
    {'p', 16, "35 3f|~85 d5 dc 3c 35 85"},
    {'r', 12, "35 3c|~39 35 b5"},
    {'s', 14, "~b6 b5 35 38 78|~78 c8 cc 3c 3b"},
    {'t', 12, "52 59|~59 5c ac|25 a5"},
    {'u', 16, "35 38|~38 3c dc d8|d5 dc"},
    {'x', 14, "35 bc|b5 3c"},
};

static const struct glyph *find(char c)
{
    for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++) {
        if (glyphs[i].c == c)
            return &glyphs[i];
    }
    return NULL;
}

int pattern_font_advance(char c, int height)
{
    const struct glyph *g = find(c);
    return (g ? g->columns : 8) * UNIT_X * height / (LINE * UNIT_Y);
}

int pattern_font_width(const char *text, int height)
{
    int width = 0;
    for (; *text; text++)
        width += pattern_font_advance(*text, height);
    return width;
}

static int grid(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

// Chaikin's corner cutting (1974): each side keeps its middle half. The result converges to the
// quadratic B-spline.
static int cut_corners(struct point *p, int n)
{
    struct point out[POINTS];
    int m = 0;
    out[m++] = p[0];
    for (int i = 0; i + 1 < n; i++) {
        assert(m + 3 <= POINTS);
        if (i > 0)
            out[m++] = (struct point){(3 * p[i].x + p[i + 1].x) / 4, (3 * p[i].y + p[i + 1].y) / 4};
        if (i + 2 < n)
            out[m++] = (struct point){(p[i].x + 3 * p[i + 1].x) / 4, (p[i].y + 3 * p[i + 1].y) / 4};
    }
    out[m++] = p[n - 1];
    memcpy(p, out, sizeof(*p) * (size_t)m);
    return m;
}

// Reads one stroke's points and moves *text past it. Returns the number of points.
static int read_stroke(const char **text, struct point *p)
{
    const char *s = *text;
    int smooth = *s == '~';
    s += smooth;
    int n = 0;
    for (; *s && *s != '|'; s += s[2] == ' ' ? 3 : 2) {
        p[n].x = grid(s[0]) * UNIT_X * FINE;
        p[n].y = grid(s[1]) * UNIT_Y * FINE;
        n++;
    }
    *text = *s ? s + 1 : s;
    for (int i = 0; smooth && i < ROUNDS; i++)
        n = cut_corners(p, n);
    return n;
}

void pattern_font_draw(char c, int height, uint8_t ink, uint8_t paper, uint8_t *out, int stride)
{
    const struct glyph *g = find(c);
    int width = pattern_font_advance(c, height);
    for (int y = 0; y < height; y++)
        memset(out + (ptrdiff_t)y * stride, paper, (size_t)width);
    if (!g)
        return;
    const char *text = g->strokes;
    while (*text) {
        struct point p[POINTS];
        int n = read_stroke(&text, p);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                struct point at = {(2 * x + 1) * EM / (2 * height),
                                   (2 * y + 1) * EM / (2 * height)};
                int64_t nearest = INT64_MAX;
                for (int i = 0; i + 1 < n; i++) {
                    int64_t d = pen_square_distance(at, p[i], p[i + 1]);
                    nearest = d < nearest ? d : nearest;
                }
                int cover = pen_coverage(nearest, STROKE * FINE / 2, EM / height);
                int value = paper + (ink - paper) * cover / 256;
                uint8_t *to = out + (ptrdiff_t)y * stride + x;
                // Strokes overlap where they join: the value with more ink wins.
                if (abs(value - paper) > abs(*to - paper))
                    *to = (uint8_t)value;
            }
        }
    }
}
