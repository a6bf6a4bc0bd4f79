// SPDX-License-Identifier: GPL-2.0-or-later
// What a container does not say, or says wrongly: the rate of film whose pictures stand for two and
// three fields in turn (cadence.h), of which it names that of the fields; the rate of a part with
// more pictures than the others (dense_rate.h); and the length of a film whose clock jumps, of
// which it names the last time less the first one.
#ifndef WEIR_MEDIA_SOURCE_FILM_SCAN_H
#define WEIR_MEDIA_SOURCE_FILM_SCAN_H

#include <libavformat/avformat.h>

#include "common/base/decls.h"
#include "media/source/cadence.h"
#include "media/source/clock_marks.h"
#include "media/source/media_guard.h"

DECLS_BEGIN

struct film_scan {
    enum cadence_kind cadence;
    struct fps rate;   // unless CADENCE_NAMED, of the pictures
    struct fps fields; // and of their fields
    double dense;      // pictures/s of the densest part; 0: `named` is about as high
    // Of a film whose clock may jump (timeline.h); 0: the container's is impossible; USEC_NEVER:
    // nothing speaks against it.
    usec_t length;
    // Owned; of a file that was read to its end. None if its clock does not jump.
    struct clock_marks marks;
};

// Reads a file of up to 32 MB. Of a longer one it reads 10 s and 3 MB at each of eight places at
// most, and if its clock may jump the first 8 MB. Nothing is read if the index names the time of
// each picture, as that of an ISO file does. `format`: the film's, which is not read; `track`: its
// video, which has `named` pictures/s. 0: whether a part has more is not looked for.
void film_scan_run(const char *path, const AVFormatContext *format, int track, double named,
                   bool clock_jumps, struct media_guard *guard, struct film_scan *out);

DECLS_END
#endif
