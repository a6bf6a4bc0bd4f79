// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/picture/colour_map.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    LUMA_BITS = 4, // of 10: the step of the table
    CHROMA_BITS = 5,
    LUMAS = (1 << (10 - LUMA_BITS)) + 1,
    CHROMAS = (1 << (10 - CHROMA_BITS)) + 1,
};

#define REFERENCE_WHITE 203.0 // cd/m2
#define PQ_PEAK         4000.0
#define HLG_PEAK        1000.0
#define KNEE            0.8 // of SDR's white: the reference white

struct node {
    uint16_t y, b, r; // times 64
};

struct colour_map {                         // luma apart from chroma: a pixel reads few bytes
    uint16_t luma[CHROMAS][CHROMAS][LUMAS]; // [V][U][Y]
    uint16_t chroma[CHROMAS][CHROMAS][LUMAS][2];
};

const struct colour_primaries colour_primaries_bt709 = {
    {0.640, 0.330}, {0.300, 0.600}, {0.150, 0.060}, {0.3127, 0.3290}};

// ---- Matrices of 3 x 3

typedef double matrix[3][3];

static void apply(matrix m, double v[3])
{
    double in[3] = {v[0], v[1], v[2]};
    for (int i = 0; i < 3; i++)
        v[i] = m[i][0] * in[0] + m[i][1] * in[1] + m[i][2] * in[2];
}

static void multiply(matrix a, matrix b, matrix out)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
}

