// SPDX-License-Identifier: GPL-2.0-or-later
// What the window without a URL offers: a field for one, the URLs that were played last, and the
// servers of this network. Pure.
#ifndef WEIR_PLAYER_UI_MODEL_START_LIST_H
#define WEIR_PLAYER_UI_MODEL_START_LIST_H

#include <stdbool.h>

#include "common/base/decls.h"
#include "common/wire/service_text.h"

DECLS_BEGIN

enum { START_RECENT = 16, START_FOUND = 64, START_ITEMS = START_RECENT + START_FOUND };

struct start_item {
    char url[URL_MAX_TEXT];
    char name[SERVICE_NAME_MAX]; // of a server; empty: a URL that was played
};

struct start_list { // all zero at first, but `selected`
    char field[URL_MAX_TEXT];
    int selected; // the item, -1: the field
    int count;
    int recent; // so many items, the first ones, were played
    struct start_item items[START_ITEMS];
};

// The URL was played; further ones were played before it. Beyond START_RECENT it is left out.
void start_list_add_recent(struct start_list *l, const char *url);
// Replaces the servers by those that were found now; the selected item stays, if it is there.
void start_list_set_found(struct start_list *l, const struct start_item *found, int count);
// Adds typed or pasted text to the field: its first line, without control characters and spaces
// around it. What does not fit is left out.
void start_list_type(struct start_list *l, const char *utf8);
void start_list_erase(struct start_list *l, bool all); // the last character, or all
void start_list_move(struct start_list *l, int by);    // stops at the ends
// Writes what was chosen: the selected item's URL, or the field's text, with "rtsp://" if it has no
// scheme. Returns false if there is none.
bool start_list_chosen(const struct start_list *l, char out[URL_MAX_TEXT]);

DECLS_END
#endif
