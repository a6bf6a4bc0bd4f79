// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/model/bar_buttons.h"

#include <stdio.h>

// In the order in which they stand. Those with a high rank go first where there is no room.
static const struct {
    enum action action;
    bool right;
    int rank;
} order[BAR_BUTTONS] = {
    {ACTION_PAUSE, false, 0},       {ACTION_MUTE, false, 2},
    {ACTION_CHANNELS, true, 4},     {ACTION_CHOOSE_SUBTITLES, true, 3},
    {ACTION_CHOOSE_AUDIO, true, 6}, {ACTION_LEVELS, true, 5},
    {ACTION_KEYS, true, 7},         {ACTION_FULL_SCREEN, true, 1},
};

// Returns false if the viewer has no use for the button.
static bool label_of(enum action a, const struct bar_facts *f, char out[BAR_LABEL])
{
    switch (a) {
    case ACTION_PAUSE:
        snprintf(out, BAR_LABEL, f->paused ? "Play" : "Pause");
        return true;
    case ACTION_MUTE:
        if (f->muted)
            snprintf(out, BAR_LABEL, "Muted");
        else
            snprintf(out, BAR_LABEL, "Volume %d %%", f->volume);
        return f->has_audio;
    case ACTION_CHANNELS:
        snprintf(out, BAR_LABEL, "List");
        return f->has_list;
    case ACTION_CHOOSE_SUBTITLES:
        snprintf(out, BAR_LABEL, "Subtitles");
        return f->has_subtitles;
    case ACTION_CHOOSE_AUDIO:
        snprintf(out, BAR_LABEL, "Audio");
        return f->has_tracks;
    case ACTION_LEVELS:
        snprintf(out, BAR_LABEL, "Quality");
        return f->may_choose;
    case ACTION_KEYS:
        snprintf(out, BAR_LABEL, "More");
        return true;
    default:
        snprintf(out, BAR_LABEL, f->full_screen ? "Window" : "Full screen");
        return true;
    }
}

void bar_buttons_place(struct bar_buttons *out, const struct bar_facts *f,
                       const struct osd_rect *row, int px,
                       int (*measure)(void *ctx, const char *text), void *ctx)
{
    struct bar_button all[BAR_BUTTONS];
    int width = 0;
    for (int i = 0; i < BAR_BUTTONS; i++) {
        bool used = label_of(order[i].action, f, all[i].label);
        all[i].action = order[i].action;
        all[i].area =
            (struct osd_rect){0, row->y, used ? measure(ctx, all[i].label) + 2 * px : 0, row->h};
        width += all[i].area.w;
    }
    for (int rank = BAR_BUTTONS - 1; width > row->w && rank >= 0; rank--) {
        for (int i = 0; i < BAR_BUTTONS; i++) {
            if (order[i].rank != rank)
                continue;
            width -= all[i].area.w;
            all[i].area.w = 0;
        }
    }
    out->count = 0;
    int x = row->x;
    bool right = false;
    for (int i = 0; i < BAR_BUTTONS; i++) {
        if (order[i].right && !right)
            x = row->x + row->w - width;
        right = order[i].right;
        all[i].area.x = x;
        x += all[i].area.w;
        width -= all[i].area.w;
        if (all[i].area.w)
            out->button[out->count++] = all[i];
    }
}

enum action bar_buttons_hit(const struct bar_buttons *b, int x, int y)
{
    for (int i = 0; i < b->count; i++) {
        if (osd_inside(&b->button[i].area, x, y))
            return b->button[i].action;
    }
    return ACTION_NONE;
}
