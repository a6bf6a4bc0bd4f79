// SPDX-License-Identifier: GPL-2.0-or-later
// What the two threads of a capture source exchange. The device's thread opens the device while it
// is wanted, and puts its pictures into a ring; the thread that reads the source takes them out. A
// full ring drops its oldest picture. Each function locks; any thread.
#ifndef WEIR_MEDIA_CAPTURE_CAPTURE_EXCHANGE_H
#define WEIR_MEDIA_CAPTURE_CAPTURE_EXCHANGE_H

#include "common/base/decls.h"
#include "media/capture/policy/retry_policy.h"
#include "media/picture/picture.h"

DECLS_BEGIN

enum { CAPTURE_RING = 4, CAPTURE_MAX_REASON = 512 };

struct captured {
    struct picture *picture; // one reference
    usec_t stamp;            // when it was taken, on the monotonic clock
};

struct capture_exchange;

struct capture_exchange *capture_exchange_new(void); // NULL: no memory
// Frees the pictures as well. Call it after both threads have stopped using it. NULL is fine.
void capture_exchange_free(struct capture_exchange *x);

// ---- The reader's thread ----

// Says whether the source has a viewer. Returns true if that changed: then the ring is empty.
bool capture_exchange_want(struct capture_exchange *x, bool wanted);
// Reads the stamp of the oldest picture. Returns false if there is none.
bool capture_exchange_oldest(struct capture_exchange *x, usec_t *stamp);
// Takes the oldest picture if its stamp is `stamp`. Returns false if another one is the oldest by
// now, or none.
bool capture_exchange_take(struct capture_exchange *x, usec_t stamp, struct captured *out);
// Waits for a picture, at most until `until`.
void capture_exchange_wait_picture(struct capture_exchange *x, usec_t until);
enum capture_view capture_exchange_view(struct capture_exchange *x, usec_t now);
// Writes why there is no picture, for the card.
void capture_exchange_reason(struct capture_exchange *x, char out[CAPTURE_MAX_REASON]);
// Ends the device's thread as soon as its call of the device returns.
void capture_exchange_stop(struct capture_exchange *x);

// ---- The device's thread ----

// Waits until the device is to be opened. *session counts how often it became wanted. Returns false
// if the thread is to end.
bool capture_exchange_wait_work(struct capture_exchange *x, unsigned *session);
void capture_exchange_opened(struct capture_exchange *x, unsigned session);
// Takes the reference. Returns true if this is the first picture after a failure.
bool capture_exchange_put(struct capture_exchange *x, struct captured c);
// Returns true if this is the first failure after a picture.
bool capture_exchange_failed(struct capture_exchange *x, const char *reason);

enum capture_turn {
    CAPTURE_READ,     // read the device again
    CAPTURE_UNWANTED, // close the device: it has no viewer, or the thread is to end
    CAPTURE_SILENT,   // close the device: it has given no picture for CAPTURE_SILENCE
};

// Waits between two reads of the device that was opened for `session`, until `until` unless the
// device is to be closed.
enum capture_turn capture_exchange_pause(struct capture_exchange *x, unsigned session,
                                         usec_t until);

DECLS_END
#endif
