// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/panel_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "player/ui/model/osd_layout.h"
#include "player/ui/osd_paint.h"

// The ground is opaque: a frame then costs one copy of memory, and numbers are easier to read.
static const SDL_Color back = {11, 15, 21, 255};
static const SDL_Color plot = {26, 34, 44, 255};
static const SDL_Color faint = {104, 118, 134, 255};

static const SDL_Color blue = {92, 164, 252, 255};
static const SDL_Color amber = {248, 188, 80, 255};
static const SDL_Color violet = {182, 146, 250, 255};
static const SDL_Color red = {244, 108, 104, 255};
static const SDL_Color grey = {170, 182, 196, 255};

void panel_draw_init(struct panel_draw *d, SDL_Renderer *renderer)
{
    *d = (struct panel_draw){.renderer = renderer, .stale = true};
}

void panel_draw_destroy(struct panel_draw *d)
{
    if (d->texture)
        SDL_DestroyTexture(d->texture);
    d->texture = NULL;
}

void panel_draw_renew(struct panel_draw *d)
{
    d->stale = true;
}

static SDL_Color row_color(enum panel_row row)
{
    static const SDL_Color *const colors[PANEL_VARIABLE] = {
        [PANEL_LEVEL] = &violet,  [PANEL_FRAME_RATE] = &accent, [PANEL_BUFFER] = &accent,
        [PANEL_LATENCY] = &amber, [PANEL_TARGET] = &amber,      [PANEL_BEHIND] = &amber,
        [PANEL_RATE] = &blue,     [PANEL_ALLOWED] = &blue,      [PANEL_RTT] = &amber,
        [PANEL_QUEUE] = &amber,   [PANEL_LOSS] = &red,          [PANEL_CWND] = &grey,
    };
    return row < PANEL_VARIABLE ? *colors[row] : grey;
}

static Uint8 mixed(Uint8 bright, Uint8 dark)
{
    return (Uint8)((bright + 3 * dark) / 4);
}

// Draws the graph pale up to the value, bright at its edge, with a gap where the value is unknown.
static void draw_graph(SDL_Renderer *r, const struct panel_history *h, enum panel_row row,
                       const SDL_Rect *at)
{
    SDL_Color c = row_color(row);
    SDL_Color pale = {mixed(c.r, plot.r), mixed(c.g, plot.g), mixed(c.b, plot.b), 255};
    double top = panel_graph_top(h, row);
    int edge = SDL_max(1, at->h / 12);
    osd_fill(r, plot, at->x, at->y, at->w, at->h);
    for (int i = 0; i < PANEL_SAMPLES; i++) {
        double v = panel_value(h, row, PANEL_SAMPLES - 1 - i);
        if (!isfinite(v))
            continue;
        int x = at->x + i * at->w / PANEL_SAMPLES;
        int w = at->x + (i + 1) * at->w / PANEL_SAMPLES - x;
        int tall = (int)lround(SDL_clamp(v / top, 0.0, 1.0) * (at->h - edge));
        int y = at->y + at->h - edge - tall;
        if (w < 1)
            continue;
        osd_fill(r, c, x, y, w, edge);
        osd_fill(r, pale, x, y + edge, w, tall);
    }
}

static void draw_row(const struct panel_draw *d, struct osd_text *t, const struct panel_layout *l,
                     const struct panel_history *h, enum panel_row row, int y)
{
    char text[PANEL_TEXT];
    int inner = (l->line - osd_text_height(t, OSD_BODY)) / 2;
    osd_text_draw(t, OSD_BODY, l->area.x + l->pad, y + inner, label, panel_label(h, row));
    panel_value_text(h, row, panel_value(h, row, 0), text, sizeof(text));
    int x = l->value_right - osd_text_width(t, OSD_BODY, text);
    osd_text_draw(t, OSD_BODY, x, y + inner, white, text);
    if (!l->graph_w)
        return;
    SDL_Rect graph = {l->graph_x, y + (l->line - l->graph_h) / 2, l->graph_w, l->graph_h};
    draw_graph(d->renderer, h, row, &graph);
    panel_scale_text(h, row, text, sizeof(text));
    osd_text_draw(t, OSD_SMALL, l->scale_x, y + l->line / 6, faint, text);
}

