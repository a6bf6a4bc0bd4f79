// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/osd_text.h"

#include <SDL_ttf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

enum { FIRST = 32, LAST = 126, GLYPHS = LAST - FIRST + 1, COLUMNS = 16, TEXT_MAX = 512 };

struct face {
    SDL_Texture *texture; // owned; all glyphs in white
    SDL_Rect at[GLYPHS];
    int advance[GLYPHS];
    int height;
};

struct osd_text {
    SDL_Renderer *renderer; // borrowed
    char path[256];
    int px;
    struct face faces[OSD_SIZES];
};

static bool is_font(const char *path)
{
    TTF_Font *font = TTF_OpenFont(path, 12);
    if (font)
        TTF_CloseFont(font);
    return font;
}

static const char *find_font(void)
{
    static const char *const paths[] = {
        WEIR_FONT,
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
        "/usr/share/fonts/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/TTF/DejaVuSans.ttf",
    };
    const char *asked = SDL_getenv("WEIR_FONT");
    if (asked)
        return is_font(asked) ? asked : NULL;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (is_font(paths[i]))
            return paths[i];
    }
    return NULL;
}

struct osd_text *osd_text_new(SDL_Renderer *renderer)
{
    if (TTF_Init() != 0) {
        log_warn("cannot draw text in the window: %s", TTF_GetError());
        return NULL;
    }
    const char *path = find_font();
    struct osd_text *t = path ? calloc(1, sizeof(*t)) : NULL;
    if (!t) {
        log_warn(
            "no panel, menus and messages in the window: the font DejaVu Sans is not installed "
            "(install fonts-dejavu-core, or set WEIR_FONT=FILE.ttf)");
        TTF_Quit();
        return NULL;
    }
    t->renderer = renderer;
    snprintf(t->path, sizeof(t->path), "%s", path);
    return t;
}

static void face_destroy(struct face *f)
{
    if (f->texture)
        SDL_DestroyTexture(f->texture);
    *f = (struct face){0};
}

void osd_text_free(struct osd_text *t)
{
    if (!t)
        return;
    for (int i = 0; i < OSD_SIZES; i++)
        face_destroy(&t->faces[i]);
    TTF_Quit();
    free(t);
}

// Draws all glyphs on one surface, in cells of one size.
static SDL_Surface *draw_glyphs(struct face *f, TTF_Font *font, int px)
{
    int w = 2 * px;
    int h = TTF_FontHeight(font);
    int rows = (GLYPHS + COLUMNS - 1) / COLUMNS;
    SDL_Surface *all =
        SDL_CreateRGBSurfaceWithFormat(0, COLUMNS * w, rows * h, 32, SDL_PIXELFORMAT_ARGB8888);
    for (int i = 0; all && i < GLYPHS; i++) {
        SDL_Color white = {255, 255, 255, 255};
        SDL_Rect cell = {i % COLUMNS * w, i / COLUMNS * h, w, h};
        SDL_Surface *one = TTF_RenderGlyph_Blended(font, (Uint16)(FIRST + i), white);
        TTF_GlyphMetrics(font, (Uint16)(FIRST + i), NULL, NULL, NULL, NULL, &f->advance[i]);
        if (!one)
            continue; // the glyph is blank
        f->at[i] = (SDL_Rect){cell.x, cell.y, SDL_min(one->w, w), SDL_min(one->h, h)};
        SDL_SetSurfaceBlendMode(one, SDL_BLENDMODE_NONE);
        SDL_BlitSurface(one, NULL, all, &cell);
        SDL_FreeSurface(one);
    }
    f->height = h;
    return all;
}

static bool face_make(struct osd_text *t, struct face *f, int px)
{
    face_destroy(f);
    TTF_Font *font = TTF_OpenFont(t->path, px);
    SDL_Surface *all = font ? draw_glyphs(f, font, px) : NULL;
    if (all)
        f->texture = SDL_CreateTextureFromSurface(t->renderer, all);
    if (f->texture)
        SDL_SetTextureBlendMode(f->texture, SDL_BLENDMODE_BLEND);
    SDL_FreeSurface(all);
    if (font)
        TTF_CloseFont(font);
    return f->texture;
}

bool osd_text_set_px(struct osd_text *t, int px)
{
    if (px == t->px)
        return true;
    t->px = px;
    bool good = face_make(t, &t->faces[OSD_SMALL], SDL_max(8, px * 4 / 5)) &&
                face_make(t, &t->faces[OSD_BODY], px) &&
                face_make(t, &t->faces[OSD_BIG], px * 7 / 4);
    if (!good)
        log_warn("cannot draw text: %s", SDL_GetError());
    return good;
}

const char *osd_text_path(const struct osd_text *t)
{
    return t->path;
}

int osd_text_px_now(const struct osd_text *t)
{
    return t->px;
}

int osd_text_height(const struct osd_text *t, enum osd_size size)
{
    return t->faces[size].height;
}

// Returns the next glyph's index; -1 at the end. A whole UTF-8 sequence becomes one question mark.
static int next_glyph(const char **text)
{
    unsigned char c = (unsigned char)*(*text)++;
    if (!c)
        return -1;
    if (c >= 0x80) {
        while ((**text & 0xc0) == 0x80)
            (*text)++;
        c = '?';
    }
    return c >= FIRST && c <= LAST ? c - FIRST : '?' - FIRST;
}

int osd_text_width(const struct osd_text *t, enum osd_size size, const char *text)
{
    int width = 0;
    int i;
    while ((i = next_glyph(&text)) >= 0)
        width += t->faces[size].advance[i];
    return width;
}

int osd_text_draw(const struct osd_text *t, enum osd_size size, int x, int y, SDL_Color color,
                  const char *text)
{
    const struct face *f = &t->faces[size];
    int i;
    SDL_SetTextureColorMod(f->texture, color.r, color.g, color.b);
    SDL_SetTextureAlphaMod(f->texture, color.a);
    while ((i = next_glyph(&text)) >= 0) {
        SDL_Rect to = {x, y, f->at[i].w, f->at[i].h};
        if (to.w)
            SDL_RenderCopy(t->renderer, f->texture, &f->at[i], &to);
        x += f->advance[i];
    }
    return x;
}

void osd_text_cut(const struct osd_text *t, enum osd_size size, int x, int y, int width,
                  SDL_Color color, const char *text)
{
    char cut[TEXT_MAX];
    snprintf(cut, sizeof(cut), "%s", text);
    size_t len = strlen(cut);
    while (len > 3 && osd_text_width(t, size, cut) > width) {
        len--;
        memcpy(cut + len - 3, "...", 4);
    }
    osd_text_draw(t, size, x, y, color, cut);
}
