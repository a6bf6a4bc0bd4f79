// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the pictures that were shown, on a thread of its own: compares each with its source
// (scaled to the source's size, so that a lower level pays for its loss of detail), and keeps some
// for a contact sheet. Playback never waits for it. What waits to be looked at is bounded: about a
// second of 1280x720 at 30 frames a second, which a machine that is busy for a moment needs. What
// comes on top of that is left out and counted.
#ifndef WEIR_PLAYER_COMPARE_PICTURE_COMPARE_H
#define WEIR_PLAYER_COMPARE_PICTURE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "media/picture/picture.h"
#include "media/source/source.h"
#include "player/compare/contact_sheet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PICTURE_COMPARE_QUEUE_PICTURES = 64,
    PICTURE_COMPARE_QUEUE_BYTES = 48 << 20, // of planes; one picture may always wait
    PICTURE_COMPARE_MAX_GAP = 300,          // frames; the first of a longer gap are passed over
};

struct measured {
    int64_t number; // of the source's frame
    int64_t shown;  // of the picture compared with it; less than number: it stood in its place
    double mse_y;
    double ssim_y;
};

struct picture_compare_config {
    struct contact_sheet
        *sheet; // borrowed; NULL: none. The thread's alone until picture_compare_free
    bool test;  // the source is the built-in test picture ...
    int width;  // ... of this size
    int height;
    struct fps fps;
    struct source
        *reference; // owned from now on; NULL unless the source is a file that is here too
    bool fills;     // frames that were not shown are compared with the picture that stood meanwhile
    // On the measuring thread, for each picture compared. False: it could not be told, and counts
    // as skipped.
    bool (*on_measured)(void *ctx, const struct measured *m);
    void *ctx;
};

struct picture_compare;

struct picture_compare *picture_compare_new(
    const struct picture_compare_config *config); // NULL: logged; the reference is freed
// A picture was shown at `at`. Takes a reference of its own, or leaves it out. Any one thread.
void picture_compare_push(struct picture_compare *m, struct picture *p, usec_t at);
// Ends the thread, after what waits was looked at, or at `deadline`. Returns how many pictures that
// should have been compared were not. Nothing may be pushed any more.
uint64_t picture_compare_finish(struct picture_compare *m, usec_t deadline);
void picture_compare_free(
    struct picture_compare *m); // NULL is fine; finishes at once if nobody did

#ifdef __cplusplus
}
#endif
#endif
