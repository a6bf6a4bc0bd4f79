// SPDX-License-Identifier: GPL-2.0-or-later
// A list over the picture from which the viewer chooses one item. It scrolls if not all items fit.
#ifndef WEIR_PLAYER_UI_MODEL_MENU_H
#define WEIR_PLAYER_UI_MODEL_MENU_H

#include "common/base/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MENU_ITEMS = LADDER_MAX_LEVELS, MENU_TEXT = 96 };

struct menu_item {
    char text[MENU_TEXT];
    char detail[MENU_TEXT];
    int value; // the level, or the index of the transport
};

struct menu {
    const char *title; // static
    int count;
    struct menu_item items[MENU_ITEMS];
    int selected;
    int current; // item in use now; -1: none of them
};

// Fills the menu with the levels, the highest first.
void menu_of_levels(struct menu *m, const struct ladder *ladder, int current);
// Fills the menu with transports. Values are indices of `names`; each detail is shown up to its
// first semicolon. `current` is the transport in use, with or without parameters.
void menu_of_transports(struct menu *m, const char *const names[], const char *const details[],
                        int count, const char *current);
void menu_move(struct menu *m, int by); // stops at the ends
// Returns the first item shown if `visible` items fit.
int menu_first(const struct menu *m, int visible);

#ifdef __cplusplus
}
#endif
#endif