// Draws the parts of the latency: a bar of five colours, with their names and milliseconds.
static void draw_parts(const struct panel_draw *d, struct osd_text *t, const struct panel_layout *l,
                       const struct panel_sample *s)
{
    static const SDL_Color *const colors[LATENCY_PARTS] = {
        [PART_ENCODER] = &amber,  [PART_TRANSPORT] = &blue, [PART_BUFFER] = &accent,
        [PART_DECODER] = &violet, [PART_DISPLAY] = &red,
    };
    double sum = 0;
    for (int i = 0; i < LATENCY_PARTS; i++)
        sum += isfinite(s->part[i]) ? fmax(0, s->part[i]) : 0;
    int left = l->area.x + l->pad;
    int width = l->area.w - 2 * l->pad;
    int x = left;
    int y = l->parts_y + l->line / 4;
    double so_far = 0;
    for (int i = 0; i < LATENCY_PARTS && sum > 0; i++) {
        so_far += isfinite(s->part[i]) ? fmax(0, s->part[i]) : 0;
        int end = left + (int)lround(width * so_far / sum);
        osd_fill(d->renderer, *colors[i], x, y, end - x, l->line / 2);
        x = end;
    }
    x = left;
    y = l->parts_y + l->line;
    int dot = osd_text_height(t, OSD_SMALL) / 2;
    for (int i = 0; i < LATENCY_PARTS; i++) {
        char text[48];
        snprintf(text, sizeof(text), isfinite(s->part[i]) ? "%s %.0f ms" : "%s -",
                 latency_part_name(i), s->part[i]);
        if (i == PART_DECODER) {
            x = left;
            y += l->line * 5 / 6;
        }
        osd_fill(d->renderer, *colors[i], x, y + dot / 2, dot, dot);
        osd_text_draw(t, OSD_SMALL, x + dot * 3 / 2, y, white, text);
        x += width / 3;
    }
}

// Leaves out details until the text fits.
static void draw_fitting(struct osd_text *t, int x, int y, int width, SDL_Color c, const char *text)
{
    char shorter[2 * PANEL_TEXT];
    snprintf(shorter, sizeof(shorter), "%s", text);
    while (osd_text_width(t, OSD_SMALL, shorter) > width && panel_shorten(shorter))
        ;
    osd_text_cut(t, OSD_SMALL, x, y, width, c, shorter);
}

// Draws what the policy of a film's levels does, where the parts of the latency of live media are:
// two lines, parted at a comma.
static void draw_film(struct osd_text *t, const struct panel_layout *l, const char *film)
{
    char first[2 * PANEL_TEXT];
    int x = l->area.x + l->pad;
    int from = x + osd_text_width(t, OSD_SMALL, "Not shown  ");
    int width = l->area.x + l->area.w - l->pad - from;
    int y = l->parts_y + l->line / 4;
    snprintf(first, sizeof(first), "%s", film);
    while (osd_text_width(t, OSD_SMALL, first) > width && panel_shorten(first))
        ;
    const char *rest = film + strlen(first);
    osd_text_draw(t, OSD_SMALL, x, y, label, "Film");
    osd_text_cut(t, OSD_SMALL, from, y, width, white, first);
    if (*rest)
        osd_text_cut(t, OSD_SMALL, from, y + l->line * 5 / 6, width, white, rest + 2);
}

static void draw_foot(struct osd_text *t, const struct panel_layout *l,
                      const struct panel_sample *s)
{
    char text[2 * PANEL_TEXT];
    int x = l->area.x + l->pad;
    int from = x + osd_text_width(t, OSD_SMALL, "Not shown  ");
    int width = l->area.x + l->area.w - l->pad - from;
    panel_losses_text(s, text, sizeof(text));
    osd_text_draw(t, OSD_SMALL, x, l->foot_y, label, "Not shown");
    draw_fitting(t, from, l->foot_y, width, white, text);
    panel_stalls_text(s, text, sizeof(text));
    osd_text_draw(t, OSD_SMALL, x, l->foot_y + l->line * 5 / 6, label, "Stalls");
    draw_fitting(t, from, l->foot_y + l->line * 5 / 6, width, white, text);
    panel_freezes_text(s, text, sizeof(text));
    osd_text_draw(t, OSD_SMALL, x, l->foot_y + l->line * 10 / 6, label, "Freezes");
    draw_fitting(t, from, l->foot_y + l->line * 10 / 6, width, white, text);
}

