// SPDX-License-Identifier: GPL-2.0-or-later
// Where a film goes on whose clock jumps: parts that were joined, or a recording that was
// restarted, have the same time stamps again. So no time stamp leads to a picture, but a place in
// the file does.
//
//   The law. A mark is a key frame. Its time is that of the first clock, which goes on as the
//   pictures do (timeline.h). The picture at a time is read from the last mark at or before that
//   time on.
//
// Pure.
#ifndef WEIR_MEDIA_SOURCE_CLOCK_MARKS_H
#define WEIR_MEDIA_SOURCE_CLOCK_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct clock_mark {
    int64_t byte; // of the file
    usec_t stamp; // the file's own time there
    usec_t time;  // on the first clock, as if it had not jumped
};

struct clock_marks { // zeroed: there are none
    bool jumps;      // set by the owner; without a jump the marks are not needed
    int count;
    int cap;
    struct clock_mark *marks; // owned; in the order of the file
};

// Adds a mark, unless it is within half a second after the last one of the same clock, or there are
// 65536. Without it the one before stands in.
void clock_marks_add(struct clock_marks *m, struct clock_mark mark);
// Returns the mark from which the picture at `time` is read, the first one for earlier times. NULL:
// the clock does not jump.
const struct clock_mark *clock_marks_find(const struct clock_marks *m, usec_t time);
void clock_marks_free(struct clock_marks *m);

DECLS_END
#endif
