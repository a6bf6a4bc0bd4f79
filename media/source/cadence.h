// SPDX-License-Identifier: GPL-2.0-or-later
// The cadence of pictures that stand for whole fields, as MPEG's pulldown flags make it (ISO/IEC
// 13818-2, repeat_first_field; H.264, pic_struct): film of 24 pictures/s stands for two and three
// fields of 1/60 s in turn.
//
//   The law. The rate is the film's if each picture has a tick of its own at that rate. If the film
//   also has parts with more pictures, as video between film, it is that of the fields, at which
//   each picture has its own time. Else it is the one that the container names.
//
// Pure.
#ifndef WEIR_MEDIA_SOURCE_CADENCE_H
#define WEIR_MEDIA_SOURCE_CADENCE_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { CADENCE_BLOCK = 24 }; // pictures that are judged together

enum cadence_kind {
    CADENCE_NAMED,  // nothing speaks against the container's rate
    CADENCE_FILM,   // the rate is cadence_rate's
    CADENCE_FIELDS, // the same; film is one part of it
};

struct cadence {
    struct fps fields; // per second
    usec_t last;       // time of the newest picture; USEC_NEVER: the next one begins a block
    int count;         // of pictures in the block
    int steps[CADENCE_BLOCK];
    int64_t film;      // blocks at the film's rate
    int64_t broken;    // blocks with no more pictures than that, which are out of step
    int64_t dense;     // blocks with more
    int64_t irregular; // blocks with pictures that do not stand for whole fields
};

// `fields`: of the container's video, per second; 50 or 60 (60000/1001).
void cadence_init(struct cadence *c, struct fps fields);
// Adds the time at which a picture is decoded (its DTS), which has the steps of the times at which
// pictures are shown, in order.
void cadence_add(struct cadence *c, usec_t at);
// The next picture does not follow the last one.
void cadence_break(struct cadence *c);
// Sets *rate unless it returns CADENCE_NAMED.
enum cadence_kind cadence_rate(const struct cadence *c, struct fps *rate);

DECLS_END
#endif
