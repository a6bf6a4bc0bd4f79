// SPDX-License-Identifier: GPL-2.0-or-later
// One viewing, from connecting to the report. All network work, the playout buffer and the QoE
// figures live on a loop of their own thread; decoding and measuring have a thread each; the
// display has the main thread. They meet in bounded queues only, so a stalled network cannot freeze
// the window, nor a slow picture the network.
#ifndef WEIR_PLAYER_SESSION_PLAYER_H
#define WEIR_PLAYER_SESSION_PLAYER_H

#include <stdio.h>

#include "media/source/source.h"
#include "player/options/play_options.h"
#include "player/ui/display.h"

#ifdef __cplusplus
extern "C" {
#endif

struct player;

// All on the main thread, in this order. `options` is borrowed; `events` (may be NULL) too;
// `reference` (may be NULL) is taken over.
struct player *player_new(const struct play_options *options, FILE *events,
                          struct source *reference); // NULL: logged
// What a display for this player needs to know.
struct display_config player_display_config(struct player *p);
// Starts the threads. The display's queue is closed when the viewing has ended. 0 or ERR_IO
// (logged).
int player_start(struct player *p, struct display *display);
// The display has failed: end.
void player_fail(struct player *p);
// After the display has returned: waits for the threads, writes all results, prints the summary.
// Returns an exit code.
int player_finish(struct player *p);
void player_free(struct player *p); // NULL is fine; after player_finish, or without player_start

#ifdef __cplusplus
}
#endif
#endif
