// SPDX-License-Identifier: GPL-2.0-or-later
// One viewing, from connecting to the report: its successive connections, and the objects that
// outlive them. All network work, the playout buffer and the QoE stats run on a loop with a thread
// of its own. Decoding and comparing have a thread each; the display has the main thread. They
// exchange data only by bounded queues, so a stalled network cannot block the window, and a slow
// display cannot block the network.
#ifndef WEIR_PLAYER_SESSION_VIEWING_H
#define WEIR_PLAYER_SESSION_VIEWING_H

#include <stdio.h>

#include "media/source/source.h"
#include "player/options/play_options.h"
#include "player/ui/display.h"

#ifdef __cplusplus
extern "C" {
#endif

struct viewing;

// Call all on the main thread, in this order. `options` is borrowed; `events` (may be NULL) too;
// `reference` (may be NULL) is taken over.
struct viewing *viewing_new(const struct play_options *options, FILE *events,
                            struct source *reference); // NULL: failed (logged)
// The configuration of a display for this viewing.
struct display_config viewing_display_config(struct viewing *v);
// Starts the threads. The display's queue is closed when the viewing has ended. 0 or ERR_IO
// (logged).
int viewing_start(struct viewing *v, struct display *display);
// The display has failed: ends the viewing.
void viewing_fail(struct viewing *v);
// Call after the display has returned: waits for the threads, writes all results, prints the
// summary. Returns an exit code.
int viewing_finish(struct viewing *v);
void viewing_free(
    struct viewing *v); // NULL is fine; call it after viewing_finish, or without viewing_start

#ifdef __cplusplus
}
#endif
#endif
