// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/action.h"

#include <stdio.h>

static const struct {
    const char *what;
    const char *keys;
    bool repeats;
} rows[ACTIONS] = {
    [ACTION_PAUSE] = {"pause, or go on", "space, click", false},
    [ACTION_STEP] = {"one picture on", ".", true},
    [ACTION_BACK] = {"10 s back", "left", true},
    [ACTION_ON] = {"10 s on", "right", true},
    [ACTION_FASTER] = {"fast forward", "]", true},
    [ACTION_SLOWER] = {"rewind", "[", true},
    [ACTION_SPEED_UP] = {"play faster", ">", true},
    [ACTION_SPEED_DOWN] = {"play slower", "<", true},
    [ACTION_NORMAL] = {"normal play; live", "backspace, End", false},
    [ACTION_LOUDER] = {"volume up", "up, 0, wheel", true},
    [ACTION_QUIETER] = {"volume down", "down, 9, wheel", true},
    [ACTION_MUTE] = {"audio off, or on", "m", false},
    [ACTION_SUBTITLES] = {"next subtitles, or none", "v", false},
    [ACTION_AUDIO_TRACK] = {"next audio track", "#", false},
    [ACTION_CHOOSE_SUBTITLES] = {"choose subtitles", "V", false},
    [ACTION_CHOOSE_AUDIO] = {"choose an audio track", "a", false},
    [ACTION_LEVELS] = {"choose a level", "l", false},
    [ACTION_LEVEL_UP] = {"one level higher", "+", true},
    [ACTION_LEVEL_DOWN] = {"one level lower", "-", true},
    [ACTION_TRANSPORTS] = {"choose a transport", "t", false},
    [ACTION_CHANNELS] = {"choose a channel or film", "c", false},
    [ACTION_NEXT] = {"next channel or film", "PageUp", true},
    [ACTION_PREVIOUS] = {"previous channel or film", "PageDown", true},
    [ACTION_STOP] = {"stop", "x", false},
    [ACTION_PANEL] = {"panel", "i", false},
    [ACTION_FULL_SCREEN] = {"full screen, or window", "f, double click", false},
    [ACTION_SNAPSHOT] = {"save the picture", "s", false},
    [ACTION_KEYS] = {"this menu", "?, h, F1, right click", false},
    [ACTION_LEAVE] = {"close, leave full screen, quit", "Esc", false},
    [ACTION_QUIT] = {"quit", "q", false},
};

void menu_of_actions(struct menu *m)
{
    *m = (struct menu){.title = "Keys", .current = -1};
    for (int a = 0; a < ACTIONS; a++) {
        struct menu_item *item = &m->items[m->count++];
        item->value = a;
        snprintf(item->text, MENU_TEXT, "%s", rows[a].what);
        snprintf(item->detail, MENU_TEXT, "%s", rows[a].keys);
    }
}

bool action_repeats(enum action a)
{
    return a >= 0 && a < ACTIONS && rows[a].repeats;
}
