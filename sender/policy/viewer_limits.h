// SPDX-License-Identifier: GPL-2.0-or-later
// How many viewers weir-send serves, and how long it waits for one.
#ifndef WEIR_SENDER_POLICY_VIEWER_LIMITS_H
#define WEIR_SENDER_POLICY_VIEWER_LIMITS_H

enum {
    VIEWERS_DEFAULT = 1024,
    VIEWERS_MAX = 65535,
    VIEWER_TIMEOUT_SEC = 20, // default: a viewer that takes nothing for this long is dropped
};

#endif
