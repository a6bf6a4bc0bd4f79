// SPDX-License-Identifier: GPL-2.0-or-later
// A list over the picture from which the viewer chooses one item. It scrolls if not all items fit.
#ifndef WEIR_PLAYER_UI_MODEL_MENU_H
#define WEIR_PLAYER_UI_MODEL_MENU_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/base/level.h"
#include "player/policy/playlist.h"

DECLS_BEGIN

enum { MENU_ITEMS = PLAYLIST_MAX, MENU_TEXT = 96, MENU_AUTOMATIC = -1 };

struct menu_item {
    char text[MENU_TEXT];
    char detail[MENU_TEXT];
    int value; // the level, the index of the transport, or the channel, from 1; MENU_AUTOMATIC
};

struct menu {
    const char *title; // static
    int count;
    struct menu_item items[MENU_ITEMS];
    int selected;
    int current; // item in use now; -1: none of them
};

struct menu_levels {
    const struct ladder *ladder;
    int current;        // of the picture shown; -1: none yet
    bool may_automatic; // the sender or the player can choose the level
    bool automatic;     // it does so now
};
// Fills the menu: "automatic" (value MENU_AUTOMATIC) if that is possible, then the levels, the
// highest first.
void menu_of_levels(struct menu *m, const struct menu_levels *l);
struct menu_transports {
    const char *const *names;
    const char *const *details; // shown up to the first semicolon, if the menu has no own words
    int count;
    const char *current; // in use, with or without parameters
    bool automatic;      // it was chosen from a list
};
// Fills the menu: "auto", then the transports. A value is an index of `names`, or MENU_AUTOMATIC.
void menu_of_transports(struct menu *m, const struct menu_transports *t);
// Fills the menu with the channels; a value is a channel, from 1. `current`: the one that plays; 0:
// none.
void menu_of_channels(struct menu *m, const struct playlist *p, int current);
enum { MENU_TRACKS = 8, MENU_TRACK_NAME = 48 };
struct menu_tracks { // of audio or subtitles
    int count;
    int current; // from 1; 0: none
    char names[MENU_TRACKS][MENU_TRACK_NAME];
};
// Fills the menu with the tracks; a value is a track, from 1. Without `audio` they are of
// subtitles, behind "off", value 0.
void menu_of_tracks(struct menu *m, const struct menu_tracks *t, bool audio);
void menu_move(struct menu *m, int by); // stops at the ends
// Returns the first item shown if `visible` items fit.
int menu_first(const struct menu *m, int visible);

DECLS_END
#endif
