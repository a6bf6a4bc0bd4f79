// SPDX-License-Identifier: GPL-2.0-or-later
// Makes whole pictures of interlaced ones: libavfilter's bwdif, one picture a frame. Progressive
// frames pass unchanged. A frame comes out when the next one is put in. The library is loaded with
// the first deinterlacer: it would take half of each program's start-up time.
#ifndef WEIR_MEDIA_SOURCE_DEINTERLACER_H
#define WEIR_MEDIA_SOURCE_DEINTERLACER_H

#include <libavutil/frame.h>
#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

struct deinterlacer;

// For frames of the size and format of `like`, with times in units of `time_base`. Returns NULL if
// libavfilter cannot deinterlace them.
struct deinterlacer *deinterlacer_new(const AVFrame *like, AVRational time_base);
void deinterlacer_free(struct deinterlacer *d); // NULL is fine
// Returns true if the frame has the size and format of those before.
bool deinterlacer_fits(const struct deinterlacer *d, const AVFrame *frame);
// Takes over the frame's content, even on failure. NULL: the last frame was put in. Returns 0 or an
// AVERROR.
int deinterlacer_put(struct deinterlacer *d, AVFrame *frame);
// Writes the next picture to `out`, with its time in `pts`. Returns 0, AVERROR(EAGAIN) if it needs
// another frame, AVERROR_EOF after the last one, or another AVERROR.
int deinterlacer_take(struct deinterlacer *d, AVFrame *out);

DECLS_END
#endif
