// SPDX-License-Identifier: GPL-2.0-or-later
// The state of all that is drawn over the picture, sent to the window four times a second.
#ifndef WEIR_PLAYER_UI_OSD_STATE_H
#define WEIR_PLAYER_UI_OSD_STATE_H

#include "common/base/decls.h"
#include "common/base/level.h"
#include "common/wire/subtitle.h"
#include "player/ui/model/key_message.h"
#include "player/ui/model/menu.h"
#include "player/ui/model/overlay_message.h"
#include "player/ui/model/panel_model.h"

DECLS_BEGIN

struct osd_state {
    unsigned samples; // number of panel samples so far; `panel` is the newest
    struct panel_sample panel;
    struct overlay_message message;
    bool ended; // the viewing has ended: `message` is the last message
    struct ladder ladder;
    int level;           // of the picture shown; -1: none yet
    bool may_choose;     // the viewer may choose the level
    bool may_automatic;  // the sender or the player can choose it
    bool automatic;      // it does so now
    bool level_policy;   // --adapt goddard chooses it
    bool auto_transport; // the transport was chosen from a list
    bool paused;         // by the viewer
    bool raw;            // transports over raw TCP segments are possible
    struct key_volume volume;
    struct menu_tracks subtitle_tracks; // of the film
    struct menu_tracks audio_tracks;    // to choose from; none: there is no choice
    double position;                    // of stored media, seconds; NaN: not known
    double scale;                       // of the play; 1: normal
    double speed;                       // at which a film is played
    double duration;                    // of stored media, seconds; < 0: live
    double kept;     // of live media, seconds that the server goes back; 0: not at all
    double behind;   // of live media, seconds behind the present
    char toast[200]; // a message shown for a few seconds
    unsigned toasts; // number of toasts so far
    struct subtitle_set subtitles; // of the chosen track; empty: none
    // What the viewer may watch; NULL: only one thing. Borrowed until the viewing has ended, and
    // constant.
    const struct playlist *channels;
    int channel;     // that plays; 0: none
    unsigned choose; // incremented when the viewer must choose one
};

DECLS_END
#endif
