// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/ui/display_scale.h"

#include <catch2/catch.hpp>

TEST_CASE("display_scale: a display without a size of its own has no scale")
{
    SDL_SetMainReady();
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "dummy");
    REQUIRE(SDL_VideoInit(nullptr) == 0);
    SDL_Window *window = SDL_CreateWindow("", 0, 0, 64, 64, SDL_WINDOW_HIDDEN);
    REQUIRE(window);
    CHECK(display_scale_dpi(window) == 0);
    SDL_DestroyWindow(window);
    SDL_VideoQuit();
    SDL_SetHint(SDL_HINT_VIDEODRIVER, nullptr);
}
