// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at the pictures that were shown, on a thread of its own that must never hold playback back:
// compares each with its source (scaled to the source's size, so that a lower level pays for its
// loss of detail), and keeps some for a contact sheet. Pictures that come faster than that can be
// done are counted and left out.
#ifndef WEIR_PLAYER_MEASURE_H
#define WEIR_PLAYER_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "media/picture.h"
#include "media/source.h"
#include "player/contact_sheet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MEASURE_QUEUE_PICTURES = 4 };

struct measured {
    int64_t number;
    double mse_y;
    double ssim_y;
};

struct measure_config {
    struct contact_sheet *sheet; // borrowed; NULL: none. The thread's alone until measure_free
    bool test;                   // the source is the built-in test picture ...
    int width;                   // ... of this size
    int height;
    struct fps fps;
    struct source
        *reference; // owned from now on; NULL unless the source is a file that is here too
    // On the measuring thread, for each picture compared. Takes over nothing.
    void (*on_measured)(void *ctx, const struct measured *m);
    void *ctx;
};

struct measure;

struct measure *
measure_new(const struct measure_config *config); // NULL: logged; the reference is freed
// A picture was shown at `at`. Takes a reference of its own. False: left out. Any thread.
bool measure_push(struct measure *m, struct picture *p, usec_t at);
// Finishes what waits, until `deadline` at most. NULL is fine.
void measure_free(struct measure *m, usec_t deadline);

#ifdef __cplusplus
}
#endif
#endif
