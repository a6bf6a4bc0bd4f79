// SPDX-License-Identifier: GPL-2.0-or-later
// The buttons of the bar at the bottom of the window: what they say, what they do, where they
// stand.
#ifndef WEIR_PLAYER_UI_MODEL_BAR_BUTTONS_H
#define WEIR_PLAYER_UI_MODEL_BAR_BUTTONS_H

#include "common/base/decls.h"
#include "player/ui/model/action.h"
#include "player/ui/model/osd_layout.h"

DECLS_BEGIN

enum { BAR_BUTTONS = 8, BAR_LABEL = 24 };

struct bar_facts {
    bool paused;
    bool has_audio; // with a device for it
    bool muted;
    int volume;         // percent
    bool has_subtitles; // there is a track
    bool has_tracks;    // of audio, to choose from
    bool may_choose;    // the level
    bool has_list;      // of channels or films
    bool full_screen;
};

struct bar_button {
    enum action action;
    char label[BAR_LABEL];
    struct osd_rect area;
};

struct bar_buttons {
    int count;
    struct bar_button button[BAR_BUTTONS];
};

// Fills the buttons of what the viewer can do now, and places them in `row`: pause and volume on
// the left, the others on the right, with a margin of the text height `px` on either side of a
// label. Where they do not all fit, those that viewers need least are left out. `measure` returns
// the width of a text.
void bar_buttons_place(struct bar_buttons *out, const struct bar_facts *f,
                       const struct osd_rect *row, int px,
                       int (*measure)(void *ctx, const char *text), void *ctx);
// Returns the action of the button at a point, or ACTION_NONE.
enum action bar_buttons_hit(const struct bar_buttons *b, int x, int y);

DECLS_END
#endif
