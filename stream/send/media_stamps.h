// SPDX-License-Identifier: GPL-2.0-or-later
// The media time of frames and audio on the wire, from which their RTP time stamps are made. It
// counts frames, so it advances evenly through seeks and pauses. While the media plays at another
// scale (RFC 2326, 12.34), frame numbers advance faster than the time on the screen; RTP time
// stamps follow the latter (RFC 2326, appendix B), and never step back. Pure.
#ifndef WEIR_STREAM_SEND_MEDIA_STAMPS_H
#define WEIR_STREAM_SEND_MEDIA_STAMPS_H

#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/base/usec.h"

DECLS_BEGIN

struct media_stamps_piece {
    int64_t from; // frames from this number on ...
    usec_t at;    // ... of which the first has this time ...
    double pace;  // ... advance by so many frames an interval
};

struct media_stamps {
    struct fps fps;
    struct media_stamps_piece now;
    struct media_stamps_piece before; // of numbers below now.from, which may still be leaving
};

void media_stamps_init(struct media_stamps *m, struct fps fps);
// `pace`: the scale without its sign, > 0. `from`: at or above the number of the last change.
void media_stamps_set(struct media_stamps *m, double pace, int64_t from);
usec_t media_stamps_of(const struct media_stamps *m, int64_t number);
// The same of media between frames: `media` counts from frame 0.
usec_t media_stamps_of_media(const struct media_stamps *m, usec_t media);

DECLS_END
#endif
