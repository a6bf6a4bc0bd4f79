// SPDX-License-Identifier: GPL-2.0-or-later
#include "media/convert/colours.h"

#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "media/picture/colour_map.h"

enum { THREADS = 4, LEAST_ROWS = 64 };

#define D65                                                                                        \
    {                                                                                              \
        0.3127, 0.3290                                                                             \
    }
#define C                                                                                          \
    {                                                                                              \
        0.310, 0.316                                                                               \
    }

// ITU-T H.273, table 2. Those that are not listed are of BT.709.
static const struct {
    int name;
    struct colour_primaries of;
} primaries[] = {
    {AVCOL_PRI_BT470M, {{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}, C}},
    {AVCOL_PRI_BT470BG, {{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}, D65}},
    {AVCOL_PRI_SMPTE170M, {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, D65}},
    {AVCOL_PRI_SMPTE240M, {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, D65}},
    {AVCOL_PRI_FILM, {{0.681, 0.319}, {0.243, 0.692}, {0.145, 0.049}, C}},
    {AVCOL_PRI_BT2020, {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}, D65}},
    {AVCOL_PRI_SMPTE431, {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, {0.314, 0.351}}},
    {AVCOL_PRI_SMPTE432, {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, D65}},
    {AVCOL_PRI_EBU3213, {{0.630, 0.340}, {0.295, 0.605}, {0.155, 0.077}, D65}},
};

static const struct {
    int name;
    enum colour_transfer is;
} transfers[] = {
    {AVCOL_TRC_GAMMA22, TRANSFER_GAMMA22},  {AVCOL_TRC_GAMMA28, TRANSFER_GAMMA28},
    {AVCOL_TRC_SMPTE240M, TRANSFER_240M},   {AVCOL_TRC_LINEAR, TRANSFER_LINEAR},
    {AVCOL_TRC_LOG, TRANSFER_LOG},          {AVCOL_TRC_LOG_SQRT, TRANSFER_LOG_SQRT},
    {AVCOL_TRC_SMPTE2084, TRANSFER_PQ},     {AVCOL_TRC_SMPTE428, TRANSFER_GAMMA26},
    {AVCOL_TRC_ARIB_STD_B67, TRANSFER_HLG},
};

// ITU-T H.273, table 4.
static const struct {
    int name;
    double kr, kb;
} weights[] = {
    {AVCOL_SPC_BT709, 0.2126, 0.0722},     {AVCOL_SPC_FCC, 0.30, 0.11},
    {AVCOL_SPC_BT470BG, 0.299, 0.114},     {AVCOL_SPC_SMPTE170M, 0.299, 0.114},
    {AVCOL_SPC_SMPTE240M, 0.212, 0.087},   {AVCOL_SPC_BT2020_NCL, 0.2627, 0.0593},
    {AVCOL_SPC_BT2020_CL, 0.2627, 0.0593}, {AVCOL_SPC_ICTCP, 0.2627, 0.0593},
};

static bool is_unconverted(const struct colours *c)
{
    return c->matrix == AVCOL_SPC_SMPTE2085 || c->matrix == AVCOL_SPC_CHROMA_DERIVED_NCL ||
           c->matrix == AVCOL_SPC_CHROMA_DERIVED_CL || c->primaries == AVCOL_PRI_SMPTE428;
}

bool colours_source(const struct colours *c, bool rgb, struct colour_source *out)
{
    bool needs = false;
    *out = (struct colour_source){
        .kr = 0.299, .kb = 0.114, .full_range = c->full_range, .primaries = colour_primaries_bt709};
    for (size_t i = 0; i < sizeof(primaries) / sizeof(primaries[0]); i++)
        if (primaries[i].name == c->primaries) {
            out->primaries = primaries[i].of;
            needs = true;
        }
    for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++)
        if (transfers[i].name == c->transfer) {
            out->transfer = transfers[i].is;
            needs = true;
        }
    // RGB becomes YUV of BT.709 first.
    int matrix = rgb ? AVCOL_SPC_BT709 : c->matrix;
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
        if (weights[i].name == matrix) {
            out->kr = weights[i].kr;
            out->kb = weights[i].kb;
        }
    out->matrix = matrix == AVCOL_SPC_YCGCO       ? MATRIX_YCGCO
                  : matrix == AVCOL_SPC_BT2020_CL ? MATRIX_BT2020_CL
                  : matrix == AVCOL_SPC_ICTCP     ? MATRIX_ICTCP
                                                  : MATRIX_WEIGHTS;
    return needs || out->matrix != MATRIX_WEIGHTS;
}

static void append(char out[COLOURS_NOTE], const char *name)
{
    size_t used = strlen(out);
    snprintf(out + used, COLOURS_NOTE - used, "%s%s", used ? ", " : "", name ? name : "?");
}

void colours_note(const AVFrame *f, char out[COLOURS_NOTE])
{
    struct colours c = {f->colorspace, f->color_primaries, f->color_trc, false};
    struct colour_source source;
    char names[COLOURS_NOTE] = "";
    bool needs = colours_source(&c, false, &source), unconverted = is_unconverted(&c);
    out[0] = '\0';
    if (!needs && !unconverted)
        return;
    if (c.transfer != AVCOL_TRC_UNSPECIFIED)
        append(names, av_color_transfer_name(c.transfer));
    if (c.primaries != AVCOL_PRI_UNSPECIFIED)
        append(names, av_color_primaries_name(c.primaries));
    if (c.matrix != AVCOL_SPC_UNSPECIFIED)
        append(names, av_color_space_name(c.matrix));
    bool high = source.transfer == TRANSFER_PQ || source.transfer == TRANSFER_HLG;
    if (unconverted)
        snprintf(out, COLOURS_NOTE, "its colours are not converted, and so look wrong: %.120s",
                 names);
    else
        snprintf(out, COLOURS_NOTE, "its colours are %s (%.120s)",
                 high ? "HDR: tone-mapped to SDR, BT.709, where it is encoded again"
                      : "converted to BT.709 where it is encoded again",
                 names);
}

// ---- Threads

struct part {
    pthread_t thread;
    const struct colour_map *map;
    const struct colour_planes16 *from;
    const struct recolour_planes *to;
    int width, first, last;
};

static void *run_part(void *ctx)
{
    const struct part *p = ctx;
    colour_map_run(p->map, p->from, p->to, p->width, p->first, p->last);
    return NULL;
}

void colours_run(const struct colour_map *m, const struct colour_planes16 *from,
                 const struct recolour_planes *to, int width, int height)
{
    struct part parts[THREADS];
    bool begun[THREADS] = {false};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int count = cores < 1 ? 1 : cores < THREADS ? (int)cores : THREADS;
    while (count > 1 && height / count < LEAST_ROWS)
        count--;
    for (int i = 0; i < count; i++) {
        parts[i] = (struct part){.map = m,
                                 .from = from,
                                 .to = to,
                                 .width = width,
                                 .first = height / 2 * i / count * 2,
                                 .last = height / 2 * (i + 1) / count * 2};
        begun[i] = i > 0 && pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) == 0;
    }
    for (int i = 0; i < count; i++) {
        if (begun[i])
            pthread_join(parts[i].thread, NULL);
        else
            run_part(&parts[i]);
    }
}
