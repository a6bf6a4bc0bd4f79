// SPDX-License-Identifier: GPL-2.0-or-later
// Puts received frames back into decoding order: each one waits for earlier ones, which may still
// be repaired, until it is `hold` old. A frame that comes after a later one has left is refused.
// Holds at most RECORD_ORDER_MAX frames; then the first one leaves.
//
// Where the sender changes to another size, both sizes may have the same pictures: the old size may
// already be ahead of the new one's key frame, as separate threads encode them.
//
//   The law.
//     - From a key frame on its size is followed; frames of other sizes give way. A key frame of
//       another size is followed if it was sent after the last one, even if it comes too late:
//       all later frames depend on it.
//     - A frame gives way to a held key frame of the next size if that is of the same picture or an
//       earlier one: the next size has the frame's picture, too.
//     - But if B frames that are shown before that key frame may depend on the frame, it stays, and
//       is shown `before` the key frame's picture.
#ifndef WEIR_MEDIA_RECORD_POLICY_RECORD_ORDER_H
#define WEIR_MEDIA_RECORD_POLICY_RECORD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "common/base/usec.h"

DECLS_BEGIN

enum { RECORD_ORDER_MAX = 128 };

struct record_turn {
    int64_t slot;   // place in decoding order; of a key frame, the same as its number
    int64_t number; // of the picture
    int size_id;
    bool key;
    uint32_t written_us; // when the sender wrote it; modulo 2^32
    void *frame;
};

struct record_order {
    usec_t hold;
    int64_t left; // slot of the last frame that left and did not give way; INT64_MIN: none
    bool has_key;
    struct record_turn key; // the last key frame that left and did not give way; without `frame`
    int count;
    struct record_held {
        struct record_turn turn;
        usec_t due;
    } held[RECORD_ORDER_MAX]; // in ascending order of slots, then of numbers, then of arrival
};

struct record_leaving {
    void *frame;    // the caller owns it
    bool gives_way; // it must not be recorded
    int64_t before; // it must be shown before this picture, not at its own time; -1: none
};

void record_order_init(struct record_order *o, usec_t hold);
// Adds a frame. Returns false if it is too late, or a duplicate: the caller keeps it. The caller
// then pulls; there must be room (record_order_pull with `all` makes some).
bool record_order_push(struct record_order *o, const struct record_turn *t, usec_t now);
// Returns true if a frame leaves, the next one that is due. `all`: does not wait.
bool record_order_pull(struct record_order *o, bool all, usec_t now, struct record_leaving *out);

DECLS_END
#endif
