// SPDX-License-Identifier: GPL-2.0-or-later
// A renderer without a display: it draws into memory.
#ifndef WEIR_TESTS_SURFACE_HPP
#define WEIR_TESTS_SURFACE_HPP

#include <SDL.h>

#include <cstdint>

struct surface {
    SDL_Surface *pixels;
    SDL_Renderer *renderer;

    surface(int width, int height)
        : pixels(SDL_CreateRGBSurfaceWithFormat(0, width, height, 32, SDL_PIXELFORMAT_ARGB8888)),
          renderer(pixels ? SDL_CreateSoftwareRenderer(pixels) : nullptr)
    {
        REQUIRE(renderer);
        clear();
    }
    ~surface()
    {
        SDL_DestroyRenderer(renderer);
        SDL_FreeSurface(pixels);
    }
    surface(const surface &) = delete;
    surface &operator=(const surface &) = delete;

    void clear()
    {
        SDL_SetRenderDrawColor(renderer, 0, 0, 0, 255);
        SDL_RenderClear(renderer);
    }
    // Red, green and blue: 0xrrggbb.
    uint32_t at(int x, int y)
    {
        SDL_RenderFlush(renderer);
        auto *row = static_cast<const uint8_t *>(pixels->pixels) + y * pixels->pitch;
        return reinterpret_cast<const uint32_t *>(row)[x] & 0xffffff;
    }
    // Returns the area that is not black; w == 0: none is.
    SDL_Rect drawn()
    {
        SDL_Rect r = {pixels->w, pixels->h, 0, 0};
        int right = -1, bottom = -1;
        for (int y = 0; y < pixels->h; y++) {
            for (int x = 0; x < pixels->w; x++) {
                if (!at(x, y))
                    continue;
                r.x = SDL_min(r.x, x);
                r.y = SDL_min(r.y, y);
                right = SDL_max(right, x);
                bottom = SDL_max(bottom, y);
            }
        }
        r.w = SDL_max(0, right - r.x + 1);
        r.h = SDL_max(0, bottom - r.y + 1);
        return r;
    }
};

#endif
