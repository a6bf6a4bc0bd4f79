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

void menu_of_levels(struct menu *m, const struct ladder *ladder, int current)
{
    *m = (struct menu){.title = "Level", .current = -1};
    for (int l = ladder->level_count - 1; l >= 0; l--) {
        const struct size_spec *size = &ladder->sizes[ladder->levels[l].size_id];
        if (l == current)
            m->current = m->count;
        struct menu_item *item = add(m, l);
        snprintf(item->text, MENU_TEXT, "%d   %dx%d", l, size->width, size->height);
        snprintf(item->detail, MENU_TEXT, "%.4g frames/s, %.2f Mbit/s", level_frame_rate(ladder, l),
                 ladder->levels[l].bitrate_bps / 1e6);
    }
    select_current(m);
}

void menu_of_transports(struct menu *m, const char *const names[], const char *const details[],
                        int count, const char *current)
{
    *m = (struct menu){.title = "Transport", .current = -1};
    size_t len = strcspn(current, ":");
    for (int i = 0; i < count && m->count < MENU_ITEMS; i++) {
        if (strlen(names[i]) == len && strncmp(names[i], current, len) == 0)
            m->current = m->count;
        struct menu_item *item = add(m, i);
        snprintf(item->text, MENU_TEXT, "%s", names[i]);
        snprintf(item->detail, MENU_TEXT, "%.*s", (int)strcspn(details[i], ";"), details[i]);
    }
    select_current(m);
}

void menu_move(struct menu *m, int by)
{
    int to = m->selected + by;
    if (to >= 0 && to < m->count)
        m->selected = to;
}

int menu_first(const struct menu *m, int visible)
{
    int first = m->selected - visible / 2;
    if (first > m->count - visible)
        first = m->count - visible;
    return first > 0 ? first : 0;
}
