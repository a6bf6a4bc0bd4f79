// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/policy/control_target.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/put.h"

static const char ROOT[] = "/control";

static const struct control_route routes[] = {
    {"GET", "/control/openapi.json", CONTROL_DESCRIBE},
    {"GET", "/control/sessions", CONTROL_LIST_SESSIONS},
    {"DELETE", "/control/sessions/{session}", CONTROL_END_SESSION},
    {"PUT", "/control/sessions/{session}", CONTROL_SET_LEVEL},
    {"GET", "/control/sources", CONTROL_LIST_SOURCES},
    {"DELETE", "/control/sources/{path}", CONTROL_REMOVE_SOURCE},
    {"PUT", "/control/sources/{path}", CONTROL_SET_SOURCE_LEVEL},
    {"POST", "/control/invites", CONTROL_INVITE},
};
enum { ROUTES = sizeof(routes) / sizeof(*routes) };

bool control_target_is(const char *path)
{
    size_t len = sizeof(ROOT) - 1;
    return strncmp(path, ROOT, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

const struct control_route *control_route_at(size_t i)
{
    return i < ROUTES ? &routes[i] : NULL;
}

// Returns true if the text is a session's id: letters, digits and what RTSP allows with them
// (RFC 2326, 3.4), but no slash.
static bool is_session(const char *text)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789$-_.+";
    size_t len = strspn(text, set);
    return len > 0 && len < CONTROL_SESSION_MAX && text[len] == '\0';
}

// Returns true if `path` is at the route; reads what stands at its placeholder.
static bool is_at(const struct control_route *route, const char *path, struct control_request *out)
{
    const char *placeholder = strchr(route->path, '{');
    if (!placeholder)
        return strcmp(route->path, path) == 0;
    size_t before = (size_t)(placeholder - route->path); // with the slash
    if (strncmp(route->path, path, before) != 0 || !path[before])
        return false;
    if (strcmp(placeholder, "{path}") == 0)
        return snprintf(out->path, sizeof(out->path), "%s", path + before - 1) < CONTROL_PATH_MAX;
    bool good = is_session(path + before);
    if (good)
        snprintf(out->session, sizeof(out->session), "%s", path + before);
    return good;
}

int control_target_read(const char *method, const char *path, struct control_request *out,
                        char allow[CONTROL_ALLOW_MAX])
{
    bool is_head = strcmp(method, "HEAD") == 0;
    int status = 404;
    *out = (struct control_request){.task = CONTROL_LIST_SESSIONS};
    struct put methods = put_into(allow, CONTROL_ALLOW_MAX);
    for (size_t i = 0; i < ROUTES; i++) {
        const struct control_route *route = &routes[i];
        bool reads = strcmp(route->method, "GET") == 0;
        if (!is_at(route, path, out))
            continue;
        put_format(&methods, "%s%s%s", status == 404 ? "" : ", ", route->method,
                   reads ? ", HEAD" : "");
        if (strcmp(route->method, method) == 0 || (is_head && reads)) {
            out->task = route->task;
            return 200;
        }
        status = 405;
    }
    return status;
}

bool control_origin_is_own(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    size_t len = sizeof(scheme) - 1;
    if (!origin)
        return true;
    return host && strncasecmp(origin, scheme, len) == 0 && strcasecmp(origin + len, host) == 0;
}
