// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the bodies of requests to the control interface: JSON with the members of the task, and no
// others.
#ifndef WEIR_SERVER_EXPORT_CONTROL_BODY_H
#define WEIR_SERVER_EXPORT_CONTROL_BODY_H

#include <stddef.h>

#include "common/base/decls.h"
#include "server/policy/control_target.h"

DECLS_BEGIN

enum {
    CONTROL_INVITE_DAYS = 7,      // a key's, if the body has no "for"
    CONTROL_INVITE_DAYS_MAX = 31, // so that who once had a key of the interface has none for ever
};

// Returns true if the task has a body.
bool control_body_is_read(enum control_task task);
// Reads the body of r->task, which of those of a source it chooses. Returns NULL, or what is
// expected (static).
const char *control_body_read(const void *body, size_t len, struct control_request *r);

DECLS_END
#endif
