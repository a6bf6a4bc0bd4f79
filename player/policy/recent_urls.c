// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/recent_urls.h"

#include <stdio.h>
#include <string.h>

#include "common/base/scan.h"
#include "common/wire/text.h"

void recent_urls_read(struct recent_urls *r, const char *text, size_t len)
{
    struct scan all = scan_of(text, len);
    r->count = 0;
    for (struct scan line; r->count < RECENT_URLS && scan_line(&all, &line);) {
        char given[URL_MAX_TEXT];
        const char *reason;
        struct url url;
        if (scan_left(&line) >= sizeof(given))
            continue;
        text_copy(text_of_scan(line), given, sizeof(given));
        if (url_parse(given, &url, &reason) == 0 && url_is_plain(given) &&
            strcmp(given, url.text) == 0)
            memcpy(r->url[r->count++], given, sizeof(given));
    }
}

size_t recent_urls_write(const struct recent_urls *r, char out[RECENT_URLS_TEXT])
{
    size_t len = 0;
    for (int i = 0; i < r->count; i++)
        len += (size_t)snprintf(out + len, RECENT_URLS_TEXT - len, "%s\n", r->url[i]);
    return len;
}

void recent_urls_add(struct recent_urls *r, const struct url *url)
{
    int at = 0;
    if (!url_is_plain(url->text))
        return;
    while (at < r->count && strcmp(r->url[at], url->text) != 0)
        at++;
    if (at == r->count && r->count < RECENT_URLS)
        r->count++;
    at = at < RECENT_URLS ? at : RECENT_URLS - 1;
    memmove(r->url[1], r->url[0], (size_t)at * sizeof(r->url[0]));
    memcpy(r->url[0], url->text, sizeof(r->url[0]));
}
