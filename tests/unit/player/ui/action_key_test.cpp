// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/action_key.h"

#include <catch2/catch.hpp>

TEST_CASE("action_key: what a key does")
{
    struct {
        SDL_Keycode sym;
        int mod;
        bool held;
        enum action action;
    } const table[] = {
        {SDLK_SPACE, 0, false, ACTION_PAUSE},
        {SDLK_SPACE, 0, true, ACTION_NONE},
        {SDLK_UP, 0, false, ACTION_LOUDER},
        {SDLK_UP, 0, true, ACTION_LOUDER},
        {SDLK_DOWN, 0, false, ACTION_QUIETER},
        {SDLK_EQUALS, 0, false, ACTION_LEVEL_UP},
        {SDLK_3, 0, false, ACTION_NONE},
        {SDLK_3, KMOD_LSHIFT, false, ACTION_AUDIO_TRACK},
        {SDLK_SLASH, 0, false, ACTION_NONE},
        {SDLK_SLASH, KMOD_RSHIFT, false, ACTION_KEYS},
        {SDLK_QUESTION, 0, false, ACTION_KEYS},
        {SDLK_LEFT, 0, true, ACTION_BACK},
        {SDLK_PERIOD, 0, true, ACTION_STEP},
        {SDLK_PERIOD, KMOD_LSHIFT, true, ACTION_SPEED_UP},
        {SDLK_COMMA, 0, false, ACTION_NONE},
        {SDLK_COMMA, KMOD_LSHIFT, false, ACTION_SPEED_DOWN},
        {SDLK_LESS, 0, false, ACTION_SPEED_DOWN},
        {SDLK_LESS, KMOD_LSHIFT, false, ACTION_SPEED_UP},
        {SDLK_v, 0, false, ACTION_SUBTITLES},
        {SDLK_v, KMOD_LSHIFT, false, ACTION_CHOOSE_SUBTITLES},
        {SDLK_ESCAPE, 0, false, ACTION_LEAVE},
        {SDLK_q, 0, true, ACTION_NONE},
        {SDLK_F12, 0, false, ACTION_NONE},
    };
    for (const auto &row : table) {
        SDL_KeyboardEvent e = {};
        e.keysym.sym = row.sym;
        e.keysym.mod = (Uint16)row.mod;
        e.repeat = row.held;
        CAPTURE(row.sym, row.mod, row.held);
        CHECK(action_of_key(&e) == row.action);
    }
}
