// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/start_list.h"

#include <stdio.h>
#include <string.h>

void start_list_add_recent(struct start_list *l, const char *url)
{
    if (l->recent == START_RECENT || l->count == START_ITEMS)
        return;
    struct start_item *at = &l->items[l->recent];
    memmove(at + 1, at, (size_t)(l->count - l->recent) * sizeof(*at));
    snprintf(at->url, sizeof(at->url), "%s", url);
    at->name[0] = '\0';
    l->selected += l->selected >= l->recent;
    l->recent++;
    l->count++;
}

void start_list_set_found(struct start_list *l, const struct start_item *found, int count)
{
    char url[URL_MAX_TEXT] = "";
    bool was_found = l->selected >= l->recent;
    if (was_found)
        memcpy(url, l->items[l->selected].url, sizeof(url));
    count = count < START_FOUND ? count : START_FOUND;
    memcpy(&l->items[l->recent], found, (size_t)count * sizeof(*found));
    l->count = l->recent + count;
    for (int i = l->recent; was_found && i < l->count; i++)
        if (strcmp(l->items[i].url, url) == 0) {
            l->selected = i;
            return;
        }
    if (was_found)
        l->selected = -1;
}

void start_list_type(struct start_list *l, const char *utf8)
{
    size_t used = strlen(l->field);
    while (*utf8 == ' ' || *utf8 == '\t' || *utf8 == '\n' || *utf8 == '\r')
        utf8++;
    size_t len = 0;
    while ((unsigned char)utf8[len] >= ' ' && utf8[len] != 127)
        len++;
    while (len && utf8[len - 1] == ' ')
        len--;
    l->selected = -1;
    if (used + len >= sizeof(l->field))
        return;
    memcpy(l->field + used, utf8, len);
    l->field[used + len] = '\0';
}

void start_list_erase(struct start_list *l, bool all)
{
    size_t len = all ? 0 : strlen(l->field);
    l->selected = -1;
    while (len && (l->field[len - 1] & 0xc0) == 0x80) // the rest of a character
        len--;
    l->field[len ? len - 1 : 0] = '\0';
}

void start_list_move(struct start_list *l, int by)
{
    int to = l->selected + by;
    l->selected = to < -1 ? -1 : to >= l->count ? l->count - 1 : to;
}

bool start_list_chosen(const struct start_list *l, char out[URL_MAX_TEXT])
{
    const char *text = l->selected < 0 ? l->field : l->items[l->selected].url;
    const char *scheme = strstr(text, "://") ? "" : "rtsp://";
    return *text && snprintf(out, URL_MAX_TEXT, "%s%s", scheme, text) < URL_MAX_TEXT;
}
