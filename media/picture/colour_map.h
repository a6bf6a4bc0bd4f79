// SPDX-License-Identifier: GPL-2.0-or-later
// Converts pictures of other primaries, transfers and matrices to those of BT.709, and high dynamic
// range (PQ and HLG, BT.2100) to standard range. From YUV 4:2:0 of 10 bits to one of 8, limited
// range.
//
//   The samples become light: by the matrix, the transfer and, of HLG, the system gamma of a
//   display of 1000 cd/m2 (BT.2100, table 5). Light is converted to the primaries of BT.709 and
//   adapted to its white (Bradford). High range is reduced, with x the largest of R, G and B in
//   units of the reference white, 203 cd/m2 (BT.2408), and p that of the brightest:
//     y = 0.8 x                              up to the reference white: code 216, in RGB 233 of 255
//     y = 0.8 + 0.2 log(1 + b t) / log(1 + b)    with t = (x - 1) / (p - 1), and b so that
//                                                the slope goes on; p: 4000 cd/m2 (PQ), 1000 (HLG)
//   All three are scaled by y / x, so a colour keeps its hue. BT.1886 makes samples of it.
//
// A table of 65 x 33 x 33 holds the results; samples between are interpolated. The chroma of four
// pixels is that of their mean luma. Pure.
#ifndef WEIR_MEDIA_PICTURE_COLOUR_MAP_H
#define WEIR_MEDIA_PICTURE_COLOUR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/picture/recolour.h"

DECLS_BEGIN

enum colour_transfer {
    TRANSFER_SDR, // BT.709, BT.601, BT.2020, sRGB: displays show them by BT.1886
    TRANSFER_GAMMA22,
    TRANSFER_GAMMA26, // SMPTE ST 428-1
    TRANSFER_GAMMA28,
    TRANSFER_240M,
    TRANSFER_LINEAR,
    TRANSFER_LOG,      // two decades
    TRANSFER_LOG_SQRT, // two and a half
    TRANSFER_PQ,
    TRANSFER_HLG,
};

enum colour_matrix {
    MATRIX_WEIGHTS, // kr, kb
    MATRIX_YCGCO,
    MATRIX_BT2020_CL, // constant luminance, of SDR
    MATRIX_ICTCP,     // of PQ and HLG
};

struct colour_primaries { // chromaticities, CIE 1931
    double red[2], green[2], blue[2], white[2];
};

struct colour_source {
    enum colour_transfer transfer;
    enum colour_matrix matrix;
    double kr, kb;
    bool full_range;
    struct colour_primaries primaries;
};

struct colour_planes16 { // borrowed; samples of 10 bits
    const uint16_t *plane[3];
    int stride[3]; // samples
};

struct colour_map;

extern const struct colour_primaries colour_primaries_bt709;

struct colour_map *colour_map_new(const struct colour_source *from); // NULL: no memory
void colour_map_free(struct colour_map *m);                          // NULL is fine
// Converts rows `first` to `last` - 1; both and `width` are even. Threads may convert separate
// rows at the same time.
void colour_map_run(const struct colour_map *m, const struct colour_planes16 *from,
                    const struct recolour_planes *to, int width, int first, int last);

DECLS_END
#endif
