// SPDX-License-Identifier: GPL-2.0-or-later
// The wall-clock time at which media of an origin was captured, from its media time. Audio of
// Weir's servers carries only the latter, and leaves a server that sends a film up to 2 s before
// its time: its arrival tells nothing.
//
//     captured(media) = captured(frame) + media - media(frame)
//
// The frame is the newest one that names its capture time. Where none does (third parties),
//
//     captured(media) = media + the min of arrival - media(frame) of the last 10 to 20 s:
//
// the fastest frame counts as captured when it arrived, so what is late in the backbone moves
// nothing. A frame later than that by CAPTURE_LINE_LEAP begins the line anew. Pure.
#ifndef WEIR_PROXY_POLICY_CAPTURE_LINE_H
#define WEIR_PROXY_POLICY_CAPTURE_LINE_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"
#include "common/base/windowed_min.h"

DECLS_BEGIN

#define CAPTURE_LINE_LEAP (3 * USEC_PER_SEC)

struct capture_line { // all zero: nothing is known
    bool known;
    usec_t ahead;                 // capture time minus media time
    bool is_measured;             // by arrivals
    struct windowed_min measured; // arrival minus media time
};

// The origin's media begins, or continues elsewhere: nothing is known.
void capture_line_begin(struct capture_line *l);
// A frame of media time `media` names its capture time.
void capture_line_stamped(struct capture_line *l, usec_t media, usec_t captured);
// A frame that names none arrived. Returns its capture time.
usec_t capture_line_arrived(struct capture_line *l, usec_t media, usec_t arrived);
// Returns 0 if nothing is known.
usec_t capture_line_at(const struct capture_line *l, usec_t media);

DECLS_END
#endif
