// SPDX-License-Identifier: GPL-2.0-or-later
// Puts received frames back into decoding order: each one waits for earlier ones, which may still
// be repaired, until it is `hold` old. A frame that comes after a later one has left is refused.
// Holds at most RECORD_ORDER_MAX frames; then the first one leaves.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_ORDER_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/usec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RECORD_ORDER_MAX = 128 };

struct record_order {
    usec_t hold;
    int64_t left; // slot of the last frame that left; INT64_MIN: none
    int count;
    struct record_held {
        int64_t slot; // place in decoding order
        usec_t due;
        void *frame;
    } held[RECORD_ORDER_MAX]; // in ascending order of slots
};

void record_order_init(struct record_order *o, usec_t hold);
// Adds a frame. Returns false if it is too late, or a duplicate: the caller keeps it. The caller
// then pulls; there must be room (record_order_pull with `all` makes some).
bool record_order_push(struct record_order *o, int64_t slot, void *frame, usec_t now);
// Returns the next frame that is due, which the caller owns; NULL: none. `all`: does not wait.
void *record_order_pull(struct record_order *o, bool all, usec_t now);

#ifdef __cplusplus
}
#endif
#endif