static void invert(matrix m, matrix out)
{
    double det = 0;
    for (int i = 0; i < 3; i++)
        det += m[0][i] *
               (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[k][i] = (m[(i + 1) % 3][(k + 1) % 3] * m[(i + 2) % 3][(k + 2) % 3] -
                         m[(i + 1) % 3][(k + 2) % 3] * m[(i + 2) % 3][(k + 1) % 3]) /
                        det;
}

static void xyz_of(const double xy[2], double out[3])
{
    out[0] = xy[0] / xy[1];
    out[1] = 1;
    out[2] = (1 - xy[0] - xy[1]) / xy[1];
}

// RGB to XYZ: SMPTE RP 177.
static void to_xyz(const struct colour_primaries *p, matrix out)
{
    const double *const of[3] = {p->red, p->green, p->blue};
    matrix columns, inverse;
    double scale[3];
    for (int k = 0; k < 3; k++) {
        double xyz[3];
        xyz_of(of[k], xyz);
        for (int i = 0; i < 3; i++)
            columns[i][k] = xyz[i];
    }
    xyz_of(p->white, scale);
    invert(columns, inverse);
    apply(inverse, scale);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[i][k] = columns[i][k] * scale[k];
}

static void adapt_white(const double from[2], const double to[2], matrix out)
{
    matrix bradford = {
        {0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}};
    matrix inverse, scaled;
    double a[3], b[3];
    xyz_of(from, a);
    xyz_of(to, b);
    apply(bradford, a);
    apply(bradford, b);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            scaled[i][k] = bradford[i][k] * b[i] / a[i];
    invert(bradford, inverse);
    multiply(inverse, scaled, out);
}

static void to_bt709(const struct colour_primaries *from, matrix out)
{
    matrix rgb, adapt, xyz, back, both;
    to_xyz(from, rgb);
    adapt_white(from->white, colour_primaries_bt709.white, adapt);
    to_xyz(&colour_primaries_bt709, xyz);
    invert(xyz, back);
    multiply(adapt, rgb, both);
    multiply(back, both, out);
}

// ---- Light: 1 is the reference white

// SMPTE ST 2084.
static double pq(double e)
{
    const double m1 = 2610.0 / 16384, m2 = 2523.0 / 32, c1 = 3424.0 / 4096, c2 = 2413.0 / 128,
                 c3 = 2392.0 / 128;
    double p = pow(fmax(e, 0), 1 / m2);
    return 10000 / REFERENCE_WHITE * pow(fmax(p - c1, 0) / (c2 - c3 * p), 1 / m1);
}

// BT.2100, table 5: the inverse OETF, 0 to 1.
static double hlg(double e)
{
    const double a = 0.17883277, b = 0.28466892, c = 0.55991073;
    e = fmax(e, 0);
    return e <= 0.5 ? e * e / 3 : (exp((e - c) / a) + b) / 12;
}

static double light_of(enum colour_transfer t, double e)
{
    double v = fmin(fmax(e, 0), 1);
    switch (t) {
    case TRANSFER_GAMMA22:
        return pow(v, 2.2);
    case TRANSFER_GAMMA26:
        return pow(v, 2.6) * 52.37 / 48;
    case TRANSFER_GAMMA28:
        return pow(v, 2.8);
    case TRANSFER_240M:
        return v < 0.0912863421177717 ? v / 4 : pow((v + 0.1115722) / 1.1115722, 1 / 0.45);
    case TRANSFER_LINEAR:
        return v;
    case TRANSFER_LOG:
        return v <= 0 ? 0 : pow(10, 2 * (v - 1));
    case TRANSFER_LOG_SQRT:
        return v <= 0 ? 0 : pow(10, 2.5 * (v - 1));
    case TRANSFER_PQ:
        return pq(v);
    case TRANSFER_HLG:
        return hlg(v);
    case TRANSFER_SDR:
        break;
    }
    return pow(v, 2.4);
}

static void lighten(enum colour_transfer t, double rgb[3])
{
    for (int i = 0; i < 3; i++)
        rgb[i] = light_of(t, rgb[i]);
    if (t != TRANSFER_HLG)
        return;
    double scene = 0.2627 * rgb[0] + 0.6780 * rgb[1] + 0.0593 * rgb[2];
    for (int i = 0; i < 3; i++)
        rgb[i] *= HLG_PEAK / REFERENCE_WHITE * pow(scene, 0.2);
}

// BT.2020: luma is that of the light; 1 - Kb and 1 - Kr scale the differences.
static void from_constant_luminance(double y, double b, double r, double rgb[3])
{
    double blue = y + b * (b <= 0 ? 1.9404 : 1.5816), red = y + r * (r <= 0 ? 1.7184 : 0.9936);
    double light = pow(fmax(y, 0), 2.4);
    double green =
        (light - 0.2627 * pow(fmax(red, 0), 2.4) - 0.0593 * pow(fmax(blue, 0), 2.4)) / 0.6780;
    rgb[0] = red;
    rgb[1] = pow(fmax(green, 0), 1 / 2.4);
    rgb[2] = blue;
}

// BT.2100, tables 6 and 7: I, Ct, Cp to L'M'S', to LMS, to RGB of BT.2020, in light.
static void from_ictcp(enum colour_transfer t, double rgb[3])
{
    matrix pq_lms = {{2048, 2048, 0}, {6610, -13613, 7003}, {17933, -17390, -543}};
    matrix hlg_lms = {{2048, 2048, 0}, {3625, -7465, 3840}, {9500, -9212, -288}};
    matrix lms = {{1688, 2146, 262}, {683, 2951, 462}, {99, 309, 3688}}, inverse;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            pq_lms[i][k] /= 4096;
            hlg_lms[i][k] /= 4096;
            lms[i][k] /= 4096;
        }
    if (t == TRANSFER_HLG)
        invert(hlg_lms, inverse);
    else
        invert(pq_lms, inverse);
    apply(inverse, rgb);
    for (int i = 0; i < 3; i++)
        rgb[i] = light_of(t, rgb[i]);
    invert(lms, inverse);
    apply(inverse, rgb);
    if (t == TRANSFER_HLG) {
        double scene = 0.2627 * rgb[0] + 0.6780 * rgb[1] + 0.0593 * rgb[2];
        for (int i = 0; i < 3; i++)
            rgb[i] *= HLG_PEAK / REFERENCE_WHITE * pow(fmax(scene, 0), 0.2);
    }
}

