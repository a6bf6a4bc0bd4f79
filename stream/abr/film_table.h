// SPDX-License-Identifier: GPL-2.0-or-later
// The film's table: how many bytes each group of a stored ladder has at each level, and how good
// its pictures are. The server sends it once; then the viewer plans with exact sizes.
//
// Encoded, integers big-endian:
//
//     0  "WFT" and the version, 1
//     4  number of levels, 1 .. LADDER_MAX_LEVELS
//     5  flags; bit 0: with quality. The others are 0
//     6  0, 0
//     8  number of groups, 1 .. FILM_TABLE_MAX_GROUPS (32 bits)
//    12  source frames of a group, and of the last group (16 bits each)
//    16  source frames per second: numerator, denominator (32 bits each)
//    24  of each group: a size byte a level, then, with quality, a quality byte a level
//
// A size byte c stands for round(1024 x 2^((c mod 16)/16)) x 2^(c div 16) bytes: 1 KiB to 65 MB in
// steps of 4.4 %, so a size is known to 2.2 %. A smaller group counts as 1 KiB. A quality byte is
// the SSIM of the level against the source, as -10 log10(1 - SSIM) dB in steps of 0.1.
//
// A film of two hours with seven levels has 50 kB; the longest table is 1.4 MB.
//
// Pure.
#ifndef WEIR_STREAM_ABR_FILM_TABLE_H
#define WEIR_STREAM_ABR_FILM_TABLE_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum {
    FILM_TABLE_MAX_GROUPS = 21600,   // 6 hours of groups of 1 s
    FILM_TABLE_MAX_FRAMES = 600,     // of a group
    FILM_TABLE_HEADER = 24,          // bytes
    FILM_TABLE_MAX_BYTES = 64258048, // of a group: the largest size byte's
    FILM_TABLE_NO_QUALITY = -1,
};

struct film_shape {
    int levels;
    int64_t groups;
    int group_frames; // source frames of all groups but the last
    int last_frames;  // of the last group, 1 .. group_frames
    struct fps fps;   // of the source, 1 .. 1000 per second
    bool has_quality;
};

struct film_table;

// Makes a table whose groups all have 1 KiB and no quality. 0; ERR_RANGE: a value of the shape is
// outside its range; ERR_NO_MEMORY.
int film_table_new(const struct film_shape *shape, struct film_table **out);
void film_table_free(struct film_table *t); // NULL is fine
// Makes the table of some of the levels, ascending. Returns 0 or ERR_NO_MEMORY.
int film_table_of_levels(const struct film_table *t, const int *levels, int count,
                         struct film_table **out);
const struct film_shape *film_table_shape(const struct film_table *t);

// Sets a group's size and, in a table with quality, its SSIM in 0.1 dB (film_table_quality_of); 0,
// or ERR_RANGE: no such group or level, no bytes, or more than FILM_TABLE_MAX_BYTES.
int film_table_set(struct film_table *t, int64_t group, int level, uint64_t bytes, int quality);
// Returns the quality of an SSIM: 0 .. 255 tenths of a dB.
int film_table_quality_of(double ssim);

// `group` and `level` must exist.
int64_t film_table_bytes(const struct film_table *t, int64_t group, int level);
// Returns the most bytes that the group can have, as its size is rounded.
int64_t film_table_max_bytes(const struct film_table *t, int64_t group, int level);
// Returns tenths of a dB, or FILM_TABLE_NO_QUALITY.
int film_table_quality(const struct film_table *t, int64_t group, int level);
// Times are those of playing at the pace, 1 at first: the media's divided by it. > 0.
void film_table_set_pace(struct film_table *t, double pace);
usec_t film_table_start(const struct film_table *t, int64_t group); // `groups`: end of the film
usec_t film_table_length(const struct film_table *t, int64_t group);
double film_table_mean_bps(const struct film_table *t, int level);

// Returns the encoded length.
size_t film_table_encoded_bytes(const struct film_table *t);
// `out` has film_table_encoded_bytes.
void film_table_encode(const struct film_table *t, uint8_t *out);
// Writes the encoded bytes from `at` on, as many as fit. Returns their number.
size_t film_table_encode_from(const struct film_table *t, size_t at, uint8_t *out, size_t cap);
// 0; ERR_MALFORMED; ERR_TOO_BIG: more levels, groups or frames than a table may have;
// ERR_UNSUPPORTED: another version; ERR_NO_MEMORY.
int film_table_decode(const uint8_t *data, size_t len, struct film_table **out);
// Checks a table from outside against the film that plays. 0; ERR_RANGE: it is the table of another
// film, or lies: its shape differs, or the mean rate of a level is above four times the ladder's.
int film_table_check(const struct film_table *t, const struct ladder *ladder, int64_t groups,
                     int group_frames);

DECLS_END
#endif
