// SPDX-License-Identifier: GPL-2.0-or-later
// The text of the window's title.
#ifndef WEIR_PLAYER_UI_MODEL_WINDOW_TITLE_H
#define WEIR_PLAYER_UI_MODEL_WINDOW_TITLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/level.h"
#include "stream/playout/playout.h"

#ifdef __cplusplus
extern "C" {
#endif

struct window_title {
    const struct ladder *ladder;
    int level; // of the picture shown; -1: none yet
    const char *transport;
    usec_t buffered; // media in the playout buffer
    enum playout_mode mode;
    bool paused;
    double speed;      // of playing
    const char *stats; // the transport's stats, " (p 0.0012, X 1.2e+06)"; NULL: none
    bool connects;     // reconnecting, or changing the transport
};

// "weir-play: 1280x720@30 1.80 Mbit/s, minbuf:1,3, buffer 0.4 s, stalled"
// "weir-play: 1280x720@30 1.80 Mbit/s, minbuf:1,3, buffer 0.9 s, speed 1.05"
// "weir-play: 640x360@30 0.96 Mbit/s, tfrc (p 0.0012, X 1.2e+06), buffer 0.4 s"
void window_title_text(const struct window_title *s, char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
