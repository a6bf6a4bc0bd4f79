// SPDX-License-Identifier: GPL-2.0-or-later
// The URLs that were played last, for the window without a URL. Its text has a line a URL, the
// latest first, without user, password, key and pin. Pure.
#ifndef WEIR_PLAYER_POLICY_RECENT_URLS_H
#define WEIR_PLAYER_POLICY_RECENT_URLS_H

#include "common/base/decls.h"
#include "common/wire/url.h"

DECLS_BEGIN

enum { RECENT_URLS = 16, RECENT_URLS_TEXT = RECENT_URLS * URL_MAX_TEXT };

struct recent_urls { // all zero at first
    int count;
    char url[RECENT_URLS][URL_MAX_TEXT]; // the latest first
};

// Reads a text, and skips lines that are no URLs, or have what a line must not have.
void recent_urls_read(struct recent_urls *r, const char *text, size_t len);
// Writes the text, and returns its length.
size_t recent_urls_write(const struct recent_urls *r, char out[RECENT_URLS_TEXT]);
// The URL was played now. Of more than RECENT_URLS the oldest goes.
void recent_urls_add(struct recent_urls *r, const struct url *url);

DECLS_END
#endif
