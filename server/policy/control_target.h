// SPDX-License-Identifier: GPL-2.0-or-later
// What a request to the control interface asks for:
//
//     GET    /control/sessions        all sessions
//     DELETE /control/sessions/ID     ends one
//     PUT    /control/sessions/ID     {"level": N}: sets its highest level
//     GET    /control/sources         what can be watched
//     PUT    /control/sources/PATH    {"level": N}: sets the highest level of all viewers of one
//                                     {"source": TEXT}: adds or changes one
//                                     {"record": BOOL}: starts or stops its recording
//     DELETE /control/sources/PATH    removes one, and ends its sessions
//     POST   /control/invites         {"path": PATH}: makes a key
//     GET    /control/openapi.json    describes the above (OpenAPI 3)
//
// Pure.
#ifndef WEIR_SERVER_POLICY_CONTROL_TARGET_H
#define WEIR_SERVER_POLICY_CONTROL_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    CONTROL_SESSION_MAX = 20,   // bytes of a session's id, with NUL
    CONTROL_PATH_MAX = 1024,    // bytes of a source's path, with NUL
    CONTROL_SOURCE_MAX = 512,   // bytes of what a source is, with NUL
    CONTROL_ALLOW_MAX = 32,     // bytes of a list of methods, with NUL
    CONTROL_NO_LEVEL = INT_MAX, // of CONTROL_SET_SOURCE_LEVEL: the limit ends
};

enum control_task {
    CONTROL_LIST_SESSIONS,
    CONTROL_LIST_SOURCES,
    CONTROL_END_SESSION,
    CONTROL_SET_LEVEL,
    CONTROL_SET_SOURCE_LEVEL, // this and the next two differ in the body alone
    CONTROL_SET_SOURCE,
    CONTROL_RECORD_SOURCE,
    CONTROL_REMOVE_SOURCE,
    CONTROL_INVITE,
    CONTROL_DESCRIBE,
};

struct control_request {
    enum control_task task;
    char session[CONTROL_SESSION_MAX]; // of CONTROL_END_SESSION and CONTROL_SET_LEVEL
    char path[CONTROL_PATH_MAX];       // of a source or an invite, with its first slash
    // The rest is of the body (server/export/control_body.h), not of the target.
    int level;                       // of the tasks that set one
    char source[CONTROL_SOURCE_MAX]; // of CONTROL_SET_SOURCE
    bool record;                     // of CONTROL_RECORD_SOURCE: true: it starts
    bool publish;                    // of CONTROL_INVITE: to publish; else to watch
    int64_t seconds;                 // of CONTROL_INVITE: how long the key is valid
    const char *why;                 // static; of CONTROL_END_SESSION: for the viewer
};

// What the interface offers, as a description of it lists it: "{session}" and "{path}" are
// placeholders.
struct control_route {
    const char *method, *path;
    enum control_task task;
};

// Returns true if `path` is the interface's: /control or below it.
bool control_target_is(const char *path);
// Returns the routes one by one; NULL: there are no more.
const struct control_route *control_route_at(size_t i);
// Reads method and path, decoded. HEAD is GET. Returns 200, 404, or 405: `allow` has the methods.
int control_target_read(const char *method, const char *path, struct control_request *out,
                        char allow[CONTROL_ALLOW_MAX]);
// Returns true if a page of this origin may use the interface: a program sends no Origin (NULL),
// the server's own pages send http://HOST with `host` of the Host header.
bool control_origin_is_own(const char *origin, const char *host);

DECLS_END
#endif
