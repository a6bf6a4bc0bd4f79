// SPDX-License-Identifier: GPL-2.0-or-later
#include "player/policy/web_url.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool web_url_to_rtsp(const char *text, char *out, size_t cap)
{
    static const struct {
        const char *web;
        const char *rtsp;
        const char *port;
    } schemes[] = {{"https://", "rtsps://", ":443"}, {"http://", "rtsp://", ":80"}};
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i].web);
        if (strncasecmp(text, schemes[i].web, len) != 0)
            continue;
        const char *host = text + len;
        int authority = (int)strcspn(host, "/?#");
        int port = authority; // after the host, which may be an IPv6 address in brackets
        while (port > 0 && !strchr("@]:", host[port - 1]))
            port--;
        bool has_port = port > 0 && host[port - 1] == ':';
        int n = snprintf(out, cap, "%s%.*s%s%s", schemes[i].rtsp, authority, host,
                         has_port ? "" : schemes[i].port, host + authority);
        return n > 0 && (size_t)n < cap;
    }
    return false;
}
