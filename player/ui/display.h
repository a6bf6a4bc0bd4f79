// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the pictures: in a window, or headless, where a clock alone decides when each counts as
// shown.
#ifndef WEIR_PLAYER_UI_DISPLAY_H
#define WEIR_PLAYER_UI_DISPLAY_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "player/ui/osd_state.h"
#include "player/video/render_queue.h"

DECLS_BEGIN

enum display_command {
    DISPLAY_QUIT,
    DISPLAY_PAUSE, // toggles: pause or resume
    DISPLAY_LEVEL_UP,
    DISPLAY_LEVEL_DOWN,
    DISPLAY_SNAPSHOT,
    DISPLAY_MUTE, // toggles: mute or unmute
    DISPLAY_NEXT, // the next channel
    DISPLAY_PREVIOUS,
    DISPLAY_STOP,
    DISPLAY_FASTER,   // fast forward, rewind: one step up
    DISPLAY_SLOWER,   // one step down
    DISPLAY_SPEED_UP, // playing, one step
    DISPLAY_SPEED_DOWN,
    DISPLAY_NORMAL, // normal play; of live media: the present
    DISPLAY_LOUDER,
    DISPLAY_QUIETER,
    DISPLAY_STEP,        // pause, and in a pause one picture on
    DISPLAY_SUBTITLES,   // the next track of subtitles, or none
    DISPLAY_AUDIO_TRACK, // the next audio track
    DISPLAY_RETRY,       // connect at once to a server that was lost or could not be opened
    DISPLAY_FAILED,      // run() failed; its caller posts this
};

struct display_config {
    struct render_queue *queue; // borrowed
    bool full_screen;
    play_frame_fn *on_shown; // with shown_ctx; takes the frame; main thread
    void *shown_ctx;
    // What the viewer requests; main thread.
    void (*on_command)(void *ctx, enum display_command command);
    // Chosen in the menu; MENU_AUTOMATIC (-1): the sender or the player chooses.
    void (*on_level)(void *ctx, int level);
    void (*on_transport)(void *ctx, const char *name); // chosen in the menu
    void (*on_channel)(void *ctx, int channel);        // chosen in the menu, from 1
    // Chosen in a menu: a track of audio or of subtitles, from 1; 0: no subtitles.
    void (*on_track)(void *ctx, bool audio, int track);
    // Seek to `seconds` of the media; relative: by `seconds`.
    void (*on_seek)(void *ctx, bool relative, double seconds);
    void *ctx; // of all callbacks but on_shown
};

struct display;

struct display_ops {
    // Shows the queue's pictures until the queue is closed. Main thread. 0 or ERR_IO (logged).
    int (*run)(struct display *d);
    // Pictures of about this size will follow: opens or resizes the window. Any thread; returns at
    // once.
    void (*expect)(struct display *d, int width, int height);
    // Sets the window's title. Any thread; returns at once.
    void (*set_status)(struct display *d, const char *text);
    // Sets what is drawn over the picture. Any thread; returns at once.
    void (*set_osd)(struct display *d, const struct osd_state *state);
    void (*free)(struct display *d); // after run
};

struct display { // embedded first
    const struct display_ops *ops;
    struct display_config config;
    bool list_only; // no picture can be shown, but the user did not request --headless
};

// Main thread. NULL on failure (logged).
struct display *display_window_new(const struct display_config *config);
struct display *display_headless_new(const struct display_config *config);

DECLS_END
#endif
