// SPDX-License-Identifier: GPL-2.0-or-later
// Compares each picture shown with its source, on a thread of its own, and keeps some for a contact
// sheet. A picture is scaled to the source's size, so that a lower level's loss of detail counts.
// Playback never waits for the comparison. Its queue is bounded to about a second of 1280x720 at 30
// frames a second, enough for a machine that is busy for a moment. Further pictures are skipped and
// counted. A test picture's source is the frame of the number in the picture, which differs from
// the stream's if this shows the past, or its origin began again (pattern_numbers.h). If one
// picture alone differs, it is the wrong one, and is compared with the frame that belongs there.
#ifndef WEIR_PLAYER_COMPARE_PICTURE_COMPARE_H
#define WEIR_PLAYER_COMPARE_PICTURE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/decls.h"
#include "media/picture/picture.h"
#include "media/source/source.h"
#include "player/compare/contact_sheet.h"

DECLS_BEGIN

enum {
    PICTURE_COMPARE_QUEUE_PICTURES = 64,
    PICTURE_COMPARE_QUEUE_BYTES = 48 << 20, // of planes; one picture always fits
    PICTURE_COMPARE_MAX_GAP = 300, // frames; of a longer gap the first frames are not compared
};

struct measured {
    int64_t number; // the stream's number of the source's frame
    int64_t shown;  // number of the picture compared with it; if below `number`, that picture was
                    // still on the screen
    double mse_y;
    double ssim_y;
};

struct picture_compare_config {
    struct contact_sheet
        *sheet; // borrowed; NULL: none. Used by the thread alone until picture_compare_free
    bool test;  // the source is the built-in test picture ...
    int width;  // ... of this size
    int height;
    struct fps fps;
    struct source *reference; // taken over; NULL unless the source is also a local file
    bool fills; // compares frames that were not shown with the picture on the screen at their time
    // Called on the comparing thread for each picture compared. Returns false if the result could
    // not be passed on: the picture then counts as skipped.
    bool (*on_measured)(void *ctx, const struct measured *m);
    void *ctx;
};

struct picture_compare;

struct picture_compare *picture_compare_new(
    const struct picture_compare_config *config); // NULL: logged; the reference is freed
// A picture was shown at `at`. Takes a reference of its own, or skips the picture. Any one thread.
void picture_compare_push(struct picture_compare *m, struct picture *p, usec_t at);
// Ends the thread when the queue is empty, or at `deadline`. Returns the number of pictures that
// should have been compared and were not. No push may follow.
uint64_t picture_compare_finish(struct picture_compare *m, usec_t deadline);
void picture_compare_free(struct picture_compare *m); // NULL is fine; finishes at once unless
                                                      // picture_compare_finish was called

DECLS_END
#endif
