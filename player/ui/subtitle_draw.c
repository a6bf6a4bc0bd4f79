// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/subtitle_draw.h"

#include <SDL_ttf.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"

void subtitle_draw_forget(struct subtitle_draw *d)
{
    if (d->texture)
        SDL_DestroyTexture(d->texture);
    *d = (struct subtitle_draw){0};
}

// Returns the width of the widest line, which wrapping would otherwise fill up with space.
static int text_width(TTF_Font *font, const char *text)
{
    char lines[SUBTITLE_BYTES];
    int widest = 0;
    snprintf(lines, sizeof(lines), "%s", text);
    for (char *line = lines, *end; line; line = end) {
        int width = 0;
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        (void)TTF_SizeUTF8(font, line, &width, NULL);
        widest = SDL_max(widest, width);
    }
    return widest;
}

static void make(struct subtitle_draw *d, SDL_Renderer *renderer, const char *path)
{
    SDL_Color white = {255, 255, 255, 255};
    TTF_Font *font = TTF_OpenFont(path, d->px);
    SDL_Surface *surface = NULL;
    if (font) {
        int room = SDL_max(d->px, d->width - 2 * d->px);
        TTF_SetFontWrappedAlign(font, TTF_WRAPPED_ALIGN_CENTER);
        surface = TTF_RenderUTF8_Blended_Wrapped(
            font, d->text, white, (Uint32)SDL_min(room, text_width(font, d->text) + 1));
        TTF_CloseFont(font);
    }
    if (surface)
        d->texture = SDL_CreateTextureFromSurface(renderer, surface);
    if (!d->texture)
        log_debug("cannot draw a subtitle: %s", SDL_GetError());
    SDL_FreeSurface(surface);
}

void subtitle_draw(struct subtitle_draw *d, SDL_Renderer *renderer, const char *font, int px,
                   const char *text, int width, int bottom)
{
    if (strcmp(d->text, text) != 0 || d->px != px || d->width != width) {
        subtitle_draw_forget(d);
        snprintf(d->text, sizeof(d->text), "%s", text);
        d->px = px;
        d->width = width;
        make(d, renderer, font);
    }
    SDL_Rect at;
    if (!d->texture || SDL_QueryTexture(d->texture, NULL, NULL, &at.w, &at.h) != 0)
        return;
    at.x = (width - at.w) / 2;
    at.y = SDL_max(0, bottom - at.h);
    SDL_Rect shade = {at.x - px / 2, at.y - px / 8, at.w + px, at.h + px / 4};
    SDL_SetRenderDrawColor(renderer, 0, 0, 0, 150);
    SDL_RenderFillRect(renderer, &shade);
    SDL_RenderCopy(renderer, d->texture, NULL, &at);
}
