// SPDX-License-Identifier: GPL-2.0-or-later
// Why a camera is away, for its viewers: without the camera's address, user, password and path,
// which the owner's log keeps. The texts come from the client, which names hosts and ports, and
// from the camera itself. Pure.
#ifndef WEIR_SENDER_POLICY_AWAY_REASON_H
#define WEIR_SENDER_POLICY_AWAY_REASON_H

#include <stddef.h>

#include "common/base/decls.h"
#include "common/wire/url.h"

DECLS_BEGIN

// Writes `why` to `out`, cut to `cap`. Words that name the host, the user, the password or the path
// of `url`, any URL, and any IP address become "..."; so does a port that follows "port". Words are
// apart by blanks; signs around them stay.
void away_reason(const char *why, const struct url *url, char *out, size_t cap);

DECLS_END
#endif
