// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/action_key.h"

// Keyboards differ in where + = # ? stand: SDL tells the key, not the character.
static const struct {
    SDL_Keycode key;
    enum action action;
    bool shift; // with Shift only; such a row stands before the one without
} rows[] = {
    {SDLK_SPACE, ACTION_PAUSE, false},
    {SDLK_AUDIOPLAY, ACTION_PAUSE, false},
    {SDLK_GREATER, ACTION_SPEED_UP, false},
    {SDLK_PERIOD, ACTION_SPEED_UP, true},
    {SDLK_LESS, ACTION_SPEED_UP, true}, // one key has both on some keyboards
    {SDLK_LESS, ACTION_SPEED_DOWN, false},
    {SDLK_COMMA, ACTION_SPEED_DOWN, true},
    {SDLK_PERIOD, ACTION_STEP, false},
    {SDLK_LEFT, ACTION_BACK, false},
    {SDLK_RIGHT, ACTION_ON, false},
    {SDLK_RIGHTBRACKET, ACTION_FASTER, false},
    {SDLK_LEFTBRACKET, ACTION_SLOWER, false},
    {SDLK_BACKSPACE, ACTION_NORMAL, false},
    {SDLK_END, ACTION_NORMAL, false},
    {SDLK_UP, ACTION_LOUDER, false},
    {SDLK_0, ACTION_LOUDER, false},
    {SDLK_KP_0, ACTION_LOUDER, false},
    {SDLK_VOLUMEUP, ACTION_LOUDER, false},
    {SDLK_DOWN, ACTION_QUIETER, false},
    {SDLK_9, ACTION_QUIETER, false},
    {SDLK_KP_9, ACTION_QUIETER, false},
    {SDLK_VOLUMEDOWN, ACTION_QUIETER, false},
    {SDLK_m, ACTION_MUTE, false},
    {SDLK_AUDIOMUTE, ACTION_MUTE, false},
    {SDLK_v, ACTION_CHOOSE_SUBTITLES, true},
    {SDLK_v, ACTION_SUBTITLES, false},
    {SDLK_a, ACTION_CHOOSE_AUDIO, false},
    {SDLK_HASH, ACTION_AUDIO_TRACK, false},
    {SDLK_3, ACTION_AUDIO_TRACK, true},
    {SDLK_l, ACTION_LEVELS, false},
    {SDLK_PLUS, ACTION_LEVEL_UP, false},
    {SDLK_KP_PLUS, ACTION_LEVEL_UP, false},
    {SDLK_EQUALS, ACTION_LEVEL_UP, false},
    {SDLK_MINUS, ACTION_LEVEL_DOWN, false},
    {SDLK_KP_MINUS, ACTION_LEVEL_DOWN, false},
    {SDLK_t, ACTION_TRANSPORTS, false},
    {SDLK_c, ACTION_CHANNELS, false},
    {SDLK_PAGEUP, ACTION_NEXT, false},
    {SDLK_AUDIONEXT, ACTION_NEXT, false},
    {SDLK_PAGEDOWN, ACTION_PREVIOUS, false},
    {SDLK_AUDIOPREV, ACTION_PREVIOUS, false},
    {SDLK_x, ACTION_STOP, false},
    {SDLK_AUDIOSTOP, ACTION_STOP, false},
    {SDLK_i, ACTION_PANEL, false},
    {SDLK_f, ACTION_FULL_SCREEN, false},
    {SDLK_s, ACTION_SNAPSHOT, false},
    {SDLK_QUESTION, ACTION_KEYS, false},
    {SDLK_SLASH, ACTION_KEYS, true},
    {SDLK_h, ACTION_KEYS, false},
    {SDLK_F1, ACTION_KEYS, false},
    {SDLK_ESCAPE, ACTION_LEAVE, false},
    {SDLK_q, ACTION_QUIT, false},
};

enum action action_of_key(const SDL_KeyboardEvent *key)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].key != key->keysym.sym || (rows[i].shift && !(key->keysym.mod & KMOD_SHIFT)))
            continue;
        return !key->repeat || action_repeats(rows[i].action) ? rows[i].action : ACTION_NONE;
    }
    return ACTION_NONE;
}
