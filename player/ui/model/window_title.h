// SPDX-License-Identifier: GPL-2.0-or-later
// The text of the window's title.
#ifndef WEIR_PLAYER_UI_MODEL_WINDOW_TITLE_H
#define WEIR_PLAYER_UI_MODEL_WINDOW_TITLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/decls.h"
#include "stream/playout/playout.h"

DECLS_BEGIN

struct window_title {
    const char *name; // of the film or channel, or its URL
    enum playout_mode mode;
    bool paused;
    double speed;  // of playing
    bool connects; // reconnecting, or changing the transport
};

// "Der große Film.mkv - weir-play", "news, paused - weir-play", "news, speed 1.05 - weir-play"
void window_title_text(const struct window_title *s, char *out, size_t cap);

DECLS_END
#endif
