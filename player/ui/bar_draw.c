// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/bar_draw.h"

#include <math.h>
#include <stdio.h>

#include "player/ui/model/key_message.h"
#include "player/ui/osd_paint.h"

// Of live video the bar is the past that the server keeps, and its end is the present.
static bool is_live(const struct osd_state *s)
{
    return s->duration < 0;
}

bool bar_draw_has_track(const struct osd_state *s)
{
    return is_live(s) ? s->kept > 0 : s->duration > 0 && isfinite(s->position);
}

static double rate_of(const struct osd_state *s)
{
    return s->scale == 1 ? s->speed : s->scale;
}

void bar_draw_place(const struct bar_draw *b, struct bar_layout *out)
{
    char duration[24], text[32]; // the longest text on either side
    key_message_time(is_live(b->state) ? fmax(b->state->kept, b->state->behind)
                                       : b->state->duration,
                     duration, sizeof(duration));
    snprintf(text, sizeof(text), "%s%s",
             is_live(b->state)        ? "-"
             : rate_of(b->state) == 1 ? ""
             : b->state->scale == 1   ? "1.75x "
                                      : "-8x ",
             duration);
    bar_place(out, b->width, b->height, osd_text_px_now(b->text),
              bar_draw_has_track(b->state) ? osd_text_width(b->text, OSD_BODY, text) : -1);
}

// The position, behind the scale or speed unless that is 1: "4x 1:02". Of live video the distance
// from the present: "-0:10".
static void position_text(const struct bar_draw *b, char *out, size_t cap)
{
    char at[24];
    if (is_live(b->state)) {
        key_message_time(b->state->behind, at, sizeof(at));
        snprintf(out, cap, "-%s", at);
        return;
    }
    key_message_time(b->state->position, at, sizeof(at));
    double rate = rate_of(b->state);
    if (rate == 1)
        snprintf(out, cap, "%s", at);
    else
        snprintf(out, cap, "%gx %s", rate, at);
}

// The time at the place of the track to which the pointer points, above the bar.
static void draw_pointed_time(const struct bar_draw *b, const struct bar_layout *l)
{
    double part = bar_hit(l, b->pointer.x, b->pointer.y);
    if (part < 0 || !b->pointed)
        return;
    char at[24], text[32];
    key_message_time(is_live(b->state) ? (1 - part) * b->state->kept : part * b->state->duration,
                     at, sizeof(at));
    snprintf(text, sizeof(text), "%s%s", is_live(b->state) ? "-" : "", at);
    int px = osd_text_px_now(b->text);
    int line = osd_text_height(b->text, OSD_BODY);
    int w = osd_text_width(b->text, OSD_BODY, text);
    int x = SDL_max(px / 2, SDL_min(b->pointer.x - w / 2, b->width - w - px / 2));
    int y = l->area.y - line - px / 2;
    osd_fill(b->renderer, ground, x - px / 2, y, w + px, line);
    osd_text_draw(b->text, OSD_BODY, x, y, white, text);
}

static void draw_track(const struct bar_draw *b, const struct bar_layout *l)
{
    char text[48];
    int px = osd_text_px_now(b->text);
    int thick = SDL_max(3, px / 3);
    int y = l->track.y + (l->track.h - thick) / 2;
    int text_y = l->track.y + (l->track.h - osd_text_height(b->text, OSD_BODY)) / 2;
    double at = is_live(b->state) ? 1 - b->state->behind / b->state->kept
                                  : b->state->position / b->state->duration;
    double part = fmin(1, fmax(0, at));
    bool is_present = is_live(b->state) && b->state->behind <= 0;
    int done = (int)lround(part * l->track.w);
    osd_fill(b->renderer, groove, l->track.x, y, l->track.w, thick);
    osd_fill(b->renderer, accent, l->track.x, y, done, thick);
    osd_fill(b->renderer, white, l->track.x + done - thick / 2, y - thick, thick, 3 * thick);
    position_text(b, text, sizeof(text));
    if (!is_present)
        osd_text_draw(b->text, OSD_BODY, l->track.x - px - osd_text_width(b->text, OSD_BODY, text),
                      text_y, white, text);
    if (is_live(b->state))
        snprintf(text, sizeof(text), "live");
    else
        key_message_time(b->state->duration, text, sizeof(text));
    osd_text_draw(b->text, OSD_BODY, l->track.x + l->track.w + px, text_y,
                  is_present ? accent : label, text);
}

static int measure(void *ctx, const char *text)
{
    return osd_text_width(ctx, OSD_BODY, text);
}

static void draw_buttons(const struct bar_draw *b, const struct bar_layout *l,
                         struct bar_buttons *out)
{
    const struct osd_state *s = b->state;
    struct bar_facts facts = {.paused = s->paused,
                              .has_audio = s->volume.present,
                              .muted = s->volume.muted,
                              .volume = s->volume.percent,
                              .has_subtitles = s->subtitle_tracks.count > 0,
                              .has_tracks = s->audio_tracks.count > 1,
                              .may_choose = s->may_choose,
                              .has_list = s->channels,
                              .full_screen = b->full_screen};
    int px = osd_text_px_now(b->text);
    bar_buttons_place(out, &facts, &l->buttons, px, measure, b->text);
    for (int i = 0; i < out->count; i++) {
        const struct osd_rect *at = &out->button[i].area;
        int y = at->y + (at->h - osd_text_height(b->text, OSD_BODY)) / 2;
        if (osd_inside(at, b->pointer.x, b->pointer.y))
            osd_fill(b->renderer, marked, at->x, at->y, at->w, at->h);
        osd_text_draw(b->text, OSD_BODY, at->x + px, y, white, out->button[i].label);
    }
}

void bar_draw_show(const struct bar_draw *b, struct bar_buttons *out)
{
    struct bar_layout l;
    bar_draw_place(b, &l);
    osd_fill(b->renderer, ground, l.area.x, l.area.y, l.area.w, l.area.h);
    if (l.track.w)
        draw_track(b, &l);
    draw_buttons(b, &l, out);
    draw_pointed_time(b, &l);
}
