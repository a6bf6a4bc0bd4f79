// SPDX-License-Identifier: GPL-2.0-or-later
// Decides when to open a capture device, when to close it after a failure, and which picture
// viewers see until it works again. Pure.
//
// The device is open only while a viewer watches. If it cannot be opened, fails, or gives no
// picture for CAPTURE_SILENCE, it is closed and opened again after a pause. The pause is 0.5 s at
// first and doubles, up to 5 s, after each failure without a picture. The last picture stays for
// CAPTURE_STAY. After that, or if the device fails before its first picture, viewers see a card
// with the reason.
#ifndef WEIR_MEDIA_CAPTURE_POLICY_RETRY_POLICY_H
#define WEIR_MEDIA_CAPTURE_POLICY_RETRY_POLICY_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

#define CAPTURE_SILENCE     (3 * USEC_PER_SEC)
#define CAPTURE_STAY        (2 * USEC_PER_SEC)
#define CAPTURE_FIRST_PAUSE (500 * USEC_PER_MSEC)
#define CAPTURE_MAX_PAUSE   (5 * USEC_PER_SEC)

enum capture_view {
    CAPTURE_VIEW_NONE,    // nothing yet: the device is being opened
    CAPTURE_VIEW_PICTURE, // the device's pictures, or its last one repeated
    CAPTURE_VIEW_CARD,    // a card with the reason
};

struct retry_policy { // initialise with {0}
    bool wanted;
    bool open;
    bool failed;      // the device failed and has given no picture since
    bool has_picture; // the device has given a picture since it became wanted
    usec_t since;     // when the device was opened; before that, when it became wanted
    usec_t picture;   // time of the last picture
    usec_t pause;     // last pause before a retry; 0 after a picture
    usec_t retry;     // time of the next attempt to open
};

void retry_policy_want(struct retry_policy *l, bool wanted, usec_t now);
void retry_policy_opened(struct retry_policy *l, usec_t now);
void retry_policy_picture(struct retry_policy *l, usec_t now);
// Call when the device could not be opened or failed. Returns true for the first failure since the
// last picture: the caller reports only that one.
bool retry_policy_failed(struct retry_policy *l, usec_t now);

// Returns when to open the device; USEC_NEVER if it is not wanted or already open.
usec_t retry_policy_open_at(const struct retry_policy *l);
// Returns true if the open device has given no picture for too long. The caller then closes it and
// calls retry_policy_failed.
bool retry_policy_is_silent(const struct retry_policy *l, usec_t now);
enum capture_view retry_policy_view(const struct retry_policy *l, usec_t now);

DECLS_END
#endif
