// SPDX-License-Identifier: GPL-2.0-or-later
// The channels of `--playlist FILE`: a line each, a URL, or a path on the server of the URL before
// it. M3U is accepted: a line "#EXTINF:SECONDS,TITLE" names the channel of the next line; other
// lines that begin with # are comments. Pure.
//
//     rtsp://192.0.2.1/news
//     #EXTINF:-1,The Weather
//     /weather
//
// Limits: PLAYLIST_MAX channels, PLAYLIST_MAX_BYTES of text, URL_MAX_TEXT - 1 bytes a URL.
#ifndef WEIR_PLAYER_POLICY_PLAYLIST_H
#define WEIR_PLAYER_POLICY_PLAYLIST_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/text.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum {
    PLAYLIST_MAX = 1024,
    PLAYLIST_MAX_BYTES = 256 * 1024,
    PLAYLIST_TITLE = 64, // bytes with NUL; a longer title is cut
};

struct playlist_channel {
    struct url url;
    char title[PLAYLIST_TITLE];
    char detail[PLAYLIST_TITLE]; // of a server's list: length and sizes; else empty
};

struct playlist { // all zero at first
    int count;
    struct playlist_channel *channels; // owned
};

// Adds a channel. 0, ERR_FULL, ERR_NO_MEMORY.
int playlist_add(struct playlist *p, const struct url *url, const char *title);
// Adds the channels of `text`. Paths in front of its first URL are on the server of `server`, with
// its user; NULL: such a path is an error. 0, or ERR_MALFORMED, ERR_TOO_BIG, ERR_FULL,
// ERR_NO_MEMORY: then `error` of `cap` bytes says which line and why, without a password.
int playlist_read(struct playlist *p, const char *text, size_t len, const struct url *server,
                  char *error, size_t cap);
// Adds what the server of `server` lists: lines with a path, seconds and sizes, separated by tabs
// (docs/protocol.md). Its user, key and pin are those of `server`. Skips a line that is none, and
// what exceeds PLAYLIST_MAX. 0 or ERR_NO_MEMORY.
int playlist_read_list(struct playlist *p, struct text list, const struct url *server);
// Returns the channel `by` (1 or -1) beside `current` of `count`, from 1; the last one and the
// first are neighbours. `current` 0, none: the first one is the next, the last one the previous.
int playlist_step(int count, int current, int by);
void playlist_free(struct playlist *p);

DECLS_END
#endif
