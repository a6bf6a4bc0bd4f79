// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/control_target.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char ROOT[] = "/control";
static const char SESSIONS[] = "/control/sessions";
static const char SOURCES[] = "/control/sources";

bool control_target_is(const char *path)
{
    size_t len = sizeof(ROOT) - 1;
    return strncmp(path, ROOT, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool reads(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

// Returns true if the text is a session's id: letters, digits and what RTSP allows with them
// (RFC 2326, 3.4), but no slash.
static bool is_session(const char *text)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$-_.+";
    size_t len = strspn(text, set);
    return len > 0 && len < CONTROL_SESSION_MAX && text[len] == '\0';
}

// Returns true if the text begins with the path `folder` and one more slash.
static bool is_below(const char *text, const char *folder)
{
    size_t len = strlen(folder);
    return strncmp(text, folder, len) == 0 && text[len] == '/';
}

int control_target_read(const char *method, const char *path, struct control_request *out,
                        const char **allow)
{
    *out = (struct control_request){.task = CONTROL_LIST_SESSIONS};
    bool is_sources = strcmp(path, SOURCES) == 0;
    if (is_sources || strcmp(path, SESSIONS) == 0) {
        out->task = is_sources ? CONTROL_LIST_SOURCES : CONTROL_LIST_SESSIONS;
        *allow = "GET, HEAD";
        return reads(method) ? 200 : 405;
    }
    if (is_below(path, SOURCES)) {
        const char *of = path + strlen(SOURCES);
        if (!of[1] || snprintf(out->path, sizeof(out->path), "%s", of) >= CONTROL_PATH_MAX)
            return 404;
        out->task = CONTROL_SET_SOURCE_LEVEL;
        *allow = "PUT";
        return strcmp(method, "PUT") == 0 ? 200 : 405;
    }
    size_t len = strlen(SESSIONS);
    if (!is_below(path, SESSIONS) || !is_session(path + len + 1))
        return 404;
    snprintf(out->session, sizeof(out->session), "%s", path + len + 1);
    *allow = "DELETE, PUT";
    if (strcmp(method, "DELETE") == 0)
        out->task = CONTROL_END_SESSION;
    else if (strcmp(method, "PUT") == 0)
        out->task = CONTROL_SET_LEVEL;
    else
        return 405;
    return 200;
}

bool control_origin_is_own(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    size_t len = sizeof(scheme) - 1;
    if (!origin)
        return true;
    return host && strncasecmp(origin, scheme, len) == 0 && strcasecmp(origin + len, host) == 0;
}