// Returns the light of a colour: y 0 to 1, b and r -0.5 to 0.5.
static void light_of_yuv(const struct colour_source *s, double y, double b, double r, double rgb[3])
{
    double kg = 1 - s->kr - s->kb;
    rgb[0] = y;
    rgb[1] = b;
    rgb[2] = r;
    if (s->matrix == MATRIX_ICTCP) {
        from_ictcp(s->transfer, rgb);
        return;
    }
    if (s->matrix == MATRIX_YCGCO) { // Cg, Co
        rgb[0] = y - b + r;
        rgb[1] = y + b;
        rgb[2] = y - b - r;
    } else if (s->matrix == MATRIX_BT2020_CL) {
        from_constant_luminance(y, b, r, rgb);
    } else {
        rgb[0] = y + 2 * (1 - s->kr) * r;
        rgb[2] = y + 2 * (1 - s->kb) * b;
        rgb[1] = (y - s->kr * rgb[0] - s->kb * rgb[2]) / kg;
    }
    lighten(s->transfer, rgb);
}

// ---- Range

// Solves b / log(1 + b) = slope: halves an interval of log b.
static double shape_of(double peak)
{
    double slope = KNEE / (1 - KNEE) * (peak - 1), low = 0, high = 30;
    for (int i = 0; i < 60; i++) {
        double b = exp((low + high) / 2);
        if (b / log1p(b) < slope)
            low = (low + high) / 2;
        else
            high = (low + high) / 2;
    }
    return exp(low);
}

static double reduced(double x, double peak, double shape)
{
    if (x <= 1)
        return KNEE * x;
    double t = fmin((x - 1) / (peak - 1), 1);
    return KNEE + (1 - KNEE) * log1p(shape * t) / log1p(shape);
}

static uint16_t rounded(double sample)
{
    return (uint16_t)lrint(fmin(fmax(sample, 1), 254) * 64);
}

static struct node node_of(double rgb[3])
{
    double e[3];
    for (int i = 0; i < 3; i++)
        e[i] = pow(fmin(fmax(rgb[i], 0), 1), 1 / 2.4);
    double y = 0.2126 * e[0] + 0.7152 * e[1] + 0.0722 * e[2];
    return (struct node){rounded(16 + 219 * y), rounded(128 + 224 * (e[2] - y) / 1.8556),
                         rounded(128 + 224 * (e[0] - y) / 1.5748)};
}

struct colour_map *colour_map_new(const struct colour_source *s)
{
    struct colour_map *m = malloc(sizeof(*m));
    matrix primaries;
    bool high = s->transfer == TRANSFER_PQ || s->transfer == TRANSFER_HLG;
    double peak = (s->transfer == TRANSFER_PQ ? PQ_PEAK : HLG_PEAK) / REFERENCE_WHITE;
    double shape = high ? shape_of(peak) : 0;
    double black = s->full_range ? 0 : 64, luma = s->full_range ? 1023 : 876;
    double chroma = s->full_range ? 1023 : 896;
    if (!m)
        return NULL;
    to_bt709(&s->primaries, primaries);
    for (int v = 0; v < CHROMAS; v++)
        for (int u = 0; u < CHROMAS; u++)
            for (int l = 0; l < LUMAS; l++) {
                double rgb[3];
                light_of_yuv(s, ((l << LUMA_BITS) - black) / luma,
                             ((u << CHROMA_BITS) - 512) / chroma,
                             ((v << CHROMA_BITS) - 512) / chroma, rgb);
                apply(primaries, rgb);
                double x = fmax(rgb[0], fmax(rgb[1], rgb[2]));
                double factor = high && x > 0 ? reduced(x, peak, shape) / x : 1;
                for (int i = 0; i < 3; i++)
                    rgb[i] *= factor;
                struct node n = node_of(rgb);
                m->luma[v][u][l] = n.y;
                m->chroma[v][u][l][0] = n.b;
                m->chroma[v][u][l][1] = n.r;
            }
    return m;
}

