// SPDX-License-Identifier: GPL-2.0-or-later
// All that a viewer can do in the window, by a key, in the menu of all actions, or with a button of
// the bar.
#ifndef WEIR_PLAYER_UI_MODEL_ACTION_H
#define WEIR_PLAYER_UI_MODEL_ACTION_H

#include "common/base/decls.h"
#include "player/ui/model/menu.h"

DECLS_BEGIN

enum action {
    ACTION_NONE = -1,
    ACTION_PAUSE, // or go on
    ACTION_STEP,
    ACTION_BACK,
    ACTION_ON,
    ACTION_FASTER,
    ACTION_SLOWER,
    ACTION_SPEED_UP,
    ACTION_SPEED_DOWN,
    ACTION_NORMAL,
    ACTION_LOUDER,
    ACTION_QUIETER,
    ACTION_MUTE,
    ACTION_SUBTITLES,
    ACTION_AUDIO_TRACK,
    ACTION_CHOOSE_SUBTITLES, // opens the menu
    ACTION_CHOOSE_AUDIO,     // opens the menu
    ACTION_LEVELS,           // opens the menu
    ACTION_LEVEL_UP,
    ACTION_LEVEL_DOWN,
    ACTION_TRANSPORTS, // opens the menu
    ACTION_CHANNELS,   // opens the menu
    ACTION_NEXT,
    ACTION_PREVIOUS,
    ACTION_STOP,
    ACTION_PANEL,
    ACTION_FULL_SCREEN, // or back to a window
    ACTION_SNAPSHOT,
    ACTION_KEYS,  // opens the menu of all actions
    ACTION_LEAVE, // what is open, then full screen, then the player
    ACTION_QUIT,
    ACTIONS,
};

// Fills the menu with all actions and their keys; a value is an action.
void menu_of_actions(struct menu *m);
// Returns true if a key that is held repeats the action.
bool action_repeats(enum action a);

DECLS_END
#endif
