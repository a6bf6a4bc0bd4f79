// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/wire/service_text.h"

#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/wire/text.h"

void service_name_clean(const char *name, char out[SERVICE_NAME_MAX])
{
    utf8_copy(name, out, SERVICE_NAME_MAX);
}

void service_path_clean(const char *path, size_t len, char out[SERVICE_PATH_MAX])
{
    size_t used = 0;
    while (used < len && path[used] && path[used] != '?' && path[used] != '#')
        used++;
    bool fits = used > 0 && used < SERVICE_PATH_MAX && path[0] == '/';
    for (size_t i = 0; fits && i < used; i++)
        fits = path[i] > ' ' && path[i] < 0x7f; // others are escaped in a URL (RFC 3986, 2.1)
    snprintf(out, SERVICE_PATH_MAX, "%.*s", fits ? (int)used : 1, fits ? path : "/");
}

void service_text_read(struct service_text *out, const void *string, size_t len)
{
    struct text all = {string, len};
    const char *equals = memchr(all.at, '=', len);
    if (!equals)
        return;
    struct text key = {all.at, (size_t)(equals - all.at)};
    struct text value = {equals + 1, len - key.len - 1};
    if (text_is_nocase(key, "path"))
        service_path_clean(value.at, value.len, out->path);
    else if (text_is_nocase(key, "tls"))
        out->tls = text_is(value, "1");
}

bool service_url(const struct service_text *t, const char *address, const char *zone, int port,
                 char out[URL_MAX_TEXT])
{
    struct url url;
    const char *wrong;
    bool is_v6 = strchr(address, ':');
    int len =
        snprintf(out, URL_MAX_TEXT, "rtsp%s://%s%s%s%s%s:%d%s", t->tls ? "s" : "", is_v6 ? "[" : "",
                 address, zone ? "%25" : "", zone ? zone : "", is_v6 ? "]" : "", port, t->path);
    return len < URL_MAX_TEXT && url_parse(out, &url, &wrong) == 0;
}
