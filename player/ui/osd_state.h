// SPDX-License-Identifier: GPL-2.0-or-later
// What the window is told four times a second, for all that stands over the picture.
#ifndef WEIR_PLAYER_UI_OSD_STATE_H
#define WEIR_PLAYER_UI_OSD_STATE_H

#include "common/base/level.h"
#include "player/ui/model/overlay_message.h"
#include "player/ui/model/panel_model.h"

#ifdef __cplusplus
extern "C" {
#endif

struct osd_state {
    unsigned samples; // told so far
    struct panel_sample panel;
    struct overlay_message notice;
    bool ended; // the notice is the last
    struct ladder ladder;
    int level;       // of the picture shown; -1: none yet
    bool may_choose; // a level
    bool raw;        // transports over TCP segments of our own are possible
    double position; // of stored media, seconds; NaN: not known
    double duration; // likewise; < 0: live
    char toast[200]; // told once, for a while
    unsigned toasts; // so far
};

#ifdef __cplusplus
}
#endif
#endif
