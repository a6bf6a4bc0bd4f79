// SPDX-License-Identifier: GPL-2.0-or-later
// One viewing, from connecting to the report: its successive connections, and the objects that
// outlive them. All network work, the playout buffer and the QoE stats run on a loop with a thread
// of its own. Decoding and comparing have a thread each; the display has the caller's, called the
// main thread here. They exchange data only by bounded queues, so a stalled network cannot block
// the window, and a slow display cannot block the network.
#ifndef WEIR_PLAYER_SESSION_VIEWING_H
#define WEIR_PLAYER_SESSION_VIEWING_H

#include <stdio.h>

#include "common/base/decls.h"
#include "media/source/source.h"
#include "player/audio/audio_output.h"
#include "player/options/play_options.h"
#include "player/session/commands.h"
#include "player/ui/display.h"
#include "stream/qoe/qoe_figures.h"

DECLS_BEGIN

struct viewing;

struct viewing_config {
    const struct play_options *options; // borrowed
    FILE *events;                       // borrowed; NULL: none
    struct source *reference;           // taken over, on failure too; NULL: none
    struct audio_outlet audio;
    // The process serves this viewing only: the signals that stop a program end it, and CAP_NET_RAW
    // is dropped after its use.
    bool owns_process;
    // A URL that names a folder: its list of films is written here; NULL: it ends the viewing as
    // refused. Borrowed.
    FILE *list;
};

// Call all on the main thread, in this order; viewing_new and viewing_free may be called on
// another. Returns NULL on failure (logged).
struct viewing *viewing_new(const struct viewing_config *config);
// The configuration of a display for this viewing.
struct display_config viewing_display_config(struct viewing *v);
// Starts the threads. The display's queue is closed when the viewing has ended. 0 or ERR_IO
// (logged).
int viewing_start(struct viewing *v, struct display *display);
// The display has failed: ends the viewing.
void viewing_fail(struct viewing *v);
// Any thread, from viewing_new to viewing_free: a request of the viewer; the end of the viewing,
// which may be requested once.
void viewing_post(struct viewing *v, const struct command *c);
void viewing_quit(struct viewing *v);
// Call after the display has returned: waits for the threads, writes all results. Returns an exit
// code.
int viewing_finish(struct viewing *v);
// After viewing_finish; borrowed until viewing_free.
const struct qoe_json *viewing_report(const struct viewing *v);
void viewing_free(
    struct viewing *v); // NULL is fine; call it after viewing_finish, or without viewing_start

DECLS_END
#endif