static void draw_all(const struct panel_draw *d, struct osd_text *t, const struct panel_layout *l,
                     const struct panel_history *h, const struct panel_sample *s,
                     const enum panel_row *rows)
{
    int x = osd_text_draw(t, OSD_BODY, l->area.x + l->pad, l->head_y, white, s->transport);
    draw_fitting(t, x + l->pad, l->head_y + l->line / 8, l->area.x + l->area.w - 2 * l->pad - x,
                 label, s->level);
    for (int i = 0; i < l->rows; i++)
        draw_row(d, t, l, h, rows[i], l->rows_y + i * l->line);
    if (l->parts_y >= 0 && s->film[0])
        draw_film(t, l, s->film);
    else if (l->parts_y >= 0)
        draw_parts(d, t, l, s);
    if (l->foot_y >= 0 && isfinite(s->expected))
        draw_foot(t, l, s);
}

bool panel_draw_has_parts(const struct panel_sample *s)
{
    if (s->film[0])
        return true;
    for (int i = 0; i < LATENCY_PARTS; i++) {
        if (isfinite(s->part[i]))
            return true;
    }
    return false;
}

static bool fit_texture(struct panel_draw *d, const struct panel_layout *l)
{
    if (d->texture && d->area.w == l->area.w && d->area.h == l->area.h)
        return true;
    panel_draw_destroy(d);
    d->texture = SDL_CreateTexture(d->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_TARGET,
                                   l->area.w, l->area.h);
    if (!d->texture) {
        log_debug("cannot draw the panel: %s", SDL_GetError());
        return false;
    }
    SDL_SetTextureBlendMode(d->texture, SDL_BLENDMODE_NONE);
    return true;
}

static void redraw(struct panel_draw *d, struct osd_text *t, const struct panel_history *h,
                   const struct panel_sample *s)
{
    enum panel_row rows[PANEL_ROWS];
    struct panel_layout l;
    int count = panel_rows(h, rows);
    panel_place(&l, d->width, d->height, d->px, count, panel_draw_has_parts(s));
    SDL_Rect area = {l.area.x, l.area.y, l.area.w, l.area.h};
    if (!fit_texture(d, &l))
        return;
    d->area = area;
    SDL_SetRenderTarget(d->renderer, d->texture);
    SDL_SetRenderDrawColor(d->renderer, back.r, back.g, back.b, back.a);
    SDL_RenderClear(d->renderer);
    SDL_SetRenderDrawBlendMode(d->renderer, SDL_BLENDMODE_NONE);
    // Draw relative to the texture's corner.
    int x = l.area.x, y = l.area.y;
    l.area.x = l.area.y = 0;
    l.head_y -= y;
    l.rows_y -= y;
    l.foot_y -= l.foot_y >= 0 ? y : 0;
    l.parts_y -= l.parts_y >= 0 ? y : 0;
    l.value_right -= x;
    l.graph_x -= x;
    l.scale_x -= x;
    draw_all(d, t, &l, h, s, rows);
    SDL_SetRenderTarget(d->renderer, NULL);
    SDL_SetRenderDrawBlendMode(d->renderer, SDL_BLENDMODE_BLEND);
    d->stale = false;
}

void panel_draw_show(struct panel_draw *d, struct osd_text *t, const struct panel_history *h,
                     const struct panel_sample *s, int width, int height)
{
    if (d->width != width || d->height != height || d->px != osd_text_px_now(t))
        d->stale = true;
    d->width = width;
    d->height = height;
    d->px = osd_text_px_now(t);
    if (d->stale)
        redraw(d, t, h, s);
    if (d->texture)
        SDL_RenderCopy(d->renderer, d->texture, NULL, &d->area);
}