void colour_map_free(struct colour_map *m)
{
    free(m);
}

// ---- Pictures

// The four columns of the table around a chroma sample, and their weights, 0 to 1024 in all.
struct column {
    const uint16_t *luma[4];
    const uint16_t (*chroma[4])[2];
    int weight[4];
};

static int min(int a, int b)
{
    return a < b ? a : b;
}

static void find_column(const struct colour_map *m, int b, int r, struct column *c)
{
    b = min(b, 1023);
    r = min(r, 1023);
    int u = b >> CHROMA_BITS, v = r >> CHROMA_BITS, mask = (1 << CHROMA_BITS) - 1;
    int fu = b & mask, fv = r & mask, one = 1 << CHROMA_BITS;
    for (int i = 0; i < 4; i++) {
        c->luma[i] = m->luma[v + i / 2][u + i % 2];
        c->chroma[i] = m->chroma[v + i / 2][u + i % 2];
    }
    c->weight[0] = (one - fu) * (one - fv);
    c->weight[1] = fu * (one - fv);
    c->weight[2] = (one - fu) * fv;
    c->weight[3] = fu * fv;
}

static uint8_t luma_of(const struct column *c, int y)
{
    y = min(y, 1023);
    int l = y >> LUMA_BITS, f = y & ((1 << LUMA_BITS) - 1);
    int sum = 1 << 19; // 10 bits of weight, 4 of luma, 6 of the node: less than 2^28
    for (int i = 0; i < 4; i++) {
        int low = c->luma[i][l], high = c->luma[i][l + 1];
        sum += c->weight[i] * ((low << LUMA_BITS) + (high - low) * f);
    }
    return (uint8_t)(sum >> 20);
}

static void chroma_of(const struct column *c, int y, uint8_t *b, uint8_t *r)
{
    int l = min((min(y, 1023) + (1 << (LUMA_BITS - 1))) >> LUMA_BITS, LUMAS - 1);
    int sum_b = 0, sum_r = 0;
    for (int i = 0; i < 4; i++) {
        sum_b += c->weight[i] * c->chroma[i][l][0];
        sum_r += c->weight[i] * c->chroma[i][l][1];
    }
    *b = (uint8_t)((sum_b + (1 << 15)) >> 16);
    *r = (uint8_t)((sum_r + (1 << 15)) >> 16);
}

void colour_map_run(const struct colour_map *m, const struct colour_planes16 *from,
                    const struct recolour_planes *to, int width, int first, int last)
{
    for (int y = first; y < last; y += 2) {
        const uint16_t *upper = from->plane[0] + (ptrdiff_t)y * from->stride[0];
        const uint16_t *lower = upper + from->stride[0];
        const uint16_t *b = from->plane[1] + (ptrdiff_t)(y / 2) * from->stride[1];
        const uint16_t *r = from->plane[2] + (ptrdiff_t)(y / 2) * from->stride[2];
        uint8_t *to_upper = to->plane[0] + (ptrdiff_t)y * to->stride[0];
        uint8_t *to_lower = to_upper + to->stride[0];
        uint8_t *to_b = to->plane[1] + (ptrdiff_t)(y / 2) * to->stride[1];
        uint8_t *to_r = to->plane[2] + (ptrdiff_t)(y / 2) * to->stride[2];
        for (int x = 0; x < width / 2; x++) {
            struct column c;
            int sum = upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1];
            find_column(m, b[x], r[x], &c);
            to_upper[2 * x] = luma_of(&c, upper[2 * x]);
            to_upper[2 * x + 1] = luma_of(&c, upper[2 * x + 1]);
            to_lower[2 * x] = luma_of(&c, lower[2 * x]);
            to_lower[2 * x + 1] = luma_of(&c, lower[2 * x + 1]);
            chroma_of(&c, sum / 4, &to_b[x], &to_r[x]);
        }
    }
}
