// SPDX-License-Identifier: GPL-2.0-or-later
// Where pictures are shown. Two kinds: a window, and a clock that stands for one.
#ifndef WEIR_PLAYER_UI_DISPLAY_H
#define WEIR_PLAYER_UI_DISPLAY_H

#include <stdbool.h>

#include "player/ui/osd_state.h"
#include "player/video/render_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum display_command {
    DISPLAY_QUIT,
    DISPLAY_PAUSE, // or go on
    DISPLAY_LEVEL_UP,
    DISPLAY_LEVEL_DOWN,
    DISPLAY_SNAPSHOT,
    DISPLAY_MUTE,   // or not any more
    DISPLAY_FAILED, // `run` did; its caller's to tell
};

struct display_config {
    struct render_queue *queue; // borrowed
    bool full_screen;
    play_frame_fn *on_shown; // with shown_ctx; takes the frame; the main thread's
    void *shown_ctx;
    void (*on_command)(void *ctx, enum display_command command); // likewise
    void (*on_level)(void *ctx, int level);                      // of the menu; likewise
    void (*on_transport)(void *ctx, const char *name);           // likewise
    // Go to `seconds` of the media, or by as many; likewise.
    void (*on_seek)(void *ctx, bool relative, double seconds);
    void *ctx; // of all but on_shown
};

struct display;

struct display_ops {
    // Shows what the queue gives until the queue is closed. The main thread's. 0 or ERR_IO
    // (logged).
    int (*run)(struct display *d);
    // Pictures will come, of about this size: time to open a window, or to give it another size.
    // Any thread; returns at once.
    void (*expect)(struct display *d, int width, int height);
    // A line about what goes on. Any thread; returns at once.
    void (*set_status)(struct display *d, const char *text);
    // What stands over the picture. Likewise.
    void (*set_osd)(struct display *d, const struct osd_state *state);
    void (*free)(struct display *d); // after run
};

struct display { // embedded first
    const struct display_ops *ops;
    struct display_config config;
    bool list_only; // no picture can be shown, though the user wants to see one
};

// On the main thread. NULL: logged.
struct display *display_window_new(const struct display_config *config);
struct display *display_headless_new(const struct display_config *config);

#ifdef __cplusplus
}
#endif
#endif
