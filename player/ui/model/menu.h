// SPDX-License-Identifier: GPL-2.0-or-later
// A list over the picture, of which the viewer takes one. More than fit scroll.
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
    int value; // what it stands for
};

struct menu {
    const char *title; // static
    int count;
    struct menu_item items[MENU_ITEMS];
    int selected;
    int current; // what holds now; -1: none of them
};

// The highest level first.
void menu_of_levels(struct menu *m, const struct ladder *ladder, int current);
// Values are indices of `names`; of `details` the part before the first semicolon is shown.
// `current`: with parameters or not.
void menu_of_transports(struct menu *m, const char *const names[], const char *const details[],
                        int count, const char *current);
void menu_move(struct menu *m, int by); // stops at the ends
// The first item shown when `visible` fit.
int menu_first(const struct menu *m, int visible);

#ifdef __cplusplus
}
#endif
#endif
