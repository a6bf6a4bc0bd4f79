// SPDX-License-Identifier: GPL-2.0-or-later
// Limits on the number of viewers, and the default time-out of a viewer.
#ifndef WEIR_SERVER_POLICY_VIEWER_LIMITS_H
#define WEIR_SERVER_POLICY_VIEWER_LIMITS_H

enum {
    VIEWERS_DEFAULT = 1024,
    VIEWERS_MAX = 65535,
    VIEWER_TIMEOUT_SEC = 20, // default: a viewer that takes nothing for this long is dropped
};

#endif
