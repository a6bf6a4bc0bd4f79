// SPDX-License-Identifier: GPL-2.0-or-later
// The window of weir-play without a URL: the viewer types or pastes one, or chooses one that was
// played, or a server of this network. Main thread only.
#ifndef WEIR_PLAYER_START_START_WINDOW_H
#define WEIR_PLAYER_START_START_WINDOW_H

#include "common/base/decls.h"
#include "player/policy/recent_urls.h"

DECLS_BEGIN

struct start_window_config {
    const struct recent_urls *recent; // borrowed
    // Returns true if the URL can be played; it is kept then. Returns false, with the reason in
    // `error`: the window stays.
    bool (*on_url)(void *ctx, const char *url, char *error, size_t cap);
    void *ctx; // borrowed
};

// Shows the window until a URL was chosen, or the viewer has closed it. Returns 0; ERR_CLOSED: none
// was chosen; ERR_IO (logged): there is no display or no font.
int start_window_run(const struct start_window_config *config);

DECLS_END
#endif
