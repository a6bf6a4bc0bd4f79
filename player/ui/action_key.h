// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of the window.
#ifndef WEIR_PLAYER_UI_ACTION_KEY_H
#define WEIR_PLAYER_UI_ACTION_KEY_H

#include <SDL.h>

#include "common/base/decls.h"
#include "player/ui/model/action.h"

DECLS_BEGIN

// Returns what the key does; ACTION_NONE: nothing, or it is held and does not repeat.
enum action action_of_key(const SDL_KeyboardEvent *key);

DECLS_END
#endif
