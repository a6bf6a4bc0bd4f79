// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/menu.h"

#include <stdio.h>
#include <string.h>

static struct menu_item *add(struct menu *m, int value)
{
    struct menu_item *item = &m->items[m->count++];
    *item = (struct menu_item){.value = value};
    return item;
}

static void select_current(struct menu *m)
{
    m->selected = m->current > 0 ? m->current : 0;
}

void menu_of_levels(struct menu *m, const struct menu_levels *l)
{
    *m = (struct menu){.title = "Level", .current = -1};
    if (l->may_automatic) {
        if (l->automatic)
            m->current = m->count;
        struct menu_item *item = add(m, MENU_AUTOMATIC);
        snprintf(item->text, MENU_TEXT, "automatic");
        snprintf(item->detail, MENU_TEXT, "follows the network");
    }
    for (int i = l->ladder->level_count - 1; i >= 0; i--) {
        const struct size_spec *size = &l->ladder->sizes[l->ladder->levels[i].size_id];
        bool shown = i == l->current;
        if (shown && m->current < 0)
            m->current = m->count;
        struct menu_item *item = add(m, i);
        snprintf(item->text, MENU_TEXT, "%d   %dx%d", i, size->width, size->height);
        snprintf(item->detail, MENU_TEXT, "%.4g frames/s, %.2f Mbit/s%s",
                 level_frame_rate(l->ladder, i), l->ladder->levels[i].bitrate_bps / 1e6,
                 shown && l->may_automatic && l->automatic ? ", now" : "");
    }
    select_current(m);
}

// What each transport is for. One that is not listed is described by its own help.
static const char *purpose(const char *name)
{
    static const char *const words[][2] = {
        {"minbuf", "TCP with a short queue: passes every firewall"},
        {"tcp", "plain TCP: for files and comparisons"},
        {"udp", "no congestion control: for networks that are never full"},
        {"mtp", "UDP that shares a link fairly with TCP"},
        {"mtp-raw", "mtp where UDP is blocked"},
        {"scream", "lowest delay for live video"},
        {"tfrc", "smooth rate next to TCP"},
        {"psp", "paced by what the receiver reports"},
        {"arc", "paced for one viewer on a slow link"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(name, words[i][0]) == 0)
            return words[i][1];
    }
    return NULL;
}

void menu_of_transports(struct menu *m, const struct menu_transports *t)
{
    *m = (struct menu){.title = "Transport", .current = t->automatic ? 0 : -1};
    struct menu_item *first = add(m, MENU_AUTOMATIC);
    size_t len = strcspn(t->current, ":");
    snprintf(first->text, MENU_TEXT, "auto");
    snprintf(first->detail, MENU_TEXT, "the best one that the network lets pass");
    for (int i = 0; i < t->count && m->count < MENU_ITEMS; i++) {
        bool used = strlen(t->names[i]) == len && strncmp(t->names[i], t->current, len) == 0;
        if (used && m->current < 0)
            m->current = m->count;
        struct menu_item *item = add(m, i);
        const char *words = purpose(t->names[i]);
        int cut = words ? (int)strlen(words) : (int)strcspn(t->details[i], ";");
        snprintf(item->text, MENU_TEXT, "%s", t->names[i]);
        snprintf(item->detail, MENU_TEXT, "%.*s%s", cut, words ? words : t->details[i],
                 used && t->automatic ? ", now" : "");
    }
    select_current(m);
}

void menu_of_channels(struct menu *m, const struct playlist *p, int current)
{
    *m = (struct menu){.title = "Watch", .current = current - 1};
    for (int i = 0; i < p->count && m->count < MENU_ITEMS; i++) {
        const struct playlist_channel *c = &p->channels[i];
        struct menu_item *item = add(m, i + 1);
        snprintf(item->text, MENU_TEXT, "%.95s", *c->title ? c->title : c->url.text);
        snprintf(item->detail, MENU_TEXT, "%s", c->detail);
    }
    select_current(m);
}

void menu_of_tracks(struct menu *m, const struct menu_tracks *t, bool audio)
{
    *m = (struct menu){.title = audio ? "Audio" : "Subtitles", .current = t->current - audio};
    if (!audio)
        snprintf(add(m, 0)->text, MENU_TEXT, "off");
    for (int i = 0; i < t->count && i < MENU_TRACKS; i++) {
        struct menu_item *item = add(m, i + 1);
        if (*t->names[i])
            snprintf(item->text, MENU_TEXT, "%s", t->names[i]);
        else
            snprintf(item->text, MENU_TEXT, "track %d", i + 1);
    }
    select_current(m);
}

void menu_move(struct menu *m, int by)
{
    int to = m->selected + by;
    if (to >= m->count)
        to = m->count - 1;
    m->selected = to > 0 ? to : 0;
}

int menu_first(const struct menu *m, int visible)
{
    int first = m->selected - visible / 2;
    if (first > m->count - visible)
        first = m->count - visible;
    return first > 0 ? first : 0;
}
