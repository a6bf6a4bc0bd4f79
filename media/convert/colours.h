// SPDX-License-Identifier: GPL-2.0-or-later
// What a picture's matrix, primaries and transfer, as libavutil names them, need to be shown as
// BT.709: nothing but the matrix, which libswscale converts; a colour_map.h; or what cannot be
// converted and is named.
#ifndef WEIR_MEDIA_CONVERT_COLOURS_H
#define WEIR_MEDIA_CONVERT_COLOURS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct AVFrame;
struct colour_planes16;
struct colour_source;
struct recolour_planes;
struct colour_map;

struct colours { // enums of libavutil
    int matrix;
    int primaries;
    int transfer;
    bool full_range;
};

enum { COLOURS_NOTE = 200 }; // bytes

// `rgb`: of a picture without a matrix. Returns true if a map is needed, and fills in what of.
bool colours_source(const struct colours *c, bool rgb, struct colour_source *out);
// Writes what is done to such a picture's colours; empty: nothing that a viewer would miss.
void colours_note(const struct AVFrame *f, char out[COLOURS_NOTE]);
// Runs the map over a picture in a thread per core, at most four; both sizes are even.
void colours_run(const struct colour_map *m, const struct colour_planes16 *from,
                 const struct recolour_planes *to, int width, int height);

DECLS_END
#endif
