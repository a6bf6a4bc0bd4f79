// SPDX-License-Identifier: GPL-2.0-or-later
#include "proxy/policy/origin_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"

// Returns the length of the path without the name of a track, which SETUP appends to the query,
// too.
static size_t path_length(const char *path)
{
    static const char *const tracks[] = {"/trackID=0", "/trackID=1"};
    size_t len = strlen(path);
    for (int i = 0; i < 2; i++) {
        size_t name = strlen(tracks[i]);
        if (len >= name && strcmp(path + len - name, tracks[i]) == 0)
            return len - name;
    }
    return len;
}

static bool is_allowed(const struct origin_rules *rules, const char *host)
{
    for (int i = 0; i < rules->host_count; i++)
        if (strcasecmp(rules->hosts[i], host) == 0)
            return true;
    return false;
}

int origin_url_of(const struct origin_rules *rules, const char *path, struct url *out)
{
    char text[2 * URL_MAX_TEXT];
    const char *reason;
    size_t len = path_length(path);
    size_t plain = strcspn(path, "?");
    if (plain < len && strncmp(path + plain, "?level=", 7) == 0)
        len = plain;
    if (len && path[len - 1] == '/')
        len--;
    const struct url *origin = &rules->origin;
    int written;
    if (rules->has_origin) {
        size_t base = strlen(origin->text);
        base -= base && origin->text[base - 1] == '/';
        written = snprintf(text, sizeof(text), "%.*s%.*s", (int)base, origin->text, (int)len, path);
    } else {
        if (len < 2 || path[0] != '/')
            return ERR_NOT_FOUND;
        written = snprintf(text, sizeof(text), "rtsp:/%.*s", (int)len, path);
    }
    if (written < 0 || (size_t)written >= sizeof(text) || !url_is_plain(text) ||
        strchr(text + 7, '@') || url_parse(text, out, &reason) != 0)
        return ERR_MALFORMED;
    if (!rules->has_origin && !is_allowed(rules, out->host))
        return ERR_UNSUPPORTED;
    memcpy(out->user, origin->user, sizeof(out->user));
    memcpy(out->password, origin->password, sizeof(out->password));
    out->level = -1;
    return 0;
}

bool origin_url_is_same(const char *first, const char *path)
{
    size_t len = path_length(path), first_len = path_length(first);
    if (!memchr(path, '?', len))
        first_len = strcspn(first, "?") < first_len ? strcspn(first, "?") : first_len;
    len -= len && path[len - 1] == '/';
    first_len -= first_len && first[first_len - 1] == '/';
    return len == first_len && memcmp(first, path, len) == 0;
}
