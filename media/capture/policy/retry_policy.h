// SPDX-License-Identifier: GPL-2.0-or-later
// The fortunes of a capture device: when to open it, when it is given up, and what viewers see
// meanwhile. Pure.
//
// It is open only while someone watches. When it cannot be opened, fails, or gives no picture for
// CAPTURE_SILENCE, it is closed and opened again after a pause: 0.5 s at first, doubled up to 5 s
// each time that it fails without having given a picture. Its last picture stays for
// CAPTURE_STAY; after that, or when it fails before there ever was one, viewers see a card with
// the reason.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_RETRY_POLICY_H
#define WEIR_MEDIA_CAPTURE_POLICY_RETRY_POLICY_H

#include <stdbool.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAPTURE_SILENCE     (3 * USEC_PER_SEC)
#define CAPTURE_STAY        (2 * USEC_PER_SEC)
#define CAPTURE_FIRST_PAUSE (500 * USEC_PER_MSEC)
#define CAPTURE_MAX_PAUSE   (5 * USEC_PER_SEC)

enum capture_view {
    CAPTURE_VIEW_NONE,    // nothing yet: it is being opened
    CAPTURE_VIEW_PICTURE, // its pictures, or the last one again
    CAPTURE_VIEW_CARD,
};

struct retry_policy { // all zero to begin with
    bool wanted;
    bool open;
    bool failed;      // since the last picture
    bool has_picture; // since it is wanted
    usec_t since;     // wanted, or open
    usec_t picture;   // when the last one came
    usec_t pause;     // before the next try
    usec_t retry;     // when
};

void retry_policy_want(struct retry_policy *l, bool wanted, usec_t now);
void retry_policy_opened(struct retry_policy *l, usec_t now);
void retry_policy_picture(struct retry_policy *l, usec_t now);
// It could not be opened, or broke. True: that is news, once until there is a picture again.
bool retry_policy_failed(struct retry_policy *l, usec_t now);

// When to open it; USEC_NEVER: not wanted, or it is open.
usec_t retry_policy_open_at(const struct retry_policy *l);
// It is open and silent for too long: close it, and call retry_policy_failed.
bool retry_policy_is_silent(const struct retry_policy *l, usec_t now);
enum capture_view retry_policy_view(const struct retry_policy *l, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
