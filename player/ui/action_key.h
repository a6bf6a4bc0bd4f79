// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of the window.
#ifndef WEIR_PLAYER_UI_ACTION_KEY_H
#define WEIR_PLAYER_UI_ACTION_KEY_H

#include <SDL.h>

#include "player/ui/model/action.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns what the key does; ACTION_NONE: nothing, or it is held and does not repeat.
enum action action_of_key(const SDL_KeyboardEvent *key);

#ifdef __cplusplus
}
#endif
#endif
