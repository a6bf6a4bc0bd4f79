// SPDX-License-Identifier: GPL-2.0-or-later
#include "sender/policy/source_changes.h"

#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/wire/url.h"
#include "sender/policy/camera_pair.h"

const char *source_change_fault(const char *path, const char *source, bool exists)
{
    struct url url;
    const char *why;
    if (!exists && (path[0] != '/' || !source_name_is(path + 1, strlen(path + 1))))
        return "a source's name has " SOURCE_NAME_RULE "\n";
    if (source_publish_is_any(path))
        return "a path with * cannot change: remove it\n";
    if (strlen(source) >= SOURCE_TEXT_MAX)
        return "the source is too long\n";
    if (strncmp(source, "test:", 5) == 0 || strcmp(source, SOURCE_PUBLISHED) == 0)
        return NULL;
    if (!url_scheme(source))
        return "a source must be rtsp://..., rtsps://..., test: or publish:; files and devices of "
               "this machine are not allowed\n";
    struct camera_pair_urls urls;
    if (camera_pair_is(source))
        return camera_pair_split(source, &urls) ? "the source's two URLs, MAIN|SUB, are malformed\n"
                                                : NULL;
    return url_parse(source, &url, &why) == 0 ? NULL : "the source's URL is malformed\n";
}

const struct source_change *source_changes_find(const struct source_changes *c, const char *path)
{
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->list[i].path, path) == 0)
            return &c->list[i];
    return NULL;
}

int source_changes_set(struct source_changes *c, const char *path, const char *source,
                       bool is_given)
{
    int at = 0;
    while (at < c->count && strcmp(c->list[at].path, path) != 0)
        at++;
    if (!source && !is_given) {
        if (at < c->count)
            c->list[at] = c->list[--c->count];
        return 0;
    }
    if (at == SOURCE_CHANGES_MAX)
        return ERR_FULL;
    if (at == c->count)
        c->count++;
    snprintf(c->list[at].path, sizeof(c->list[at].path), "%s", path);
    snprintf(c->list[at].source, sizeof(c->list[at].source), "%s", source ? source : "");
    return 0;
}
