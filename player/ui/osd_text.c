// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/osd_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "player/ui/text_script.h"

enum { SETS = 64, WAYS = 8, TEXT_MAX = 512, MAX_PIXELS = 16 << 20 };

struct line {
    char *text;           // owned; NULL: unused
    int height;           // that it was drawn with
    SDL_Texture *texture; // owned; NULL: blank
    SDL_Rect at;          // of the texture, from the line's upper left corner
    int width;            // to where further text begins
    unsigned used;        // the higher, the later
};

struct osd_text {
    SDL_Renderer *renderer;     // borrowed
    struct text_script *script; // owned
    struct text_image image;
    int px;
    int heights[OSD_SIZES];
    unsigned uses;
    int pixels; // of the textures since all were forgotten
    struct line lines[SETS][WAYS];
};

struct osd_text *osd_text_new(SDL_Renderer *renderer)
{
    struct osd_text *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->renderer = renderer;
    t->script = text_script_new();
    if (t->script)
        return t;
    free(t);
    return NULL;
}

static void line_destroy(struct line *l)
{
    if (l->texture)
        SDL_DestroyTexture(l->texture);
    free(l->text);
    *l = (struct line){0};
}

void osd_text_forget(struct osd_text *t)
{
    for (int i = 0; i < SETS * WAYS; i++)
        line_destroy(&t->lines[i / WAYS][i % WAYS]);
    t->pixels = 0;
}

void osd_text_free(struct osd_text *t)
{
    if (!t)
        return;
    osd_text_forget(t);
    text_script_free(t->script);
    text_image_destroy(&t->image);
    free(t);
}

void osd_text_set_px(struct osd_text *t, int px)
{
    const int sizes[OSD_SIZES] = {
        [OSD_SMALL] = SDL_max(8, px * 4 / 5), [OSD_BODY] = px, [OSD_BIG] = px * 7 / 4};
    t->px = px;
    for (int i = 0; i < OSD_SIZES; i++) // a line is higher than its letters' em
        t->heights[i] = (sizes[i] * 7 + 5) / 6;
}

int osd_text_px_now(const struct osd_text *t)
{
    return t->px;
}

int osd_text_height(const struct osd_text *t, enum osd_size size)
{
    return t->heights[size];
}

static void render(struct osd_text *t, struct line *l)
{
    struct text_image *i = &t->image;
    if (text_script_line(t->script, l->text, l->height, i) != TEXT_CHANGED)
        return;
    l->width = i->box.w;
    if (!i->area.w || !i->area.h)
        return;
    l->at = (SDL_Rect){i->area.x - TEXT_LINE_AT, i->area.y - TEXT_LINE_AT, i->area.w, i->area.h};
    t->pixels += i->area.w * i->area.h;
    l->texture = SDL_CreateTexture(t->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC,
                                   i->area.w, i->area.h);
    if (!l->texture ||
        SDL_UpdateTexture(l->texture, NULL, i->pixels, i->area.w * (int)sizeof(*i->pixels)) != 0)
        log_debug("cannot draw text: %s", SDL_GetError());
    if (l->texture)
        SDL_SetTextureBlendMode(l->texture, SDL_BLENDMODE_BLEND);
}

// Returns the line, drawn. A text without memory is blank.
static const struct line *line_of(struct osd_text *t, enum osd_size size, const char *text)
{
    static const struct line blank;
    int height = t->heights[size];
    unsigned hash = (unsigned)height;
    for (const char *c = text; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    struct line *set = t->lines[(hash ^ hash >> 11) % SETS], *oldest = &set[0];
    for (int i = 0; i < WAYS; i++) {
        if (set[i].text && set[i].height == height && strcmp(set[i].text, text) == 0) {
            set[i].used = ++t->uses;
            return &set[i];
        }
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    if (t->pixels > MAX_PIXELS)
        osd_text_forget(t);
    line_destroy(oldest);
    if (!*text || (oldest->text = strdup(text)) == NULL)
        return &blank;
    oldest->height = height;
    oldest->used = ++t->uses;
    render(t, oldest);
    return oldest;
}

int osd_text_width(struct osd_text *t, enum osd_size size, const char *text)
{
    return line_of(t, size, text)->width;
}

int osd_text_draw(struct osd_text *t, enum osd_size size, int x, int y, SDL_Color color,
                  const char *text)
{
    const struct line *l = line_of(t, size, text);
    SDL_Rect to = {x + l->at.x, y + l->at.y, l->at.w, l->at.h};
    if (l->texture) {
        SDL_SetTextureColorMod(l->texture, color.r, color.g, color.b);
        SDL_SetTextureAlphaMod(l->texture, color.a);
        SDL_RenderCopy(t->renderer, l->texture, NULL, &to);
    }
    return x + l->width;
}

void osd_text_cut(struct osd_text *t, enum osd_size size, int x, int y, int width, SDL_Color color,
                  const char *text)
{
    char cut[TEXT_MAX];
    snprintf(cut, sizeof(cut), "%s", text);
    size_t shortest = 0, longest = strlen(cut); // that fits; that may fit
    if (osd_text_width(t, size, cut) > width) {
        while (shortest < longest) {
            size_t len = (shortest + longest + 1) / 2;
            snprintf(cut, sizeof(cut), "%.*s...", (int)SDL_min(len, TEXT_MAX - 4), text);
            if (osd_text_width(t, size, cut) <= width)
                shortest = len;
            else
                longest = len - 1;
        }
        while (shortest && ((unsigned char)text[shortest] & 0xc0) == 0x80)
            shortest--; // whole characters
        snprintf(cut, sizeof(cut), "%.*s...", (int)SDL_min(shortest, TEXT_MAX - 4), text);
    }
    osd_text_draw(t, size, x, y, color, cut);
}
