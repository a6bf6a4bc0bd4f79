// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/start/recent_file.h"

#include "common/base/log.h"
#include "common/program/state_dir.h"

#define FILE_NAME "recent"

static void read_from(const char *dir, struct recent_urls *out)
{
    uint8_t text[RECENT_URLS_TEXT];
    size_t len;
    *out = (struct recent_urls){0};
    if (state_file_read(dir, FILE_NAME, text, sizeof(text), &len) == 0)
        recent_urls_read(out, (const char *)text, len);
}

void recent_file_read(struct recent_urls *out)
{
    char dir[STATE_PATH_MAX];
    *out = (struct recent_urls){0};
    if (state_dir_find(NULL, dir) == 0)
        read_from(dir, out);
}

void recent_file_note(const struct url *url)
{
    char dir[STATE_PATH_MAX], text[RECENT_URLS_TEXT];
    struct recent_urls now;
    if (state_dir_find(NULL, dir) != 0)
        return;
    read_from(dir, &now);
    recent_urls_add(&now, url);
    if (state_file_replace(dir, FILE_NAME, (const uint8_t *)text, recent_urls_write(&now, text)) !=
        0)
        log_warn("the URL is not noted (--no-resume does not try to)");
}
