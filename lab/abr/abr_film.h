// SPDX-License-Identifier: GPL-2.0-or-later
// Films to simulate: the sizes that their groups have, and the table of them that a viewer gets.
//
//   goddard    seven levels of 80 to 1920 kbit/s, the ladder of the Goddard streams; each group has
//              its level's bitrate
//   vbr:SEED   seven levels of 145 to 2000 kbit/s. A group's size differs from its level's bitrate
//              by a factor that all levels share, and a small one of its own. ln of the shared one
//              is an AR(1) process (one group: .85, standard deviation .45) that jumps to a new
//              value at a cut, every sixth group on average; the mean of a level is its bitrate.
//              Quality, SSIM in dB: 7 + 1.95 log2(size / (factor x 9 kB)) - ln(factor)
//
// Groups have 2 s of 30 frames per second. Pure.
#ifndef WEIR_ABR_ABR_FILM_H
#define WEIR_ABR_ABR_FILM_H

#include "common/base/decls.h"
#include "stream/abr/film_table.h"

DECLS_BEGIN

struct abr_film {
    int levels;
    int64_t groups;
    int bitrates_bps[LADDER_MAX_LEVELS];
    int64_t *bytes;           // owned; groups x levels
    struct film_table *table; // owned
};

// `seconds`: 2 .. 21600; rounded down to whole groups. 0; ERR_MALFORMED: `text` names no film;
// ERR_RANGE; ERR_NO_MEMORY.
int abr_film_init(struct abr_film *f, const char *text, int seconds);
void abr_film_destroy(struct abr_film *f);

static inline int64_t abr_film_bytes(const struct abr_film *f, int64_t group, int level)
{
    return f->bytes[group * f->levels + level];
}

DECLS_END
#endif
