// SPDX-License-Identifier: GPL-2.0-or-later
// What a request to the control interface asks for:
//
//     GET    /control/sessions        all sessions
//     DELETE /control/sessions/ID     ends one
//     PUT    /control/sessions/ID     {"level": N}: sets its highest level
//     GET    /control/sources         what can be watched
//     PUT    /control/sources/PATH    {"level": N}: sets the highest level of all viewers of one
//
// Pure.
#ifndef WEIR_SERVER_POLICY_CONTROL_TARGET_H
#define WEIR_SERVER_POLICY_CONTROL_TARGET_H

#include <limits.h>
#include <stdbool.h>

#include "common/base/decls.h"

DECLS_BEGIN

enum {
    CONTROL_SESSION_MAX = 20,   // bytes of a session's id, with NUL
    CONTROL_PATH_MAX = 1024,    // bytes of a source's path, with NUL
    CONTROL_NO_LEVEL = INT_MAX, // of CONTROL_SET_SOURCE_LEVEL: the limit ends
};

enum control_task {
    CONTROL_LIST_SESSIONS,
    CONTROL_LIST_SOURCES,
    CONTROL_END_SESSION,
    CONTROL_SET_LEVEL,
    CONTROL_SET_SOURCE_LEVEL,
};

struct control_request {
    enum control_task task;
    char session[CONTROL_SESSION_MAX]; // of CONTROL_END_SESSION and CONTROL_SET_LEVEL
    char path[CONTROL_PATH_MAX];       // of CONTROL_SET_SOURCE_LEVEL, with its first slash
    int level;                         // of the tasks that set one; of the body, not the target
};

// Returns true if `path` is the interface's: /control or below it.
bool control_target_is(const char *path);
// Reads method and path, decoded. HEAD is GET. Returns 200, 404, or 405: *allow has the methods.
int control_target_read(const char *method, const char *path, struct control_request *out,
                        const char **allow);
// Returns true if a page of this origin may use the interface: a program sends no Origin (NULL),
// the server's own pages send http://HOST with `host` of the Host header.
bool control_origin_is_own(const char *origin, const char *host);

DECLS_END
#endif
